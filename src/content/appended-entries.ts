import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";
import type { Transaction } from "../store/store.ts";
import { appendToEntry, CROWD_ENTRIES_MIN, REGION_BYTES } from "./range-records.ts";

/** Shorter entries stay in their records: moving them to an extent gains nothing. */
export const GROWN_BYTES_MIN = 8 * KIB;
/** Layers whose last entry is remembered. Others are not appended to in place. */
const LAYERS_MAX = 8_192;
/** Grown entries that are remembered. Further ones stay in their records. */
const GROWN_MAX = 16_384;

/** The place of an inline entry of a map. */
export interface AppendedEntry {
  readonly layer: bigint;
  readonly start: number;
}

/** The inline entry that was written to a layer last. */
interface LastAppended extends AppendedEntry {
  /** The number of consecutive entries in its region; null if unknown. */
  readonly entries: number | null;
}

/**
 * Remembers the last inline entry of each layer, so that bytes written directly after it are
 * appended to it in place. This is a hint: a transaction may fail after it was noted, so `append`
 * checks the record.
 */
export class AppendedEntries {
  /** By layer, the oldest first. */
  readonly #last = new Map<bigint, LastAppended>();
  /** By layer and start, since a body that runs again notes the same entry again. */
  readonly #grown = new Map<string, AppendedEntry>();

  /** Remembers an inline entry that was just written. */
  note(layer: bigint, start: number): void {
    const entries = countWith(start, this.#last.get(layer));
    this.#last.delete(layer);
    this.#last.set(layer, { layer, start, entries });
    if (this.#last.size > LAYERS_MAX) this.#forgetOldest();
  }

  /** Whether a later write may be appended to this entry. */
  mayGrow(layer: bigint, start: number): boolean {
    return this.#last.get(layer)?.start === start;
  }

  /** Whether the region of an entry that was just appended at `start` may need merging. */
  mayBeCrowded(layer: bigint, start: number): boolean {
    const entries = this.#last.get(layer)?.entries ?? null;
    return entries === null ? start % REGION_BYTES > 0 : entries % CROWD_ENTRIES_MIN === 0;
  }

  /**
   * Appends bytes to the last entry of a layer if it ends at `end`. Returns false, and does
   * nothing, if there is no such entry or it would exceed `bytesMax`.
   */
  append(tx: Transaction, layer: bigint, end: number, bytes: Bytes, bytesMax: number): boolean {
    const entry = this.#last.get(layer);
    if (entry === undefined) return false;
    const before = end - entry.start;
    const length = before + bytes.length;
    if (before <= 0 || length > bytesMax) return false;
    // The sweeper merges within one region: it would skip an entry that spans two.
    if (regionOf(entry.start) !== regionOf(end + bytes.length - 1)) return false;
    if (!appendToEntry(tx, layer, entry.start, before, bytes)) return false;
    if (before < GROWN_BYTES_MIN && length >= GROWN_BYTES_MIN) this.noteGrown(entry);
    return true;
  }

  noteGrown(entry: AppendedEntry): void {
    if (this.#grown.size < GROWN_MAX) this.#grown.set(`${entry.layer}/${entry.start}`, entry);
  }

  /** Returns, and forgets, the entries that have become long enough to be moved to extents. */
  takeGrown(): readonly AppendedEntry[] {
    const grown = [...this.#grown.values()];
    this.#grown.clear();
    return grown;
  }

  #forgetOldest(): void {
    for (const oldest of this.#last.keys()) {
      this.#last.delete(oldest);
      return;
    }
  }
}

/** The number of entries in the region, including a new one at `start`. */
function countWith(start: number, last: LastAppended | undefined): number | null {
  if (start % REGION_BYTES === 0) return 1;
  if (last === undefined) return null;
  // A body that runs again writes the same entry again.
  if (last.start === start) return last.entries;
  if (regionOf(last.start) !== regionOf(start)) return 1;
  return last.entries === null ? null : last.entries + 1;
}

function regionOf(offset: number): number {
  return Math.floor(offset / REGION_BYTES);
}
