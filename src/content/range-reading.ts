import { type BorrowedBuffer, type BufferOwner, unowned } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import { prefetch } from "../store/accelerated.ts";
import type { ContentKey, Reading } from "../store/content.ts";
import type { Extents } from "../store/extents.ts";
import type { Store, View } from "../store/store.ts";
import {
  areSameRuns,
  bytesInMemory,
  ownerOfRun,
  pinAll,
  type Run,
  runsOfLeaf,
} from "./content-reading.ts";
import { keysToOpen } from "./content-records.ts";
import { layersOf, piecesOf } from "./range-pieces.ts";
import { endOf, type RangeEntry } from "./range-records.ts";
import { leavesIn } from "./range-writes.ts";
import { type Step, StepReading, type StepReadingSetup } from "./step-reading.ts";

/** One lookup ends after this many pieces, or this many inline bytes, which are then in memory. */
const PIECES_PER_LOOKUP = 512;
const INLINE_BYTES_PER_LOOKUP = 1024 * 1024;

/** Holes up to this size count as bytes in memory. */
const ZEROES_PER_PART = 64 * 1024;
const ZERO_PARTS_PER_BUFFER = 8;
const ZEROES: Bytes = Buffer.alloc(ZEROES_PER_PART);

/** A run of zeroes: cleared, or never written. */
interface Hole {
  readonly zeroes: number;
}

export interface RangeReadingSetup {
  readonly store: Store;
  readonly extents: Extents;
  readonly layer: bigint;
  readonly from: number;
  readonly length: number;
  /** For sealed bytes. Null to read them as they are stored. */
  readonly key: ContentKey | null;
  /** Called when the reading is closed. */
  readonly onClose: () => void;
}

/**
 * Opens bytes of a map. One lookup usually finds all of their pieces; then later writes to the map
 * do not show. If there are very many pieces, the rest is looked up step by step while it is read.
 */
export function readRange(view: View, setup: RangeReadingSetup): Reading {
  const { store, extents, from, length, key, onClose } = setup;
  return new StepReading<Run | Hole>(view, {
    store,
    from,
    length,
    mayChange: true,
    find: (state, at) => findPieces(state, setup, at),
    wholeOf,
    ...runAccess(extents, key),
    onClose,
  });
}

/** Opens the bytes of consecutive entries of a layer. */
export function readEntries(
  view: View,
  { store, extents, onClose }: Pick<RangeReadingSetup, "store" | "extents" | "onClose">,
  entries: readonly RangeEntry[],
): Reading {
  const from = entries[0]?.start ?? 0;
  const until = from + entries.reduce((sum, entry) => sum + entry.length, 0);
  return new StepReading<Run | Hole>(view, {
    store,
    from,
    length: until - from,
    mayChange: false,
    find(state) {
      prefetch(state, () => keysToOpen(leavesIn(entries)));
      const runs = entries.flatMap((entry) => runsOfPiece(state, entry));
      return pinned(extents, runs, until);
    },
    wholeOf: () => null,
    ...runAccess(extents, null),
    onClose,
  });
}

/** How a reading of a map reads and compares runs. */
function runAccess(
  extents: Extents,
  key: ContentKey | null,
): Pick<StepReadingSetup<Run | Hole>, "ownerOf" | "areSame"> {
  return {
    ownerOf: (run) => (isHole(run) ? new ZeroOwner(run.zeroes) : ownerOfRun(extents, run, key)),
    areSame: (one, other) =>
      isHole(one) || isHole(other)
        ? isHole(one) && isHole(other) && one.zeroes === other.zeroes
        : areSameRuns(one, other),
  };
}

function findPieces(view: View, setup: RangeReadingSetup, from: number): Step<Run | Hole> {
  const { pieces, until } = firstPieces(view, setup, from);
  prefetch(view, () => keysToOpen(leavesIn(pieces)));
  const runs: (Run | Hole)[] = [];
  let at = from;
  for (const piece of pieces) {
    if (at < piece.start) runs.push({ zeroes: piece.start - at });
    runs.push(...runsOfPiece(view, piece));
    at = endOf(piece);
  }
  if (at < until) runs.push({ zeroes: until - at });
  return pinned(setup.extents, runs, until);
}

/** As many pieces as one lookup takes, and the offset that it reaches. */
function firstPieces(
  view: View,
  setup: RangeReadingSetup,
  from: number,
): { readonly pieces: readonly RangeEntry[]; readonly until: number } {
  const until = setup.from + setup.length;
  const pieces: RangeEntry[] = [];
  let inlineBytes = 0;
  let at = from;
  const layers = layersOf(view, setup.layer) ?? [];
  for (const piece of piecesOf(view, layers, from, until)) {
    const isEnough = inlineBytes >= INLINE_BYTES_PER_LOOKUP;
    if (isEnough || pieces.length === PIECES_PER_LOOKUP) return { pieces, until: at };
    pieces.push(piece);
    if (piece.source.kind === "inline") inlineBytes += piece.length;
    at = endOf(piece);
  }
  return { pieces, until };
}

function pinned(extents: Extents, runs: readonly (Run | Hole)[], until: number): Step<Run | Hole> {
  const stored = runs.filter((run): run is Run => !isHole(run));
  const pin = pinAll(extents, stored);
  return { runs, until, release: () => pin.release() };
}

function isHole(run: Run | Hole): run is Hole {
  return !Buffer.isBuffer(run) && "zeroes" in run;
}

function runsOfPiece(view: View, { length, source }: RangeEntry): (Run | Hole)[] {
  switch (source.kind) {
    case "inline":
      return [source.bytes];
    case "leaf":
      return runsOfLeaf(view, source.content, source.from, source.from + length);
    case "zero":
      return [{ zeroes: length }];
  }
}

function wholeOf(runs: readonly (Run | Hole)[]): Bytes | null {
  const filled = runs.map((run) =>
    isHole(run) && run.zeroes <= ZEROES_PER_PART ? ZEROES.subarray(0, run.zeroes) : run,
  );
  return filled.some(isHole) ? null : bytesInMemory(filled as Run[]);
}

class ZeroOwner implements BufferOwner {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  async borrow(): Promise<BorrowedBuffer | null> {
    const parts: Bytes[] = [];
    while (this.#left > 0 && parts.length < ZERO_PARTS_PER_BUFFER) {
      const part = ZEROES.subarray(0, this.#left);
      this.#left -= part.length;
      parts.push(part);
    }
    return parts.length === 0 ? null : unowned(parts);
  }
}
