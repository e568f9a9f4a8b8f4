import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import { PAGE_BYTES } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Range, Ranges } from "../../store/range-map.ts";
import type { View } from "../../store/store.ts";
import { listRangesOf } from "../shared/listed-ranges.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobRead, BlobRevision } from "./context.ts";
import type { Blob, Place } from "./records.ts";
import { readRevision } from "./revision-records.ts";

export interface GetPageRanges extends BlobRead {
  /** Null for the whole blob. */
  readonly range: ByteRange | null;
  /** Where the previous request's list ended. */
  readonly after: number | null;
  readonly resultsMax: number;
  /** The snapshot to compare with; null to list all ranges. */
  readonly since: Stamp | null;
}

export interface PageRangesFound {
  readonly blob: Blob;
  readonly ranges: readonly Range[];
  /** Where the list continues; null if it is complete. */
  readonly next: number | null;
}

export async function getPageRanges(
  context: BlobContext,
  asked: GetPageRanges,
): Promise<PageRangesFound> {
  const { of, ranges, next } = await listRangesOf(context.store, {
    resultsMax: asked.resultsMax,
    look: (view, start, limit) => look(context, view, asked, start, limit),
  });
  return { blob: of, ranges, next };
}

function look(
  context: BlobContext,
  view: View,
  asked: GetPageRanges,
  start: number | null,
  limit: number,
): { of: Blob; more: Ranges } {
  const { place, blob } = admitBlobRead(view, asked, BLOB_NEEDS.getPageRanges, "PageBlob");
  const since =
    asked.since === null ? null : previousOf(view, place, asked.at.revision, asked.since);
  const { from, until } = wholePages(blob.content.length, asked.range);
  const at = start ?? Math.max(from, asked.after ?? 0);
  const { maps } = context.contents;
  const more =
    since === null
      ? maps.ranges(view, blob.content, at, until, limit)
      : maps.changes(view, blob.content, since.content, at, until, limit);
  if (more === null) throw new Fault("BlobOverwritten");
  return { of: blob, more };
}

/** Reads the snapshot to compare a blob, or a later snapshot of it, with. */
function previousOf(view: View, place: Place, revision: BlobRevision | null, stamp: Stamp): Blob {
  if (revision?.kind === "snapshot" && stamp > revision.stamp) {
    throw new Fault("PreviousSnapshotCannotBeNewer");
  }
  const previous = readRevision(view, place, { kind: "snapshot", stamp });
  if (previous === null) throw new Fault("PreviousSnapshotNotFound");
  if (previous.type !== "PageBlob") throw new Fault("PreviousSnapshotOperationNotSupported");
  return previous;
}

/** The pages that a range touches. A range from byte 0 is valid for an empty blob too. */
function wholePages(size: number, range: ByteRange | null): { from: number; until: number } {
  if (range === null) return { from: 0, until: size };
  if (range.from > 0 && range.from >= size) {
    throw new Fault("InvalidRange", { "Content-Range": `bytes */${size}` });
  }
  const end = range.to === null ? size : Math.min(range.to + 1, size);
  return {
    from: range.from - (range.from % PAGE_BYTES),
    until: Math.ceil(end / PAGE_BYTES) * PAGE_BYTES,
  };
}
