import { Fault } from "../../base/fault.ts";
import { PAGE_BYTES } from "../../base/limits.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Range } from "../../store/range-map.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import type { ByteRange } from "./get-blob.ts";
import type { Blob } from "./records.ts";

export interface GetPageRanges extends BlobUse {
  /** Null for the whole blob. */
  readonly range: ByteRange | null;
  /** Where the list before ended. */
  readonly after: number | null;
  readonly resultsMax: number;
}

export interface PageRangesFound {
  readonly blob: Blob;
  readonly ranges: readonly Range[];
  /** Where the list goes on; null if it does not. */
  readonly next: number | null;
}

/** Where a page blob holds something else than zeroes that were never written. */
export async function getPageRanges(
  context: BlobContext,
  asked: GetPageRanges,
): Promise<PageRangesFound> {
  return context.store.read((view) => {
    const blob = admitBlobRead(view, asked, BLOB_NEEDS.getPageRanges, "PageBlob");
    const { from, until } = wholePages(blob.content.length, asked.range);
    const start = Math.max(from, asked.after ?? 0);
    const { maps } = context.contents;
    const { found, next } = maps.ranges(view, blob.content, start, until, asked.resultsMax);
    return { blob, ranges: found, next };
  });
}

/** The pages that a range touches. A range from the very beginning fits an empty blob, too. */
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
