import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Need } from "../store/acceleration.ts";
import type { Content, ContentKey, Reading, Taken } from "../store/content.ts";
import { INLINE_BYTES_MAX } from "../store/contents.ts";
import type { Extents } from "../store/extents.ts";
import type { Others } from "../store/others.ts";
import type { RangeMaps, Ranges } from "../store/range-map.ts";
import { type Store, type Transaction, unlessDamaged, type View } from "../store/store.ts";
import { AppendedEntries } from "./appended-entries.ts";
import { keyOfFirstSegment, keysToDrop, keysToShare } from "./content-records.ts";
import { entriesShowing } from "./content-slices.ts";
import type { MapContents } from "./map-contents.ts";
import { moveAppendedEntries } from "./move-appended-entries.ts";
import { layersOf, piecesOf, rangesOf } from "./range-pieces.ts";
import { readEntries, readRange } from "./range-reading.ts";
import {
  deleteEntry,
  dropLayer,
  endOf,
  entryAt,
  firstEntries,
  keyOfRegion,
  needsOfFirst,
  needsOver,
  needsToClear,
  noteCrowded,
  type RangeEntry,
  type RangeSource,
  REGION_BYTES,
  readLayer,
  regionAt,
  writeEntry,
  writeLayer,
} from "./range-records.ts";
import { clearLayer, leavesIn, recount } from "./range-writes.ts";
import { RangeSweep } from "./sweep-ranges.ts";
import { WholeReading } from "./whole-reading.ts";

/** An entry that appends make may be longer than others, since later writes rarely change it. */
const APPENDED_BYTES_MAX = 64 * KIB;

export interface MapsSetup {
  readonly store: Store;
  /** The store for sweeping. */
  readonly sweepStore: Store;
  readonly extents: Extents;
  readonly others: Others;
}

/**
 * A map is a stack of layers, and its id is that of the topmost. Where a layer has no entries, the
 * layer below is visible. Writers change only the topmost layer. They add a new one if it is
 * shared, if a reader has frozen it, or if one transaction cannot replace all of its entries. The
 * sweeper joins layers that need no longer be separate.
 */
export class StoredRangeMaps implements RangeMaps {
  readonly #store: Store;
  readonly #extents: Extents;
  readonly #contents: MapContents;
  readonly #sweep: RangeSweep;
  readonly #appended = new AppendedEntries();
  readonly #others: Others;
  /** The number of pins of each layer that a reader looks up step by step. */
  readonly #pins = new Map<bigint, number>();

  constructor({ store, sweepStore, extents, others }: MapsSetup, contents: MapContents) {
    this.#store = store;
    this.#extents = extents;
    this.#contents = contents;
    this.#others = others;
    store.beforeCheckpoint?.(() => this.#moveAppendedEntries());
    this.#sweep = new RangeSweep(sweepStore, contents, {
      others,
      isPinned: (layer) => this.#pins.has(layer),
      mayGrow: (layer, start) => this.#appended.mayGrow(layer, start),
      open: (view, entries) => this.#openEntries(view, entries),
    });
  }

  create(
    tx: Transaction,
    length: number,
    first: Taken | null = null,
    replaced: Content | null = null,
  ): Content {
    if (first === null) {
      if (replaced !== null) this.drop(tx, replaced);
      return { id: tx.stamp(), kind: "map", length };
    }
    const id = replaced !== null && this.#reuseLayer(tx, replaced) ? replaced.id : tx.stamp();
    writeEntry(tx, id, { start: 0, length: first.length, source: this.#sourceOf(tx, first) });
    return { id, kind: "map", length: Math.max(length, first.length) };
  }

  write(tx: Transaction, map: Content, at: number, taken: Taken): Content {
    const { length } = taken;
    const { layer, isCrowded } = this.#cleared(tx, map, at, at + length);
    const isNewEntry = this.#put(tx, layer, at, taken, INLINE_BYTES_MAX);
    if (isCrowded && isNewEntry) noteCrowded(tx, regionAt(layer, at));
    return { id: layer, kind: map.kind, length: Math.max(map.length, at + length) };
  }

  append(tx: Transaction, map: Content, taken: Taken): Content {
    const start = map.length;
    const { length } = taken;
    const layer = this.#layerOf(tx, map);
    const isNewEntry = this.#put(tx, layer, start, taken, APPENDED_BYTES_MAX);
    const mayBeCrowded =
      isNewEntry && taken.inline !== null && this.#appended.mayBeCrowded(layer, start);
    if (mayBeCrowded) noteCrowded(tx, regionAt(layer, start));
    return { id: layer, kind: map.kind, length: start + length };
  }

  place(
    tx: Transaction,
    map: Content,
    at: number,
    content: Content,
    from: number,
    length: number,
  ): Content | null {
    const entries = entriesShowing(tx, content, from, from + length, at);
    if (entries === null) return null;
    prefetch(tx, () => keysToShare(leavesIn(entries)));
    // Share before clearing: the bytes may lie in this very map.
    for (const { source } of entries) {
      if (source.kind === "leaf") this.#contents.share(tx, source.content);
    }
    const { layer } = this.#cleared(tx, map, at, at + length);
    const hidesParent = readLayer(tx, layer).parent !== null;
    for (const entry of hidesParent ? withZeroes(entries, at, at + length) : entries) {
      writeEntry(tx, layer, entry);
      if (entry.source.kind === "inline") noteCrowded(tx, regionAt(layer, entry.start));
    }
    return { ...map, id: layer, length: Math.max(map.length, at + length) };
  }

  needsToPlace({ id, length }: Content, contents: readonly Content[]): readonly Need[] {
    const end = contents.reduce((sum, content) => sum + content.length, length);
    const regions: Need[] = [];
    for (let at = length; at < end; at += REGION_BYTES) regions.push(keyOfRegion(regionAt(id, at)));
    const placed = [...keysToDrop(contents), ...contents.filter(isList).map(keyOfFirstSegment)];
    return [
      ...needsToClear(id, length, end),
      ...needsOver(id, length, end, 1),
      ...regions,
      ...placed,
    ];
  }

  clear(tx: Transaction, map: Content, from: number, until: number): Content {
    if (from >= until) return map;
    const { layer } = this.#cleared(tx, map, from, until);
    if (readLayer(tx, layer).parent !== null) {
      writeEntry(tx, layer, { start: from, length: until - from, source: { kind: "zero" } });
    }
    return { ...map, id: layer };
  }

  resize(tx: Transaction, map: Content, length: number): Content {
    const cleared = this.clear(tx, map, length, map.length);
    if (length < map.length) {
      const layer = readLayer(tx, cleared.id);
      const leavesZeroes = layer.parent !== null && !layer.isCut;
      if (leavesZeroes) writeLayer(tx, cleared.id, { ...layer, isCut: true });
    }
    return { ...cleared, length };
  }

  ranges(view: View, { id }: Content, from: number, until: number, limit: number): Ranges {
    return rangesOf(piecesOf(view, layersOf(view, id) ?? [], from, until), false, limit);
  }

  changes(
    view: View,
    { id }: Content,
    since: Content,
    from: number,
    until: number,
    limit: number,
  ): Ranges | null {
    const layers = layersOf(view, id, since.id);
    return layers && rangesOf(piecesOf(view, layers, from, until), true, limit);
  }

  open(
    view: View,
    map: Content,
    from: number,
    length: number,
    key: ContentKey | null = null,
  ): Reading {
    const written = length <= INLINE_BYTES_MAX ? inlineAt(view, map.id, from) : null;
    if (written !== null && written.length >= length) {
      return new WholeReading(written.subarray(0, length));
    }
    return this.#open(view, map.id, from, length, key);
  }

  openFrozen(
    tx: Transaction,
    map: Content,
    from: number,
    length: number,
    key: ContentKey | null = null,
  ): { map: Content; reading: Reading } {
    const { parent } = readLayer(tx, map.id);
    // If nothing was written since the map was last frozen, reuse that frozen layer.
    const isEmpty = parent !== null && firstEntries(tx, map.id, 1).length === 0;
    const frozen = isEmpty ? parent : map.id;
    const id = isEmpty ? map.id : this.#addLayerOn(tx, map.id);
    if (this.#others.areThere) {
      writeLayer(tx, frozen, { ...readLayer(tx, frozen), openedUntil: tx.stamp() });
    }
    return { map: { ...map, id }, reading: this.#open(tx, frozen, from, length, key) };
  }

  share(tx: Transaction, { id }: Content): void {
    const layer = readLayer(tx, id);
    writeLayer(tx, id, { ...layer, extraReferences: layer.extraReferences + 1 });
  }

  drop(tx: Transaction, map: Content): void {
    if (this.#freeSmall(tx, map)) return;
    dropLayer(tx, map.id, this.#others);
    this.#sweep.recheckLayers();
  }

  /** What `drop` reads. */
  needsToDrop({ id }: Content): readonly Need[] {
    return needsOfFirst(id);
  }

  /** The leaves that `drop` drops together with a map. */
  leavesIfSmall(tx: Transaction, map: Content): readonly Content[] {
    return leavesIn(unlessDamaged(() => this.#entriesIfSmall(tx, map)) ?? []);
  }

  /** Runs one round of sweeping; returns true while there may be more to do. */
  sweep(): Promise<boolean> {
    return this.#sweep.round();
  }

  /** Runs before a checkpoint. Entries that change meanwhile are moved before the next one. */
  async #moveAppendedEntries(): Promise<void> {
    const left = await moveAppendedEntries(this.#store, this.#contents, this.#appended.takeGrown());
    for (const entry of left) this.#appended.noteGrown(entry);
  }

  /** Frees a map of at most one entry at once, without the sweeper; false for any other map. */
  #freeSmall(tx: Transaction, map: Content): boolean {
    const entries = this.#entriesIfSmall(tx, map);
    if (entries === null) return false;
    for (const { start, source } of entries) {
      deleteEntry(tx, map.id, start);
      recount(tx, this.#contents, source, 0);
    }
    return true;
  }

  /**
   * Drops a map. Returns true if a new map may take over its layer: the entry at 0, if there is
   * one, still has to be overwritten.
   */
  #reuseLayer(tx: Transaction, map: Content): boolean {
    const entries = this.#entriesIfSmall(tx, map);
    if (entries === null || entries.some(({ start }) => start !== 0)) {
      this.drop(tx, map);
      return false;
    }
    for (const { source } of entries) recount(tx, this.#contents, source, 0);
    return true;
  }

  /**
   * All entries of a map of one unshared layer with at most one entry; null for any other map. Null
   * also if readers in other processes may look it up step by step, which only the sweeper knows.
   */
  #entriesIfSmall(tx: Transaction, { id, length }: Content): readonly RangeEntry[] | null {
    if (this.#others.areThere) return null;
    const { parent, extraReferences, isCut } = readLayer(tx, id);
    if (parent !== null || extraReferences > 0 || isCut || this.#pins.has(id)) return null;
    const first = entryAt(tx, id, 0);
    // An entry that spans the map is the only one: this saves a search.
    if (first !== null && endOf(first) >= length) return [first];
    const entries = firstEntries(tx, id, 2);
    return entries.length > 1 ? null : entries;
  }

  /** Clears the range between two offsets, and returns the layer to write to. */
  #cleared(
    tx: Transaction,
    map: Content,
    from: number,
    until: number,
  ): { layer: bigint; isCrowded: boolean } {
    prefetch(tx, () => needsToClear(map.id, from, until));
    const layer = this.#layerOf(tx, map);
    const { done, isCrowded } = clearLayer(tx, this.#contents, layer, from, until);
    return { layer: done ? layer : this.#addLayerOn(tx, layer), isCrowded };
  }

  /** The layer to write to: the topmost one, or a new one if that is shared or pinned. */
  #layerOf(tx: Transaction, { id }: Content): bigint {
    const isShared = readLayer(tx, id).extraReferences > 0 || this.#pins.has(id);
    return isShared ? this.#addLayerOn(tx, id) : id;
  }

  /** Adds a layer, which takes over the map's reference to the one below. */
  #addLayerOn(tx: Transaction, parent: bigint): bigint {
    const layer = tx.stamp();
    writeLayer(tx, layer, { parent, extraReferences: 0, isCut: false, openedUntil: 0n });
    this.#sweep.recheckLayers();
    return layer;
  }

  /**
   * Writes bytes where the layer has none. Returns true if it wrote a new entry, false if it
   * appended them in place to an inline entry that ends there, up to `bytesMax`.
   */
  #put(tx: Transaction, layer: bigint, at: number, taken: Taken, bytesMax: number): boolean {
    const { length, inline } = taken;
    if (inline !== null && this.#appended.append(tx, layer, at, inline, bytesMax)) return false;
    writeEntry(tx, layer, { start: at, length, source: this.#sourceOf(tx, taken) });
    if (inline !== null) this.#appended.note(layer, at);
    return true;
  }

  #sourceOf(tx: Transaction, taken: Taken): RangeSource {
    if (taken.inline !== null) return { kind: "inline", bytes: taken.inline };
    return { kind: "leaf", content: this.#contents.keep(tx, taken), from: 0 };
  }

  /** Notes that layers may have become joinable. */
  recheckLayers(): void {
    this.#sweep.recheckLayers();
  }

  #open(view: View, layer: bigint, from: number, length: number, key: ContentKey | null): Reading {
    let unpinElsewhere = () => {};
    const reading: Reading = readRange(view, {
      store: this.#store,
      extents: this.#extents,
      layer,
      from,
      length,
      key,
      onClose: () => {
        unpinElsewhere();
        if (!reading.isStable) this.#unpin(layer);
      },
    });
    unpinElsewhere = this.#others.pin();
    // A stable reading has found all of its runs, and needs the layers no more.
    if (!reading.isStable) this.#pins.set(layer, (this.#pins.get(layer) ?? 0) + 1);
    return reading;
  }

  #openEntries(view: View, entries: readonly RangeEntry[]): Reading {
    let unpinElsewhere = () => {};
    const setup = { store: this.#store, extents: this.#extents, onClose: () => unpinElsewhere() };
    const reading = readEntries(view, setup, entries);
    unpinElsewhere = this.#others.pin();
    return reading;
  }

  #unpin(layer: bigint): void {
    const pins = (this.#pins.get(layer) ?? 0) - 1;
    if (pins > 0) this.#pins.set(layer, pins);
    else this.#pins.delete(layer);
    this.#sweep.recheckLayers();
  }
}

function isList({ kind }: Content): boolean {
  return kind === "list";
}

/** The bytes of the inline entry that starts at exactly this offset. Small files consist of one. */
function inlineAt(view: View, layer: bigint, start: number): Bytes | null {
  const source = entryAt(view, layer, start)?.source;
  return source?.kind === "inline" ? source.bytes : null;
}

/** Fills the gaps between entries with zero entries, which hide the layers below. */
function* withZeroes(
  entries: readonly RangeEntry[],
  from: number,
  until: number,
): Iterable<RangeEntry> {
  let at = from;
  for (const entry of entries) {
    if (at < entry.start) yield zeroes(at, entry.start);
    yield entry;
    at = endOf(entry);
  }
  if (at < until) yield zeroes(at, until);
}

function zeroes(start: number, end: number): RangeEntry {
  return { start, length: end - start, source: { kind: "zero" } };
}
