import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Range, RangeMaps, Ranges } from "../../store/range-map.ts";
import type { View } from "../../store/store.ts";
import { listRangesOf } from "../shared/listed-ranges.ts";
import { admitFileRead, type InFile, treeOf } from "./admit.ts";
import { alignedChanges, CHANGES_MIN, sectorAt, sectorsUntil } from "./aligned-changes.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { findSnapshot } from "./records.ts";
import { type File, findFile } from "./tree-records.ts";

export interface ListRanges extends FileAsked {
  /** Null for the whole file. */
  readonly range: ByteRange | null;
  /** The snapshot to compare with; null to list all written ranges. */
  readonly since: Stamp | null;
  /** Where the previous list ended. */
  readonly after: number | null;
  readonly resultsMax: number;
  /** Whether a renamed file still counts as the same file. */
  readonly followsRenames: boolean;
}

export interface ListRangesDone {
  readonly file: File;
  readonly ranges: readonly Range[];
  /** Where the list continues; null at its end. */
  readonly next: number | null;
}

export async function listRanges(context: FileContext, asked: ListRanges): Promise<ListRangesDone> {
  const { of, ranges, next } = await listRangesOf(context.store, {
    resultsMax: asked.resultsMax,
    look: (view, start, limit) => look(context, view, asked, start, limit),
  });
  return { file: of, ranges, next };
}

function look(
  { contents }: FileContext,
  view: View,
  asked: ListRanges,
  start: number | null,
  limit: number,
): { of: File; more: Ranges } {
  const admitted = admitFileRead(view, asked, "listRanges");
  const { file } = admitted;
  const before = asked.since === null ? null : previousOf(view, admitted, asked, asked.since);
  const bounds = boundsOf(file.content.length, asked.range);
  const from = start ?? Math.max(bounds.from, asked.after ?? 0);
  const more =
    before === null
      ? contents.maps.ranges(view, file.content, from, bounds.until, limit)
      : changesSince(contents.maps, view, file, before, { ...bounds, from }, limit);
  return { of: file, more };
}

/** The file as the previous snapshot shows it. */
function previousOf(
  view: View,
  { share, file }: InFile,
  { followsRenames }: ListRanges,
  since: Stamp,
): File {
  const previous = findSnapshot(view, share, since);
  if (previous === null) throw new Fault("PreviousSnapshotNotFound");
  const before = findFile(view, treeOf(share, previous.stamp), file.id);
  const isMoved = before?.parent !== file.parent || before.name !== file.name;
  if (before === null || (isMoved && !followsRenames)) throw new Fault("FileGenerationMismatch");
  return before;
}

function changesSince(
  maps: RangeMaps,
  view: View,
  { content }: File,
  before: File,
  { from, until }: Bounds,
  limit: number,
): Ranges {
  const first = sectorAt(from);
  const last = sectorsUntil(until, content.length);
  const countMax = Math.max(limit, CHANGES_MIN);
  const changes = maps.changes(view, content, before.content, first, last, countMax);
  // An overwritten file has the same id, but shares no content with its past.
  if (changes === null) throw new Fault("FileGenerationMismatch");
  return within(alignedChanges(changes, content.length, limit), from, until);
}

/** Cuts a list to the requested range. */
function within({ found, next }: Ranges, from: number, until: number): Ranges {
  return {
    found: found.flatMap((range) => {
      const start = Math.max(range.start, from);
      const end = Math.min(range.end, until);
      return start < end ? [{ ...range, start, end }] : [];
    }),
    next: next === null || next >= until ? null : next,
  };
}

/** A range from byte 0 is valid for an empty file, too. */
function boundsOf(size: number, range: ByteRange | null): Bounds {
  if (range === null) return { from: 0, until: size };
  if (range.from > 0 && range.from >= size) {
    throw new Fault("InvalidRange", { "Content-Range": `bytes */${size}` });
  }
  return { from: range.from, until: range.to === null ? size : Math.min(range.to + 1, size) };
}

interface Bounds {
  readonly from: number;
  readonly until: number;
}
