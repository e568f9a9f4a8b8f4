import { Fault } from "../../base/fault.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { Transaction } from "../../store/store.ts";
import { fetchSource } from "../shared/fetch-source.ts";
import type { RunningCopies } from "../shared/running-copies.ts";
import type { ForeignSource, SourceObject } from "../shared/source.ts";
import type { BlobContext } from "./context.ts";
import {
  type Blob,
  type BlobCopy,
  deletePendingCopy,
  type Place,
  readBlob,
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
  /** Stays the target's place, even if a directory above it is renamed or its container deleted. */
  readonly place: Place;
  readonly source: ForeignSource;
  /** The source as it was when the copy began. Bytes of another version are refused. */
  readonly found: SourceObject;
  readonly signal: AbortSignal;
}

/** Fetches all bytes, then writes blob and copy status in one transaction. */
export function fetchCopy(context: BlobContext, copy: FetchCopy): Promise<void> {
  const { copyId, place } = copy;
  return fetchSource(context.contents, {
    ...copy,
    note: (bytesDone) => noteProgress(context, copy, bytesDone),
    succeed: (taken) =>
      endCopy(context, copyId, [place], (tx, blob) => ({
        status: "success",
        description: "",
        content: contentOf(context, tx, blob, taken),
        bytesDone: taken.length,
      })),
    fail: (description) =>
      endCopy(context, copyId, [place], () => ({ status: "failed", description })),
  });
}

/** How a copy ends. Without `content`, the blob's content stays. */
export interface CopyEnd extends Pick<BlobCopy, "status" | "description"> {
  readonly content?: Content;
  readonly bytesDone?: number;
}

/** Records the end of a copy, unless it has ended or its blob is at none of the places. */
export function endCopy(
  { store }: Pick<BlobContext, "store">,
  copyId: string,
  places: readonly Place[],
  end: (tx: Transaction, blob: Blob) => CopyEnd,
): Promise<void> {
  return store.transact((tx) => {
    deletePendingCopy(tx, copyId);
    for (const place of places) {
      const found = pendingAt(tx, place, copyId);
      if (found !== null) writeEnd(tx, place, found.blob, found.copy, end(tx, found.blob));
    }
  });
}

export function writeEnd(
  tx: Transaction,
  place: Place,
  blob: Blob,
  copy: BlobCopy,
  { status, description, content, bytesDone }: CopyEnd,
): void {
  writeBlob(tx, place, {
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
  readonly blob: Blob;
  readonly copy: BlobCopy;
}

/** Compares the copy id because the place may have another blob by now. */
function pendingAt(tx: Transaction, place: Place, copyId: string): Pending | null {
  const blob = readBlob(tx, place);
  const copy = blob?.copy ?? null;
  if (blob === null || copy?.id !== copyId || copy.status !== "pending") return null;
  return { blob, copy };
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
  { copyId, place }: FetchCopy,
  bytesDone: number,
): Promise<void> {
  return store.transact((tx) => {
    const found = pendingAt(tx, place, copyId);
    if (found === null) throw new Fault("NoPendingCopyOperation");
    const { blob, copy } = found;
    writeBlob(tx, place, { ...blob, copy: { ...copy, bytesDone } });
  });
}
