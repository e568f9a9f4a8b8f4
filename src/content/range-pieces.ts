import { prefetch } from "../store/accelerated.ts";
import type { Range, Ranges } from "../store/range-map.ts";
import type { View } from "../store/store.ts";
import {
  cut,
  endOf,
  entriesBetween,
  entryAt,
  lastEntryBefore,
  needOfLayersBelow,
  needsOver,
  type RangeEntry,
  readLayer,
} from "./range-records.ts";

/** Entries that the first lookup finds. Each further one finds twice as many, up to a limit. */
const ENTRIES_PER_LOOKUP = 64;
const ENTRIES_PER_LOOKUP_MAX = 512;
/** Most maps have fewer layers. */
const FEW_LAYERS = 8;
const LAYERS_NAMED_MAX = 1_024;
/** Pieces that one listing visits at most, since inline pieces are read with their bytes. */
const PIECES_PER_LISTING = 2_000;

/**
 * A layer and those below it, the topmost first, down to `bottom` exclusive; null if `bottom` is
 * not below it.
 */
export function layersOf(view: View, top: bigint, bottom: bigint | null = null): bigint[] | null {
  const layers: bigint[] = [];
  let named = FEW_LAYERS;
  for (let layer: bigint | null = top; layer !== bottom; layer = readLayer(view, layer).parent) {
    if (layer === null) return null;
    layers.push(layer);
    if (layers.length < named) continue;
    const limit = Math.min(8 * named, LAYERS_NAMED_MAX);
    const from = layer;
    // A guess: the layers of a long chain often were made one soon after the other.
    prefetch(view, () => [needOfLayersBelow(from, limit)]);
    named += limit;
  }
  return layers;
}

/** The visible pieces between two offsets: for each byte, the topmost layer's entry. */
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
  prefetch(view, () =>
    layers.flatMap((layer) => needsOver(layer, from, until, ENTRIES_PER_LOOKUP + 1)),
  );
  // There may be thousands of layers, so one merge walks through all of them side by side.
  let walks = layers.map((layer) => new LayerWalk(view, layer, from, until));
  for (let at = from; at < until; ) {
    const { visible, end, hasEnded } = visibleAt(walks, at, until);
    if (visible !== null) yield cut(visible, at, end);
    if (hasEnded) walks = walks.filter((walk) => !walk.isOver);
    at = end;
  }
}

/** The entry that is visible at an offset, or null, and the end of that piece or hole. */
function visibleAt(
  walks: readonly LayerWalk[],
  at: number,
  until: number,
): { visible: RangeEntry | null; end: number; hasEnded: boolean } {
  let end = until;
  let hasEnded = false;
  for (const walk of walks) {
    const entry = walk.entryFrom(at);
    if (entry === null) hasEnded = true;
    else if (entry.start > at) end = Math.min(end, entry.start);
    else return { visible: entry, end: Math.min(end, endOf(entry)), hasEnded };
  }
  return { visible: null, end, hasEnded };
}

/** A cursor over the entries of one layer. */
class LayerWalk {
  readonly #entries: Iterator<RangeEntry>;
  /** Undefined before the first entry, null after the last. */
  #entry: RangeEntry | null | undefined;

  constructor(view: View, layer: bigint, from: number, until: number) {
    this.#entries = entriesOver(view, layer, from, until);
  }

  get isOver(): boolean {
    return this.#entry === null;
  }

  /** The first entry that ends after this offset. Offsets must not decrease from call to call. */
  entryFrom(at: number): RangeEntry | null {
    while (this.#entry === undefined || (this.#entry !== null && endOf(this.#entry) <= at)) {
      const next = this.#entries.next();
      this.#entry = next.done ? null : next.value;
    }
    return this.#entry;
  }
}

/** Entries of one layer between two offsets, cut at both. The cost grows with the result alone. */
export function* entriesOver(
  view: View,
  layer: bigint,
  from: number,
  until: number,
): Generator<RangeEntry> {
  if (from >= until) return;
  prefetch(view, () => needsOver(layer, from, until, ENTRIES_PER_LOOKUP + 1));
  // Reads often begin where a write began: then a get, which is cheaper than a search, is enough.
  const first = entryAt(view, layer, from) ?? lastEntryBefore(view, layer, from);
  let at = from;
  if (first !== null && endOf(first) > from) {
    at = Math.min(endOf(first), until);
    yield cut(first, from, at);
  }
  for (let limit = ENTRIES_PER_LOOKUP; at < until; ) {
    const entries = entriesBetween(view, layer, at, until, limit);
    for (const entry of entries) yield cut(entry, entry.start, Math.min(endOf(entry), until));
    const last = entries.length < limit ? undefined : entries.at(-1);
    at = last === undefined ? until : endOf(last);
    limit = Math.min(2 * limit, ENTRIES_PER_LOOKUP_MAX);
  }
}

/** The ranges that pieces cover, as clients list them. */
export function rangesOf(
  pieces: Iterable<RangeEntry>,
  withCleared: boolean,
  limit: number,
): Ranges {
  const found: Range[] = [];
  let visited = 0;
  for (const { start, length, source } of pieces) {
    if (visited++ === PIECES_PER_LISTING) return { found, next: start };
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
