import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import { MIB } from "../../base/limits.ts";
import type { Content, Taken } from "../../store/contents.ts";
import type { ForeignSource, SourceObject } from "../../store/source.ts";
import type { Transaction } from "../../store/store.ts";
import type { BlobAddress, BlobContext } from "./context.ts";
import {
  type Blob,
  type BlobCopy,
  type Container,
  deletePendingCopy,
  readBlob,
  readContainer,
  writeBlob,
} from "./records.ts";
import type { RunningCopies } from "./running-copies.ts";
import { nextBlobVersion } from "./version.ts";

/** What copies work with that go on after their answer. */
export interface CopyContext extends BlobContext {
  readonly copies: RunningCopies;
}

/** A copy that is under way. */
export interface FetchCopy {
  readonly copyId: string;
  readonly place: CopyPlace;
  readonly source: ForeignSource;
  /** What it was when the copy began: bytes of another version are not taken. */
  readonly found: SourceObject;
  readonly signal: AbortSignal;
}

/** Where it goes. A container of the same name may be another one by the time it ends. */
interface CopyPlace {
  readonly at: BlobAddress;
  readonly containerId: bigint;
}

/** How many bytes come between two notes of the progress. */
const PROGRESS_BYTES = 8 * MIB;
const NO_DIGESTS = { md5: false, crc64: false };

/** Takes the bytes, then makes them the blob's, all at once. However it ends, the blob tells. */
export async function fetchCopy(context: BlobContext, copy: FetchCopy): Promise<void> {
  try {
    await fetch(context, copy);
  } catch (error) {
    // Whoever ended it has told already, or the next start of the server will.
    if (copy.signal.aborted) return;
    const description = `${nameOf(error)} "Copy failed when reading the source."`;
    await endCopy(context, copy.copyId, copy.place, () => ({ status: "failed", description }));
  }
}

async function fetch(context: BlobContext, copy: FetchCopy): Promise<void> {
  const { copyId, place, source, found, signal } = copy;
  const opened = await source.open(null, found.etag);
  const close = () => opened.close();
  signal.addEventListener("abort", close);
  try {
    signal.throwIfAborted();
    if (opened.length !== found.length) throw new Fault("SourceConditionNotMet");
    const body = noted(opened.body, (bytesDone) => noteProgress(context, copy, bytesDone));
    const taken = await context.contents.take(body, NO_DIGESTS);
    try {
      await endCopy(context, copyId, place, (tx, blob) => ({
        status: "success",
        description: "",
        content: contentOf(context, tx, blob, taken),
        bytesDone: taken.length,
      }));
    } finally {
      taken.release();
    }
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** How a copy ends, and what the blob is made of from then on, unless that stays. */
export interface CopyEnd extends Pick<BlobCopy, "status" | "description"> {
  readonly content?: Content;
  readonly bytesDone?: number;
}

/** Ends a copy, unless it has ended or its blob is gone. */
export function endCopy(
  { store }: Pick<BlobContext, "store">,
  copyId: string,
  place: CopyPlace,
  end: (tx: Transaction, blob: Blob) => CopyEnd,
): Promise<void> {
  return store.transact((tx) => {
    deletePendingCopy(tx, copyId);
    const found = pendingAt(tx, place, copyId);
    if (found === null) return;
    const { container, blob, copy } = found;
    writeEnd(tx, container, place.at.blob, blob, copy, end(tx, blob));
  });
}

export function writeEnd(
  tx: Transaction,
  container: Container,
  name: string,
  blob: Blob,
  copy: BlobCopy,
  { status, description, content, bytesDone }: CopyEnd,
): void {
  writeBlob(tx, container, name, {
    ...blob,
    ...nextBlobVersion(tx, blob),
    content: content ?? blob.content,
    copy: {
      ...copy,
      status,
      description,
      bytesDone: bytesDone ?? copy.bytesDone,
      completedMs: tx.now(),
    },
  });
}

function pendingAt(
  tx: Transaction,
  { at, containerId }: CopyPlace,
  copyId: string,
): { container: Container; blob: Blob; copy: BlobCopy } | null {
  const container = readContainer(tx, at);
  if (container?.id !== containerId) return null;
  const blob = readBlob(tx, container, at.blob);
  const copy = blob?.copy ?? null;
  if (blob === null || copy?.id !== copyId || copy.status !== "pending") return null;
  return { container, blob, copy };
}

function contentOf(
  { contents }: BlobContext,
  tx: Transaction,
  { type, content }: Blob,
  taken: Taken,
): Content {
  if (type !== "BlockBlob") return contents.maps.write(tx, content, 0, taken);
  contents.drop(tx, content);
  return contents.keep(tx, taken);
}

/** The progress changes nothing else about the blob. */
function noteProgress(
  { store }: BlobContext,
  { copyId, place }: FetchCopy,
  bytesDone: number,
): Promise<void> {
  return store.transact((tx) => {
    const found = pendingAt(tx, place, copyId);
    if (found === null) throw new Fault("NoPendingCopyOperation");
    const { container, blob, copy } = found;
    writeBlob(tx, container, place.at.blob, { ...blob, copy: { ...copy, bytesDone } });
  });
}

/** The same body; now and then somebody is told how much of it has come. */
function noted(body: Body, note: (bytes: number) => Promise<void>): Body {
  let came = 0;
  let told = 0;
  return {
    length: body.length,
    drain: (take) =>
      body.drain(async (part: Bytes) => {
        await take(part);
        came += part.length;
        if (came - told < PROGRESS_BYTES) return;
        told = came;
        await note(came);
      }),
  };
}

function nameOf(error: unknown): string {
  return error instanceof Fault ? error.code : "InternalError";
}
