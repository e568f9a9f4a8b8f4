import type { Range, Ranges } from "../store/range-map.ts";
import type { View } from "../store/store.ts";
import {
  cut,
  endOf,
  entriesBetween,
  entryAt,
  lastEntryBefore,
  type RangeEntry,
  readLayer,
} from "./range-records.ts";

const ENTRIES_PER_LOOKUP = 64;
/** What one body looks at, at most, to list ranges: small ones are read with their bytes. */
const PIECES_PER_LISTING = 2_000;

/** A layer and those below it, from the top; down to `bottom`, which is not among them. */
export function layersOf(view: View, top: bigint, bottom: bigint | null = null): bigint[] | null {
  const layers: bigint[] = [];
  for (let layer: bigint | null = top; layer !== bottom; layer = readLayer(view, layer).parent) {
    if (layer === null) return null;
    layers.push(layer);
  }
  return layers;
}

/** What shows between two offsets: of each byte the entry in the topmost layer that has one. */
export function* piecesOf(
  view: View,
  layers: readonly bigint[],
  from: number,
  until: number,
): Generator<RangeEntry> {
  const [top] = layers;
  if (top !== undefined && layers.length === 1) {
    yield* entriesOver(view, top, from, until);
    return;
  }
  // There may be thousands of layers, so all of them are walked through at once, side by side.
  let walks = layers.map((layer) => new LayerWalk(view, layer, from, until));
  for (let at = from; at < until; ) {
    const { shown, end, hasEnded } = showing(walks, at, until);
    if (shown !== null) yield cut(shown, at, end);
    if (hasEnded) walks = walks.filter((walk) => !walk.isOver);
    at = end;
  }
}

/** What shows at an offset, if anything, and up to where that stays so. */
function showing(
  walks: readonly LayerWalk[],
  at: number,
  until: number,
): { shown: RangeEntry | null; end: number; hasEnded: boolean } {
  let end = until;
  let hasEnded = false;
  for (const walk of walks) {
    const entry = walk.entryFrom(at);
    if (entry === null) hasEnded = true;
    else if (entry.start > at) end = Math.min(end, entry.start);
    else return { shown: entry, end: Math.min(end, endOf(entry)), hasEnded };
  }
  return { shown: null, end, hasEnded };
}

/** The entries of one layer, one after another. */
class LayerWalk {
  readonly #entries: Iterator<RangeEntry>;
  /** Undefined before the first, null behind the last. */
  #entry: RangeEntry | null | undefined;

  constructor(view: View, layer: bigint, from: number, until: number) {
    this.#entries = entriesOver(view, layer, from, until);
  }

  get isOver(): boolean {
    return this.#entry === null;
  }

  /** The first that does not end before this offset, which never goes back. */
  entryFrom(at: number): RangeEntry | null {
    while (this.#entry === undefined || (this.#entry !== null && endOf(this.#entry) <= at)) {
      const next = this.#entries.next();
      this.#entry = next.done ? null : next.value;
    }
    return this.#entry;
  }
}

/** Entries of one layer between two offsets, cut there. Costs no more than what it finds. */
export function* entriesOver(
  view: View,
  layer: bigint,
  from: number,
  until: number,
): Generator<RangeEntry> {
  if (from >= until) return;
  // Bytes are often read from where a write began: then one look tells what others would find out.
  const first = entryAt(view, layer, from) ?? lastEntryBefore(view, layer, from);
  let at = from;
  if (first !== null && endOf(first) > from) {
    at = Math.min(endOf(first), until);
    yield cut(first, from, at);
  }
  while (at < until) {
    const entries = entriesBetween(view, layer, at, until, ENTRIES_PER_LOOKUP);
    for (const entry of entries) yield cut(entry, entry.start, Math.min(endOf(entry), until));
    const last = entries.length < ENTRIES_PER_LOOKUP ? undefined : entries.at(-1);
    at = last === undefined ? until : endOf(last);
  }
}

/** Pieces as a client is told of them: where there is something, not what it is made of. */
export function rangesOf(
  pieces: Iterable<RangeEntry>,
  withCleared: boolean,
  limit: number,
): Ranges {
  const found: Range[] = [];
  let looks = 0;
  for (const { start, length, source } of pieces) {
    if (looks++ === PIECES_PER_LISTING) return { found, next: start };
    const isCleared = source.kind === "zero";
    if (isCleared && !withCleared) continue;
    const last = found.at(-1);
    if (last !== undefined && last.end === start && last.isCleared === isCleared) {
      found[found.length - 1] = { ...last, end: start + length };
    } else {
      if (found.length === limit) return { found, next: start };
      found.push({ start, end: start + length, isCleared });
    }
  }
  return { found, next: null };
}
