import type { ByteRange } from "../../base/byte-range.ts";
import { Fault } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Range, Ranges } from "../../store/range-map.ts";
import type { View } from "../../store/store.ts";
import { listRangesOf } from "../shared/listed-ranges.ts";
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

export async function listRanges(context: FileContext, asked: ListRanges): Promise<ListRangesDone> {
  const { of, ranges } = await listRangesOf(context.store, {
    resultsMax: Number.POSITIVE_INFINITY,
    look: (view, start, limit) => look(context, view, asked, start, limit),
  });
  return { file: of, ranges };
}

function look(
  context: FileContext,
  view: View,
  asked: ListRanges,
  start: number | null,
  limit: number,
): { of: File; more: Ranges } {
  const admitted = admitFileRead(view, asked, "listRanges");
  const { file } = admitted;
  const { from, until } = boundsOf(file.content.length, asked.range);
  const more = rangesFrom(context, view, asked, admitted, start ?? from, until, limit);
  return { of: file, more };
}

function rangesFrom(
  { contents }: FileContext,
  view: View,
  asked: ListRanges,
  { share, file }: InFile,
  from: number,
  until: number,
  limit: number,
): Ranges {
  const { maps } = contents;
  const { since } = asked;
  if (since === null) return maps.ranges(view, file.content, from, until, limit);
  if (readSnapshot(view, share, since) === null) throw new Fault("PreviousSnapshotNotFound");
  const before = findFile(view, treeOf(share, since), file.id);
  const isMoved = before?.parent !== file.parent || before.name !== file.name;
  if (before === null || (isMoved && !asked.followsRenames)) {
    throw new Fault("FileGenerationMismatch");
  }
  const changes = maps.changes(view, file.content, before.content, from, until, limit);
  // A file that was overwritten is the same, but holds nothing of what it was.
  if (changes === null) throw new Fault("FileGenerationMismatch");
  return changes;
}

/** A range from the very beginning fits an empty file, too. */
function boundsOf(size: number, range: ByteRange | null): { from: number; until: number } {
  if (range === null) return { from: 0, until: size };
  if (range.from > 0 && range.from >= size) {
    throw new Fault("InvalidRange", { "Content-Range": `bytes */${size}` });
  }
  return { from: range.from, until: range.to === null ? size : Math.min(range.to + 1, size) };
}
