import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import { PAGE_BYTES } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Range } from "../../store/range-map.ts";
import type { View } from "../../store/store.ts";
import { admitBlobRead } from "./admit.ts";
import type { BlobContext, BlobRead, BlobStateAddress } from "./context.ts";
import type { Blob, Container } from "./records.ts";
import { readState } from "./state-records.ts";

export interface GetPageRanges extends BlobRead {
  /** Null for the whole blob. */
  readonly range: ByteRange | null;
  /** Where the list before ended. */
  readonly after: number | null;
  readonly resultsMax: number;
  /** The snapshot that it is compared with; null to tell everything. */
  readonly since: Stamp | null;
}

export interface PageRangesFound {
  readonly blob: Blob;
  readonly ranges: readonly Range[];
  /** Where the list goes on; null if it does not. */
  readonly next: number | null;
}

/** A writer that is always faster must not keep a reader going round for ever. */
const LOOKS_MAX = 3;

/**
 * Where something was written to a page blob, all as it was at one moment. It may be in very many
 * pieces: they are looked up step by step, beginning anew if the blob changes meanwhile. If it
 * never stands still, they are looked up in one body.
 */
export async function getPageRanges(
  context: BlobContext,
  asked: GetPageRanges,
): Promise<PageRangesFound> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const found = await lookInSteps(context, asked);
    if (found !== null) return found;
  }
  return context.store.read((view) => {
    let found = look(context, view, asked, null);
    while (goesOn(found, asked)) found = look(context, view, asked, found);
    return found;
  });
}

async function lookInSteps(
  context: BlobContext,
  asked: GetPageRanges,
): Promise<PageRangesFound | null> {
  let found = await context.store.read((view) => look(context, view, asked, null));
  while (goesOn(found, asked)) {
    const before = found;
    found = await context.store.read((view) => look(context, view, asked, before));
    if (found.blob.etag !== before.blob.etag) return null;
  }
  return found;
}

function goesOn({ ranges, next }: PageRangesFound, { resultsMax }: GetPageRanges): boolean {
  return next !== null && ranges.length < resultsMax;
}

/** One step further than what has been found already. */
function look(
  context: BlobContext,
  view: View,
  asked: GetPageRanges,
  before: PageRangesFound | null,
): PageRangesFound {
  const { container, blob } = admitBlobRead(view, asked, BLOB_NEEDS.getPageRanges, "PageBlob");
  const since = asked.since === null ? null : previousOf(view, container, asked.at, asked.since);
  const { from, until } = wholePages(blob.content.length, asked.range);
  const start = before?.next ?? Math.max(from, asked.after ?? 0);
  const ranges = before?.ranges ?? [];
  const { maps } = context.contents;
  const limit = asked.resultsMax - ranges.length;
  const more =
    since === null
      ? maps.ranges(view, blob.content, start, until, limit)
      : maps.changes(view, blob.content, since.content, start, until, limit);
  if (more === null) throw new Fault("BlobOverwritten");
  return { blob, ranges: joined(ranges, more.found), next: more.next };
}

/** The snapshot that a blob, or a later snapshot of it, is compared with. */
function previousOf(
  view: View,
  container: Container,
  { blob: name, state }: BlobStateAddress,
  stamp: Stamp,
): Blob {
  if (state?.kind === "snapshot" && stamp > state.stamp) {
    throw new Fault("PreviousSnapshotCannotBeNewer");
  }
  const previous = readState(view, container, name, { kind: "snapshot", stamp });
  if (previous === null) throw new Fault("PreviousSnapshotNotFound");
  if (previous.type !== "PageBlob") throw new Fault("PreviousSnapshotOperationNotSupported");
  return previous;
}

/** Two lists of ranges, of which one may go on where the other ends. */
function joined(ranges: readonly Range[], more: readonly Range[]): readonly Range[] {
  const last = ranges.at(-1);
  const [first, ...rest] = more;
  const isJoint = first?.start === last?.end && first?.isCleared === last?.isCleared;
  if (last === undefined || first === undefined || !isJoint) return [...ranges, ...more];
  return [...ranges.slice(0, -1), { ...last, end: first.end }, ...rest];
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
