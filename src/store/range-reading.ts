import type { Bytes } from "../base/bytes.ts";
import { bytesAtHand, holdAll, type Stretch, stretchesOfLeaf } from "./content-reading.ts";
import type { Reading } from "./contents.ts";
import type { Extents, Hold } from "./extents.ts";
import { layersOf, piecesOf } from "./range-pieces.ts";
import { endOf, type RangeEntry } from "./range-records.ts";
import type { Store, View } from "./store.ts";

/** Pieces that are looked up at one go, and bytes that are then in memory. */
const PIECES_PER_LOOKUP = 512;
const INLINE_BYTES_PER_LOOKUP = 1024 * 1024;

/** A hole up to this size is as good as bytes at hand. */
const ZEROES_PER_PART = 64 * 1024;
const ZEROES: Bytes = Buffer.alloc(ZEROES_PER_PART);

/** Where nothing was written. */
interface Hole {
  readonly zeroes: number;
}

/** Where the bytes from some offset up to `until` are, with the extents they lie in held. */
interface Found extends Hold {
  readonly stretches: readonly (Stretch | Hole)[];
  readonly until: number;
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
export class RangeReading implements Reading {
  readonly length: number;
  readonly whole: Bytes | null;
  readonly isSettled: boolean;
  readonly #setup: RangeReadingSetup;
  readonly #until: number;
  #found: Found;
  #closed = false;

  constructor(view: View, setup: RangeReadingSetup) {
    this.length = setup.length;
    this.#setup = setup;
    this.#until = setup.from + setup.length;
    this.#found = this.#find(view, setup.from);
    this.isSettled = this.#found.until === this.#until;
    this.whole = this.isSettled ? wholeOf(this.#found.stretches) : null;
  }

  async *parts(): AsyncIterable<Bytes> {
    for (;;) {
      for (const stretch of this.#found.stretches) yield* this.#partsOf(stretch);
      const { until } = this.#found;
      if (until === this.#until) return;
      this.#found.release();
      this.#found = await this.#setup.store.read((view) => this.#find(view, until));
      if (this.#closed) {
        this.#found.release();
        return;
      }
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#found.release();
    this.#setup.onClose();
  }

  async *#partsOf(stretch: Stretch | Hole): AsyncIterable<Bytes> {
    if (Buffer.isBuffer(stretch)) yield stretch;
    else if ("zeroes" in stretch) yield* zeroes(stretch.zeroes);
    else yield* this.#setup.extents.parts(stretch.at, stretch.from, stretch.length);
  }

  #find(view: View, from: number): Found {
    const stretches: (Stretch | Hole)[] = [];
    let pieces = 0;
    let inlineBytes = 0;
    let at = from;
    const layers = layersOf(view, this.#setup.layer) ?? [];
    for (const piece of piecesOf(view, layers, from, this.#until)) {
      if (pieces++ === PIECES_PER_LOOKUP || inlineBytes >= INLINE_BYTES_PER_LOOKUP) {
        return this.#held(stretches, at);
      }
      if (at < piece.start) stretches.push({ zeroes: piece.start - at });
      stretches.push(...stretchesOfPiece(view, piece));
      if (piece.source.kind === "inline") inlineBytes += piece.length;
      at = endOf(piece);
    }
    if (at < this.#until) stretches.push({ zeroes: this.#until - at });
    return this.#held(stretches, this.#until);
  }

  #held(stretches: readonly (Stretch | Hole)[], until: number): Found {
    const stored = stretches.filter((stretch): stretch is Stretch => !isHole(stretch));
    const hold = holdAll(this.#setup.extents, stored);
    return { stretches, until, release: () => hold.release() };
  }
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

function* zeroes(length: number): Iterable<Bytes> {
  for (let left = length; left > 0; left -= ZEROES_PER_PART) {
    yield ZEROES.subarray(0, Math.min(left, ZEROES_PER_PART));
  }
}
