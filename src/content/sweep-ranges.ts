import { borrowedBody } from "../base/borrowed-buffer.ts";
import { fulfilled } from "../base/fulfilled.ts";
import { KIB, MIB } from "../base/limits.ts";
import type { Stamp } from "../base/stamp.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Need } from "../store/acceleration.ts";
import type { Reading, Taken } from "../store/content.ts";
import type { Others } from "../store/others.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { keysToDrop } from "./content-records.ts";
import type { MapContents } from "./map-contents.ts";
import { entriesOver } from "./range-pieces.ts";
import {
  CROWD_ENTRIES_MIN,
  crowdedOf,
  cut,
  deleteCrowded,
  deleteDoomed,
  deleteEntry,
  deleteLayer,
  dropLayer,
  endOf,
  firstEntries,
  keyOfRegion,
  keysOfLayers,
  listCrowded,
  listDoomed,
  listLayers,
  needsOver,
  noteCrowded,
  type RangeEntry,
  REGION_BYTES,
  type Region,
  readLayer,
  regionAt,
  type StoredEntry,
  storedBetween,
  writeEntry,
  writeLayer,
} from "./range-records.ts";
import { type Leaves, leavesIn, recount } from "./range-writes.ts";

const LAYERS_PER_ROUND = 16;
const ENTRIES_PER_STEP = 256;
const REGIONS_PER_ROUND = 16;
/** A round ends once this many bytes have been merged, so that requests run between rounds. */
const MERGED_BYTES_PER_ROUND = 4 * MIB;
/** Entries of a region that are considered at a time. */
const REGION_ENTRIES_MAX = 2_048;
/** Entries that are merged into one. One lookup of a reader finds this many. */
const RUN_ENTRIES_MAX = 256;
/** Entries of this length are not merged again, so that small appends do not rewrite them. */
const LONG_ENTRY_BYTES = 128 * KIB;
/**
 * Entries that one transaction moves to the layer above, and entries of that layer that it
 * considers for each of them.
 */
const MOVED_ENTRIES_MAX = 64;

/** What the sweep needs to know of the readers and writers of maps. */
export interface Readers {
  isPinned(layer: bigint): boolean;
  /** Those in other processes, whose pins are not known here. */
  readonly others: Others;
  /** Whether the next write may be appended in place to the entry that starts here. */
  mayGrow(layer: bigint, start: number): boolean;
  open(view: View, entries: readonly RangeEntry[]): Reading;
}

/**
 * Sweeps maps, with a bounded amount of work per round: frees layers without references, joins a
 * layer with the one on top if nothing else refers to it, and merges small neighbouring entries.
 */
export class RangeSweep {
  readonly #store: Store;
  readonly #contents: MapContents;
  readonly #readers: Readers;
  #afterRegion: Region | null = null;
  #nextDoomed = 0n;
  /** Whether the current pass over all doomed layers has freed any. */
  #hasFreed = false;
  /** The layer at which the search for layers to join continues; null while no search is needed. */
  #nextLayer: bigint | null = 0n;
  /** Whether this search met a layer that others may read: nobody tells when they end. */
  #isReadElsewhere = false;

  constructor(store: Store, contents: MapContents, readers: Readers) {
    this.#store = store;
    this.#contents = contents;
    this.#readers = readers;
  }

  /** Restarts the search for layers to join, because there may be a new one. */
  recheckLayers(): void {
    this.#nextLayer = 0n;
  }

  async round(): Promise<boolean> {
    const doomed = await Promise.allSettled([this.#freeDoomed()]);
    const joined = await Promise.allSettled([this.#joinLayers()]);
    const merged = await Promise.allSettled([this.#mergeRegions()]);
    return [...doomed, ...joined, ...merged].map(fulfilled).includes(true);
  }

  /** As with other garbage, reads that found a layer before it was doomed have pinned it by now. */
  async #freeDoomed(): Promise<boolean> {
    const found = await this.#store.read((view) =>
      listDoomed(view, this.#nextDoomed, LAYERS_PER_ROUND),
    );
    const last = found.length < LAYERS_PER_ROUND ? undefined : found.at(-1);
    this.#nextDoomed = last === undefined ? 0n : last.id + 1n;
    const free = found.filter(
      ({ id, died }) => !this.#readers.isPinned(id) && this.#readers.others.isUnread(died),
    );
    const steps = await Promise.allSettled(
      free.map(({ id, died }) => this.#store.transact((tx) => this.#freeLayer(tx, id, died))),
    );
    for (const step of steps) fulfilled(step);
    if (free.length > 0) {
      this.#hasFreed = true;
      this.recheckLayers();
    }
    if (last !== undefined) return true;
    // Freeing a layer may have doomed its parent, which has a lower id: start another pass.
    const hasMore = this.#hasFreed;
    this.#hasFreed = false;
    return hasMore;
  }

  /** Frees some entries of a layer; after the last one, frees the layer and drops its parent. */
  #freeLayer(tx: Transaction, layer: bigint, died: Stamp): void {
    const entries = firstEntries(tx, layer, ENTRIES_PER_STEP);
    prefetch(tx, () => keysToDrop(leavesIn(entries)));
    for (const entry of entries) {
      deleteEntry(tx, layer, entry.start);
      recount(tx, this.#contents, entry.source, 0);
    }
    const crowded = crowdedOf(tx, layer, ENTRIES_PER_STEP);
    for (const region of crowded) deleteCrowded(tx, region);
    if (Math.max(entries.length, crowded.length) === ENTRIES_PER_STEP) return;
    const { parent } = readLayer(tx, layer);
    deleteLayer(tx, layer);
    deleteDoomed(tx, layer);
    // No reader has reached the parent through this layer since it died, hence the same stamp.
    if (parent !== null) dropLayer(tx, parent, this.#readers.others, died);
  }

  async #joinLayers(): Promise<boolean> {
    if (this.#nextLayer === null) return false;
    const from = this.#nextLayer;
    // Reset before the read: a `recheckLayers` from now on restarts the search.
    this.#nextLayer = null;
    const { last, joinable } = await this.#store.read((view) => {
      const found = listLayers(view, from, LAYERS_PER_ROUND);
      prefetch(view, () => keysOfLayers(found.flatMap(({ parent }) => parent ?? [])));
      return {
        last: found.length < LAYERS_PER_ROUND ? undefined : found.at(-1),
        joinable: found.filter(({ id }) => this.#parentToJoin(view, id) !== null),
      };
    });
    for (const { id } of joinable) await this.#store.transact((tx) => this.#joinStep(tx, id));
    if (joinable.length > 0) this.#nextLayer = 0n;
    else if (last !== undefined) this.#nextLayer ??= last.id + 1n;
    else if (this.#isReadElsewhere) this.#nextLayer ??= 0n;
    if (this.#nextLayer === 0n) this.#isReadElsewhere = false;
    return joinable.length > 0 || last !== undefined;
  }

  /** The layer below this one, if it has no other reference and nobody reads it. */
  #parentToJoin(view: View, id: bigint): bigint | null {
    const { parent } = readLayer(view, id);
    if (parent === null || this.#readers.isPinned(parent)) return null;
    const { extraReferences, openedUntil } = readLayer(view, parent);
    if (extraReferences > 0) return null;
    if (this.#readers.others.isUnread(openedUntil)) return parent;
    this.#isReadElsewhere = true;
    return null;
  }

  /** Moves some entries of the layer below up; after the last one, removes that layer. */
  #joinStep(tx: Transaction, id: bigint): void {
    const parent = this.#parentToJoin(tx, id);
    if (parent === null) return;
    const below = readLayer(tx, parent);
    prefetch(tx, () => needsToMove(tx, parent, id));
    for (let moved = 0; moved < MOVED_ENTRIES_MAX; moved++) {
      if (moveUp(tx, this.#contents, parent, id, below.parent === null)) continue;
      deleteLayer(tx, parent);
      const layer = readLayer(tx, id);
      writeLayer(tx, id, { ...layer, parent: below.parent, isCut: layer.isCut || below.isCut });
      return;
    }
  }

  async #mergeRegions(): Promise<boolean> {
    const found = await this.#store.read((view) =>
      listCrowded(view, this.#afterRegion, REGIONS_PER_ROUND),
    );
    this.#afterRegion = found.length < REGIONS_PER_ROUND ? null : (found.at(-1) ?? null);
    const merged: PromiseSettledResult<number>[] = [];
    let bytes = 0;
    for (const region of found) {
      const [step] = await Promise.allSettled([this.#mergeRegion(region)]);
      merged.push(step);
      if (step.status === "fulfilled") bytes += step.value;
      if (bytes < MERGED_BYTES_PER_ROUND) continue;
      this.#afterRegion = region;
      break;
    }
    for (const step of merged) fulfilled(step);
    return bytes > 0 || this.#afterRegion !== null;
  }

  /** Merges the small entries of a region, and returns the number of merged bytes. */
  async #mergeRegion(region: Region): Promise<number> {
    const runs = await this.#store.read((view) => this.#openRuns(view, region));
    let bytes = 0;
    try {
      for (const run of runs) {
        if (await this.#mergeRun(region.layer, run)) bytes += run.length;
      }
    } finally {
      for (const run of runs) run.reading.close();
    }
    if (runs.length > 0) return bytes;
    await this.#store.transact((tx) => {
      if (this.#crowdedRuns(tx, region).length === 0) deleteCrowded(tx, region);
    });
    return 0;
  }

  #openRuns(view: View, region: Region): Run[] {
    return this.#crowdedRuns(view, region).map((run) => {
      const reading = this.#readers.open(
        view,
        run.map(({ entry }) => entry),
      );
      return { start: run[0]?.entry.start ?? 0, length: reading.length, seen: run, reading };
    });
  }

  /** Entries of a region to merge, grouped by run; empty unless the region is crowded. */
  #crowdedRuns(view: View, { layer, region }: Region): StoredEntry[][] {
    const from = region * REGION_BYTES;
    const until = from + REGION_BYTES;
    const found = storedBetween(view, layer, from, until, REGION_ENTRIES_MAX);
    if (found.length < CROWD_ENTRIES_MIN) return [];
    return runsOf(
      found.filter(
        ({ entry }) => endOf(entry) <= until && !this.#readers.mayGrow(layer, entry.start),
      ),
    );
  }

  /** Writes the merged bytes, then replaces the entries if they have not changed meanwhile. */
  async #mergeRun(layer: bigint, run: Run): Promise<boolean> {
    const taken = await this.#contents.take(borrowedBody(run.reading.length, run.reading));
    try {
      return await this.#store.transact((tx) => {
        const until = run.start + run.length;
        const now = storedBetween(tx, layer, run.start, until, run.seen.length + 1);
        if (!areSame(now, run.seen)) return false;
        prefetch(tx, () => keysToDrop(leavesIn(now.map(({ entry }) => entry))));
        for (const { entry } of now) {
          deleteEntry(tx, layer, entry.start);
          recount(tx, this.#contents, entry.source, 0);
        }
        writeEntry(tx, layer, this.#entryOf(tx, run, taken));
        return true;
      });
    } finally {
      taken.release();
    }
  }

  #entryOf(tx: Transaction, { start, length }: Run, taken: Taken): RangeEntry {
    if (taken.inline !== null) {
      return { start, length, source: { kind: "inline", bytes: taken.inline } };
    }
    const content = this.#contents.keep(tx, taken);
    return { start, length, source: { kind: "leaf", content, from: 0 } };
  }
}

/** Consecutive entries, as they were when their bytes were opened. */
interface Run {
  readonly start: number;
  readonly length: number;
  readonly seen: readonly StoredEntry[];
  readonly reading: Reading;
}

function areSame(some: readonly StoredEntry[], others: readonly StoredEntry[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ entry, record }, at) => {
      const other = others[at] as StoredEntry;
      return entry.start === other.entry.start && record.equals(other.record);
    })
  );
}

/** Whether an entry may be merged with its neighbours: sealed bytes have a nonce for each leaf. */
function isMergeable({ length, source }: RangeEntry): boolean {
  if (source.kind === "zero" || length >= LONG_ENTRY_BYTES) return false;
  return source.kind !== "leaf" || source.content.kind !== "sealed";
}

/** Groups short consecutive entries with bytes, in groups of two or more. */
function runsOf(found: readonly StoredEntry[]): StoredEntry[][] {
  const runs: StoredEntry[][] = [];
  let end = -1;
  for (const stored of found) {
    const { entry } = stored;
    if (!isMergeable(entry)) continue;
    const run = runs.at(-1);
    if (run !== undefined && entry.start === end && run.length < RUN_ENTRIES_MAX) run.push(stored);
    else runs.push([stored]);
    end = endOf(entry);
  }
  return runs.filter((run) => run.length > 1);
}

/** What a body reads to move the next entries of a layer to the one on top. */
function needsToMove(tx: Transaction, from: bigint, to: bigint): Need[] {
  const moved = firstEntries(tx, from, MOVED_ENTRIES_MAX + 1);
  const over = moved.flatMap((entry) => [
    ...needsOver(to, entry.start, endOf(entry), MOVED_ENTRIES_MAX + 1),
    keyOfRegion(regionAt(to, entry.start)),
  ]);
  return [...over, ...keysToDrop(leavesIn(moved))];
}

/**
 * Moves the visible parts of a layer's first entry to the layer on top; false if no entry is left.
 * The map reads the same before and after.
 */
function moveUp(
  tx: Transaction,
  leaves: Leaves,
  from: bigint,
  to: bigint,
  isBottom: boolean,
): boolean {
  const [entry] = firstEntries(tx, from, 1);
  if (entry === undefined) return false;
  const over = take(entriesOver(tx, to, entry.start, endOf(entry)), MOVED_ENTRIES_MAX);
  const last = over.length < MOVED_ENTRIES_MAX ? undefined : over.at(-1);
  const until = last === undefined ? endOf(entry) : endOf(last);
  // At the bottom zeroes hide nothing.
  const visible = isBottom && entry.source.kind === "zero" ? [] : gaps(entry, until, over);
  for (const part of visible) {
    writeEntry(tx, to, part);
    noteCrowded(tx, regionAt(to, part.start));
  }
  deleteEntry(tx, from, entry.start);
  const isLeft = until < endOf(entry);
  if (isLeft) writeEntry(tx, from, cut(entry, until, endOf(entry)));
  recount(tx, leaves, entry.source, visible.length + (isLeft ? 1 : 0));
  return true;
}

/** The parts of an entry, up to `until`, that the entries of the layer on top do not cover. */
function gaps(entry: RangeEntry, until: number, over: readonly RangeEntry[]): RangeEntry[] {
  const parts: RangeEntry[] = [];
  let at = entry.start;
  for (const other of over) {
    if (at < other.start) parts.push(cut(entry, at, other.start));
    at = endOf(other);
  }
  if (at < until) parts.push(cut(entry, at, until));
  return parts;
}

function take<T>(all: Iterable<T>, limit: number): T[] {
  const taken: T[] = [];
  for (const one of all) {
    if (taken.push(one) === limit) break;
  }
  return taken;
}
