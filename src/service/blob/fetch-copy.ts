import { Fault } from "../../base/fault.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { Transaction } from "../../store/store.ts";
import { fetchSource } from "../shared/fetch-source.ts";
import type { RunningCopies } from "../shared/running-copies.ts";
import type { ForeignSource, SourceObject } from "../shared/source.ts";
import type { BlobAddress, BlobContext } from "./context.ts";
import { restorableContainers } from "./deleted-containers.ts";
import {
  type Blob,
  type BlobCopy,
  type Container,
  deletePendingCopy,
  readBlob,
  readContainer,
  writeBlob,
} from "./records.ts";
import { nextBlobVersion } from "./version.ts";

/** The dependencies of copies that continue after the response. */
export interface CopyContext extends BlobContext {
  readonly copies: RunningCopies;
}

/** A running copy from a foreign source. */
export interface FetchCopy {
  readonly copyId: string;
  readonly at: BlobAddress;
  readonly source: ForeignSource;
  /** The source as it was when the copy began. Bytes of another version are refused. */
  readonly found: SourceObject;
  readonly signal: AbortSignal;
}

/** Fetches all bytes, then writes blob and copy status in one transaction. */
export function fetchCopy(context: BlobContext, copy: FetchCopy): Promise<void> {
  const { copyId, at } = copy;
  return fetchSource(context.contents, {
    ...copy,
    note: (bytesDone) => noteProgress(context, copy, bytesDone),
    succeed: (taken) =>
      endCopy(context, copyId, at, (tx, blob) => ({
        status: "success",
        description: "",
        content: contentOf(context, tx, blob, taken),
        bytesDone: taken.length,
      })),
    fail: (description) => endCopy(context, copyId, at, () => ({ status: "failed", description })),
  });
}

/** How a copy ends. Without `content`, the blob's content stays. */
export interface CopyEnd extends Pick<BlobCopy, "status" | "description"> {
  readonly content?: Content;
  readonly bytesDone?: number;
}

/** Records the end of a copy, unless it has ended or its blob is gone. */
export function endCopy(
  { store }: Pick<BlobContext, "store">,
  copyId: string,
  at: BlobAddress,
  end: (tx: Transaction, blob: Blob) => CopyEnd,
): Promise<void> {
  return store.transact((tx) => {
    deletePendingCopy(tx, copyId);
    const found = pendingAt(tx, at, copyId);
    if (found === null) return;
    const { container, blob, copy } = found;
    writeEnd(tx, container, at.blob, blob, copy, end(tx, blob));
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

interface Pending {
  readonly container: Container;
  readonly blob: Blob;
  readonly copy: BlobCopy;
}

/** Also looks in soft-deleted containers: a restored one must not have a copy pending forever. */
function pendingAt(tx: Transaction, at: BlobAddress, copyId: string): Pending | null {
  const current = readContainer(tx, at);
  const found = current === null ? null : pendingIn(tx, current, at, copyId);
  if (found !== null) return found;
  for (const container of restorableContainers(tx, at)) {
    const found = pendingIn(tx, container, at, copyId);
    if (found !== null) return found;
  }
  return null;
}

/** Compares the copy id because the name may belong to another container by now. */
function pendingIn(
  tx: Transaction,
  container: Container,
  at: BlobAddress,
  copyId: string,
): Pending | null {
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

/** Records the progress only: the blob's ETag and time stay. */
function noteProgress(
  { store }: BlobContext,
  { copyId, at }: FetchCopy,
  bytesDone: number,
): Promise<void> {
  return store.transact((tx) => {
    const found = pendingAt(tx, at, copyId);
    if (found === null) throw new Fault("NoPendingCopyOperation");
    const { container, blob, copy } = found;
    writeBlob(tx, container, at.blob, { ...blob, copy: { ...copy, bytesDone } });
  });
}
