import type { Bytes } from "../base/bytes.ts";
import { added, count, flag, format, oneOf, orNull, rest, struct, u64 } from "../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../base/keys.ts";
import type { Stamp } from "../base/stamp.ts";
import { appendInPlace } from "../store/accelerated.ts";
import type { Need } from "../store/acceleration.ts";
import type { Content } from "../store/content.ts";
import type { Entry } from "../store/entry.ts";
import type { Others } from "../store/others.ts";
import { StoreError, type Transaction, type View } from "../store/store.ts";

/** A run of one layer of a map. Entries of a layer never overlap. */
export interface RangeEntry {
  readonly start: number;
  readonly length: number;
  readonly source: RangeSource;
}

/** Where an entry's bytes are: in the entry, in a leaf, or zeroes that hide the layers below. */
export type RangeSource =
  | { readonly kind: "inline"; readonly bytes: Bytes }
  | { readonly kind: "leaf"; readonly content: Content; readonly from: number }
  | { readonly kind: "zero" };

const INLINE = 1;
const LEAF = 2;
const ZERO = 3;

const inlineFormat = format(INLINE, { bytes: rest });
const leafFormat = format(LEAF, {
  content: struct({ id: u64, kind: oneOf("extent", "sealed"), length: count }),
  from: count,
  length: count,
});
const zeroFormat = format(ZERO, { length: count });

/** Longer than any record of a leaf or zero entry. */
const OTHER_BYTES_MAX = 64;

/** A layer without a record has the values of `DEFAULT_LAYER`. */
const layerFormat = format(1, {
  parent: orNull(u64),
  extraReferences: count,
  isCut: added(flag, false),
  openedUntil: added(u64, 0n),
});
const crowdedFormat = format(1, {});
const doomedFormat = format(1, { died: added(u64, 0n) });

const entryKey = (layer: bigint, start: number) => key(SPACE.rangeEntry, layer, start);
const layerKey = (layer: bigint) => key(SPACE.rangeLayer, layer);
const doomedKey = (layer: bigint) => key(SPACE.doomedRangeLayer, layer);

export function endOf(entry: RangeEntry): number {
  return entry.start + entry.length;
}

/** The part of an entry from `from` to `until`, both of which lie within it. */
export function cut(entry: RangeEntry, from: number, until: number): RangeEntry {
  const skip = from - entry.start;
  return { start: from, length: until - from, source: cutSource(entry.source, skip, until - from) };
}

function cutSource(source: RangeSource, skip: number, length: number): RangeSource {
  switch (source.kind) {
    case "inline":
      return { kind: "inline", bytes: source.bytes.subarray(skip, skip + length) };
    case "leaf":
      return { ...source, from: source.from + skip };
    case "zero":
      return source;
  }
}

export function writeEntry(tx: Transaction, layer: bigint, entry: RangeEntry): void {
  tx.set(entryKey(layer, entry.start), encodeEntry(entry));
}

function encodeEntry({ length, source }: RangeEntry): Bytes {
  switch (source.kind) {
    case "inline":
      return inlineFormat.encode({ bytes: source.bytes });
    case "leaf": {
      const { id, kind } = source.content;
      if (kind !== "extent" && kind !== "sealed") {
        throw new Error("an entry must contain inline bytes itself");
      }
      const content = { id, kind, length: source.content.length } as const;
      return leafFormat.encode({ content, from: source.from, length });
    }
    case "zero":
      return zeroFormat.encode({ length });
  }
}

/**
 * Appends bytes in place to the inline entry that begins at `start` and has `length` bytes. Returns
 * false, and does nothing, if there is no such entry, or if it is no longer in the write-ahead log.
 */
export function appendToEntry(
  tx: Transaction,
  layer: bigint,
  start: number,
  length: number,
  more: Bytes,
): boolean {
  // A record this long can only be an inline entry, so its size alone identifies it.
  const mayBeOther = length < OTHER_BYTES_MAX;
  if (mayBeOther && entryAt(tx, layer, start)?.source.kind !== "inline") return false;
  return appendInPlace(tx, entryKey(layer, start), 1 + length, more);
}

export function deleteEntry(tx: Transaction, layer: bigint, start: number): void {
  tx.delete(entryKey(layer, start));
}

/** The entry that starts at exactly this offset. */
export function entryAt(view: View, layer: bigint, start: number): RangeEntry | null {
  const value = view.get(entryKey(layer, start));
  return value === undefined ? null : entryFrom(start, value);
}

/** Entries with `from <= start < until`, in ascending order. */
export function entriesBetween(
  view: View,
  layer: bigint,
  from: number,
  until: number,
  limit: number,
): RangeEntry[] {
  if (from >= until) return [];
  return view.range(entryKey(layer, from), entryKey(layer, until), { limit }).map(decodeEntry);
}

/** An entry with its encoded record, to detect changes later. */
export interface StoredEntry {
  readonly entry: RangeEntry;
  readonly record: Bytes;
}

/** Entries with `from <= start < until`, in ascending order, with their records. */
export function storedBetween(
  view: View,
  layer: bigint,
  from: number,
  until: number,
  limit: number,
): StoredEntry[] {
  return view
    .range(entryKey(layer, from), entryKey(layer, until), { limit })
    .map((found) => ({ entry: decodeEntry(found), record: found.value }));
}

export function storedAt(view: View, layer: bigint, start: number): StoredEntry | null {
  const record = view.get(entryKey(layer, start));
  return record === undefined ? null : { entry: entryFrom(start, record), record };
}

/** The last entry that starts before `until`. */
export function lastEntryBefore(view: View, layer: bigint, until: number): RangeEntry | null {
  const first = entryKey(layer, 0);
  const [found] = view.range(first, entryKey(layer, until), { limit: 1, reverse: true });
  return found === undefined ? null : decodeEntry(found);
}

/** What a body reads to find up to `limit` entries of a layer between two offsets. */
export function needsOver(layer: bigint, from: number, until: number, limit: number): Need[] {
  const [first, end] = [entryKey(layer, from), entryKey(layer, until)];
  const before = { from: entryKey(layer, 0), until: first, options: { limit: 1, reverse: true } };
  return [before, { from: first, until: end, options: { limit } }];
}

/** What a body reads to clear a layer between two offsets, unless it has many entries there. */
export function needsToClear(layer: bigint, from: number, until: number): Need[] {
  const [first, end] = [entryKey(layer, 0), entryKey(layer, until)];
  const last = { from: first, until: end, options: { limit: 1, reverse: true } };
  return [layerKey(layer), entryKey(layer, from), last];
}

/** What a body reads to find a layer and its first two entries. */
export function needsOfFirst(layer: bigint): Need[] {
  const all = key(SPACE.rangeEntry, layer);
  return [layerKey(layer), { from: all, until: keyAfter(all), options: { limit: 2 } }];
}

/** What a body reads to find the entry that starts at exactly this offset. */
export function keyOfEntry(layer: bigint, start: number): Bytes {
  return entryKey(layer, start);
}

export function firstEntries(view: View, layer: bigint, limit: number): RangeEntry[] {
  const all = key(SPACE.rangeEntry, layer);
  return view.range(all, keyAfter(all), { limit }).map(decodeEntry);
}

function decodeEntry({ key: found, value }: Entry): RangeEntry {
  const parts = new KeyReader(found);
  parts.u64();
  return entryFrom(parts.number(), value);
}

function entryFrom(start: number, value: Bytes): RangeEntry {
  switch (value[0]) {
    case INLINE: {
      const { bytes } = inlineFormat.decode(value);
      return { start, length: bytes.length, source: { kind: "inline", bytes } };
    }
    case LEAF: {
      const { content, from, length } = leafFormat.decode(value);
      return { start, length, source: { kind: "leaf", content, from } };
    }
    case ZERO:
      return { start, length: zeroFormat.decode(value).length, source: { kind: "zero" } };
    default:
      throw new StoreError("damaged", `the map entry at offset ${start} is of no known kind`);
  }
}

export interface Layer {
  /** The layer below, which is visible where this one has no entries. */
  readonly parent: bigint | null;
  /** References beyond the first. */
  readonly extraReferences: number;
  /** Whether zero entries may lie beyond the end of its map, left there by a truncation. */
  readonly isCut: boolean;
  /**
   * The stamp until which readers could open it without the layers on top of it. Until nobody reads
   * older states, it cannot be joined with these. 0 if nobody could.
   */
  readonly openedUntil: Stamp;
}

/** A layer without a record. */
const DEFAULT_LAYER: Layer = {
  parent: null,
  extraReferences: 0,
  isCut: false,
  openedUntil: 0n,
};

export function readLayer(view: View, layer: bigint): Layer {
  const found = view.get(layerKey(layer));
  return found === undefined ? DEFAULT_LAYER : layerFormat.decode(found);
}

/** What a body reads to find the parents of these layers. */
export function keysOfLayers(layers: readonly bigint[]): Bytes[] {
  return layers.map(layerKey);
}

/** The records of the layers that were made last before this one, of any map. */
export function needOfLayersBelow(layer: bigint, limit: number): Need {
  const [from, until] = [key(SPACE.rangeLayer), layerKey(layer)];
  return { from, until, options: { limit, reverse: true } };
}

export function writeLayer(tx: Transaction, layer: bigint, value: Layer): void {
  const { parent, extraReferences, isCut, openedUntil } = value;
  const isDefault = parent === null && extraReferences === 0 && !isCut && openedUntil === 0n;
  if (isDefault) deleteLayer(tx, layer);
  else tx.set(layerKey(layer), layerFormat.encode(value));
}

export function deleteLayer(tx: Transaction, layer: bigint): void {
  tx.delete(layerKey(layer));
}

/** Layers that have a record, by id, beginning with `from`. */
export function listLayers(view: View, from: bigint, limit: number): (Layer & { id: bigint })[] {
  return view
    .range(layerKey(from), keyAfter(key(SPACE.rangeLayer)), { limit })
    .map((entry) => ({ id: new KeyReader(entry.key).u64(), ...layerFormat.decode(entry.value) }));
}

/**
 * Removes a reference; with the last one the layer is doomed: the sweeper frees it. If others may
 * read it without their pins being known here, the record says until when they could open it:
 * until `died`.
 */
export function dropLayer(
  tx: Transaction,
  id: bigint,
  { areThere }: Others,
  died = tx.stamp(),
): void {
  const layer = readLayer(tx, id);
  const extraReferences = layer.extraReferences - 1;
  if (extraReferences < 0) {
    const isOpenedLater = layer.openedUntil > died;
    const last = isOpenedLater ? layer.openedUntil : died;
    tx.set(doomedKey(id), doomedFormat.encode({ died: last }));
  } else {
    const openedUntil = areThere ? died : layer.openedUntil;
    writeLayer(tx, id, { ...layer, extraReferences, openedUntil });
  }
}

/** A layer without references that the sweeper has not freed yet. */
export interface DoomedLayer {
  readonly id: bigint;
  /** Given when it lost its last reference. Readers of older states may have found it. */
  readonly died: Stamp;
}

export function listDoomed(view: View, from: bigint, limit: number): DoomedLayer[] {
  return view
    .range(doomedKey(from), keyAfter(key(SPACE.doomedRangeLayer)), { limit })
    .map((entry) => ({ id: new KeyReader(entry.key).u64(), ...doomedFormat.decode(entry.value) }));
}

export function deleteDoomed(tx: Transaction, layer: bigint): void {
  tx.delete(doomedKey(layer));
}

/** The sweeper merges small entries of a map region by region. */
export const REGION_BYTES = 1024 * 1024;

/** Regions with fewer entries are not merged: it would cost more than it saves. */
export const CROWD_ENTRIES_MIN = 128;

/** A section of a layer, the unit in which small entries are merged. */
export interface Region {
  readonly layer: bigint;
  readonly region: number;
}

export function regionAt(layer: bigint, offset: number): Region {
  return { layer, region: Math.floor(offset / REGION_BYTES) };
}

/** The key of the record that a region may have many small entries. */
export function keyOfRegion({ layer, region }: Region): Bytes {
  return key(SPACE.crowdedRegion, layer, region);
}

/** Records that a region may have many small entries. */
export function noteCrowded(tx: Transaction, region: Region): void {
  const at = keyOfRegion(region);
  if (tx.get(at) === undefined) tx.set(at, crowdedFormat.encode({}));
}

export function deleteCrowded(tx: Transaction, region: Region): void {
  tx.delete(keyOfRegion(region));
}

/** Crowded regions of all layers, beginning with the one after `after`. */
export function listCrowded(view: View, after: Region | null, limit: number): Region[] {
  const all = key(SPACE.crowdedRegion);
  const from = after === null ? all : keyAfter(keyOfRegion(after));
  return view.range(from, keyAfter(all), { limit }).map(decodeRegion);
}

export function crowdedOf(view: View, layer: bigint, limit: number): Region[] {
  const all = key(SPACE.crowdedRegion, layer);
  return view.range(all, keyAfter(all), { limit }).map(decodeRegion);
}

function decodeRegion(entry: Entry): Region {
  const parts = new KeyReader(entry.key);
  return { layer: parts.u64(), region: parts.number() };
}
