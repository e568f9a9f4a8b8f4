import { givenAway, type Lender, type Loan } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Reading } from "../store/contents.ts";
import type { Extents } from "../store/extents.ts";
import type { Store, View } from "../store/store.ts";
import {
  areSameStretches,
  bytesAtHand,
  holdAll,
  lenderOfStretch,
  type Stretch,
  stretchesOfLeaf,
} from "./content-reading.ts";
import { layersOf, piecesOf } from "./range-pieces.ts";
import { endOf, type RangeEntry } from "./range-records.ts";
import { type Step, StepReading, type StepReadingSetup } from "./step-reading.ts";

/** Pieces that are looked up at one go, and bytes that are then in memory. */
const PIECES_PER_LOOKUP = 512;
const INLINE_BYTES_PER_LOOKUP = 1024 * 1024;

/** A hole up to this size is as good as bytes at hand. */
const ZEROES_PER_PART = 64 * 1024;
const ZERO_PARTS_PER_LOAN = 8;
const ZEROES: Bytes = Buffer.alloc(ZEROES_PER_PART);

/** Where nothing was written. */
interface Hole {
  readonly zeroes: number;
}

export interface RangeReadingSetup {
  readonly store: Store;
  readonly extents: Extents;
  readonly layer: bigint;
  readonly from: number;
  readonly length: number;
  /** Called when the reading is closed. */
  readonly onClose: () => void;
}

/**
 * Bytes of a map. Usually all of their pieces are found at once, and then nothing that happens to
 * the map matters. Of a range that is made of very many pieces, the rest is looked up while it is
 * read.
 */
export function readRange(view: View, setup: RangeReadingSetup): Reading {
  const { store, extents, from, length, onClose } = setup;
  return new StepReading<Stretch | Hole>(view, {
    store,
    from,
    length,
    mayChange: true,
    find: (state, at) => findPieces(state, setup, at),
    wholeOf,
    ...lending(extents),
    onClose,
  });
}

/** Bytes of entries without a gap between them, wherever in a map they are. */
export function readEntries(
  view: View,
  { store, extents }: Pick<RangeReadingSetup, "store" | "extents">,
  entries: readonly RangeEntry[],
): Reading {
  const from = entries[0]?.start ?? 0;
  const until = from + entries.reduce((sum, entry) => sum + entry.length, 0);
  return new StepReading<Stretch | Hole>(view, {
    store,
    from,
    length: until - from,
    mayChange: false,
    find: (state) =>
      held(
        extents,
        entries.flatMap((entry) => stretchesOfPiece(state, entry)),
        until,
      ),
    wholeOf: () => null,
    ...lending(extents),
    onClose() {},
  });
}

/** How stretches are lent and told apart. */
function lending(extents: Extents): Pick<StepReadingSetup<Stretch | Hole>, "lenderOf" | "areSame"> {
  return {
    lenderOf: (stretch) =>
      isHole(stretch) ? new ZeroLender(stretch.zeroes) : lenderOfStretch(extents, stretch),
    areSame: (one, other) =>
      isHole(one) || isHole(other)
        ? isHole(one) && isHole(other) && one.zeroes === other.zeroes
        : areSameStretches(one, other),
  };
}

function findPieces(view: View, setup: RangeReadingSetup, from: number): Step<Stretch | Hole> {
  const until = setup.from + setup.length;
  const stretches: (Stretch | Hole)[] = [];
  let pieces = 0;
  let inlineBytes = 0;
  let at = from;
  const layers = layersOf(view, setup.layer) ?? [];
  for (const piece of piecesOf(view, layers, from, until)) {
    if (pieces++ === PIECES_PER_LOOKUP || inlineBytes >= INLINE_BYTES_PER_LOOKUP) {
      return held(setup.extents, stretches, at);
    }
    if (at < piece.start) stretches.push({ zeroes: piece.start - at });
    stretches.push(...stretchesOfPiece(view, piece));
    if (piece.source.kind === "inline") inlineBytes += piece.length;
    at = endOf(piece);
  }
  if (at < until) stretches.push({ zeroes: until - at });
  return held(setup.extents, stretches, until);
}

function held(
  extents: Extents,
  stretches: readonly (Stretch | Hole)[],
  until: number,
): Step<Stretch | Hole> {
  const stored = stretches.filter((stretch): stretch is Stretch => !isHole(stretch));
  const hold = holdAll(extents, stored);
  return { stretches, until, release: () => hold.release() };
}

function isHole(stretch: Stretch | Hole): stretch is Hole {
  return !Buffer.isBuffer(stretch) && "zeroes" in stretch;
}

function stretchesOfPiece(view: View, { length, source }: RangeEntry): (Stretch | Hole)[] {
  switch (source.kind) {
    case "inline":
      return [source.bytes];
    case "leaf":
      return stretchesOfLeaf(view, source.content, source.from, source.from + length);
    case "zero":
      return [{ zeroes: length }];
  }
}

function wholeOf(stretches: readonly (Stretch | Hole)[]): Bytes | null {
  const atHand = stretches.map((stretch) =>
    isHole(stretch) && stretch.zeroes <= ZEROES_PER_PART
      ? ZEROES.subarray(0, stretch.zeroes)
      : stretch,
  );
  return atHand.some(isHole) ? null : bytesAtHand(atHand as Stretch[]);
}

class ZeroLender implements Lender {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  async lend(): Promise<Loan | null> {
    const parts: Bytes[] = [];
    while (this.#left > 0 && parts.length < ZERO_PARTS_PER_LOAN) {
      const part = ZEROES.subarray(0, this.#left);
      this.#left -= part.length;
      parts.push(part);
    }
    return parts.length === 0 ? null : givenAway(parts);
  }
}
