import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Range, Ranges } from "../../store/range-map.ts";
import type { View } from "../../store/store.ts";
import { admitFileRead, type InFile, treeOf } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { readSnapshot } from "./records.ts";
import { type File, findFile } from "./tree-records.ts";

export interface ListRanges extends FileAsked {
  /** Null for the whole file. */
  readonly range: ByteRange | null;
  /** The snapshot since which changes are asked for; null for everything that is written. */
  readonly since: Stamp | null;
  /** Whether a file that has been moved since then is still the same. */
  readonly followsRenames: boolean;
}

export interface ListRangesDone {
  readonly file: File;
  readonly ranges: readonly Range[];
}

/** A writer that is always faster must not keep a reader going round for ever. */
const LOOKS_MAX = 3;
const RANGES_PER_LOOK = 10_000;

/**
 * Where something was written to a file, all as it was at one moment. It may be in very many
 * pieces: they are looked up step by step, beginning anew if the file changes meanwhile. If it
 * never stands still, they are looked up in one body.
 */
export async function listRanges(context: FileContext, asked: ListRanges): Promise<ListRangesDone> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const found = await lookInSteps(context, asked);
    if (found !== null) return found;
  }
  return context.store.read((view) => {
    let found = look(context, view, asked, null);
    while (found.next !== null) found = look(context, view, asked, found);
    return found;
  });
}

interface Found extends ListRangesDone {
  /** Where the list goes on; null if it does not. */
  readonly next: number | null;
}

async function lookInSteps(context: FileContext, asked: ListRanges): Promise<Found | null> {
  let found = await context.store.read((view) => look(context, view, asked, null));
  while (found.next !== null) {
    const before = found;
    found = await context.store.read((view) => look(context, view, asked, before));
    if (found.file.etag !== before.file.etag) return null;
  }
  return found;
}

/** One step further than what has been found already. */
function look(context: FileContext, view: View, asked: ListRanges, before: Found | null): Found {
  const admitted = admitFileRead(view, asked, "listRanges");
  const { file } = admitted;
  const { from, until } = boundsOf(file.content.length, asked.range);
  const start = before?.next ?? from;
  const { found, next } = rangesFrom(context, view, asked, admitted, start, until);
  return { file, ranges: joined(before?.ranges ?? [], found), next };
}

function rangesFrom(
  { contents }: FileContext,
  view: View,
  asked: ListRanges,
  { share, file }: InFile,
  from: number,
  until: number,
): Ranges {
  const { maps } = contents;
  const { since } = asked;
  if (since === null) return maps.ranges(view, file.content, from, until, RANGES_PER_LOOK);
  if (readSnapshot(view, share, since) === null) throw new Fault("PreviousSnapshotNotFound");
  const before = findFile(view, treeOf(share, since), file.id);
  const isMoved = before?.parent !== file.parent || before.name !== file.name;
  if (before === null || (isMoved && !asked.followsRenames)) {
    throw new Fault("FileGenerationMismatch");
  }
  const changes = maps.changes(view, file.content, before.content, from, until, RANGES_PER_LOOK);
  // A file that was overwritten is the same, but holds nothing of what it was.
  if (changes === null) throw new Fault("FileGenerationMismatch");
  return changes;
}

/** Two lists of ranges, of which one may go on where the other ends. */
function joined(ranges: readonly Range[], more: readonly Range[]): readonly Range[] {
  const last = ranges.at(-1);
  const [first, ...rest] = more;
  const goesOn = first?.start === last?.end && first?.isCleared === last?.isCleared;
  if (last === undefined || first === undefined || !goesOn) return [...ranges, ...more];
  return [...ranges.slice(0, -1), { ...last, end: first.end }, ...rest];
}

/** A range from the very beginning fits an empty file, too. */
function boundsOf(size: number, range: ByteRange | null): { from: number; until: number } {
  if (range === null) return { from: 0, until: size };
  if (range.from > 0 && range.from >= size) {
    throw new Fault("InvalidRange", { "Content-Range": `bytes */${size}` });
  }
  return { from: range.from, until: range.to === null ? size : Math.min(range.to + 1, size) };
}
