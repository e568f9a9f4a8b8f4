import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";
import type { Transaction } from "../store/store.ts";
import { appendToEntry, CROWD_ENTRIES_MIN, REGION_BYTES } from "./range-records.ts";

/** What is shorter is as well off in its record as in an extent. */
export const GROWN_BYTES_MIN = 8 * KIB;
/** Layers of which the last entry is known. Of others it is as if it could not grow. */
const LAYERS_MAX = 8_192;
/** Entries that are known to have grown. Of more, the rest stays where it is. */
const GROWN_MAX = 16_384;

/** Where an entry is that has bytes of its own. */
export interface AppendedEntry {
  readonly layer: bigint;
  readonly start: number;
}

/** The short entry that was written to a layer last. */
interface LastAppended extends AppendedEntry {
  /** How many there are in its region, if each stands behind the one before; null if nobody knows. */
  readonly entries: number | null;
}

/**
 * Knows the last short entry of each layer, so that what is written behind it becomes part of it. What
 * it knows may be wrong, for not every transaction lasts: each time the entry itself is asked.
 */
export class AppendedEntries {
  /** By layers; the one that was noted first comes first. */
  readonly #last = new Map<bigint, LastAppended>();
  /** By layer and start: a body that runs again notes the same entry again. */
  readonly #grown = new Map<string, AppendedEntry>();

  /** A short entry was written. */
  note(layer: bigint, start: number): void {
    const entries = countWith(start, this.#last.get(layer));
    this.#last.delete(layer);
    this.#last.set(layer, { layer, start, entries });
    if (this.#last.size > LAYERS_MAX) this.#forgetOldest();
  }

  mayGrow(layer: bigint, start: number): boolean {
    return this.#last.get(layer)?.start === start;
  }

  /** Whether it is time to look at a region to which an entry was appended at `start`. */
  mayBeCrowded(layer: bigint, start: number): boolean {
    const entries = this.#last.get(layer)?.entries ?? null;
    return entries === null ? start % REGION_BYTES > 0 : entries % CROWD_ENTRIES_MIN === 0;
  }

  /** True if the bytes, which begin at `end`, have become part of the last entry, up to `bytesMax`. */
  append(tx: Transaction, layer: bigint, end: number, bytes: Bytes, bytesMax: number): boolean {
    const entry = this.#last.get(layer);
    if (entry === undefined) return false;
    const before = end - entry.start;
    const length = before + bytes.length;
    if (before <= 0 || length > bytesMax) return false;
    // Regions are tidied up one by one: an entry in two of them would be left out.
    if (regionOf(entry.start) !== regionOf(end + bytes.length - 1)) return false;
    if (!appendToEntry(tx, layer, entry.start, before, bytes)) return false;
    if (before < GROWN_BYTES_MIN && length >= GROWN_BYTES_MIN) this.noteGrown(entry);
    return true;
  }

  noteGrown(entry: AppendedEntry): void {
    if (this.#grown.size < GROWN_MAX) this.#grown.set(`${entry.layer}/${entry.start}`, entry);
  }

  /** Those that have grown so long since the last time that they are better off in extents. */
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

function countWith(start: number, last: LastAppended | undefined): number | null {
  if (start % REGION_BYTES === 0) return 1;
  if (last === undefined) return null;
  // A body that runs again writes the same entry.
  if (last.start === start) return last.entries;
  if (regionOf(last.start) !== regionOf(start)) return 1;
  return last.entries === null ? null : last.entries + 1;
}

function regionOf(offset: number): number {
  return Math.floor(offset / REGION_BYTES);
}
