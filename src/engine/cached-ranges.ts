import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { KEPT_ENTRIES_MIN, type Made, type Making, type Stretch } from "../store/store.ts";

/** What all that is kept may take of memory. */
export const KEPT_BYTES_MAX = 32 * MIB;
/** What a stretch costs beside what was made. */
const STRETCH_BYTES = 1_024;

/**
 * What was made of stretches of keys, each for as long as it is true of the newest state. An engine
 * tells of every key that changes, before anybody reads the change.
 */
export class KeptStretches {
  readonly #shelves = new Map<Making<Made>, Kept[]>();
  /** From the one that was not used for the longest time to the last one used. */
  readonly #byUse = new Set<Kept>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = KEPT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The stretch in which this key lies. */
  find<T extends Made>(making: Making<T>, key: Bytes): KeptStretch<T> | null {
    const shelf = this.#shelves.get(making);
    if (shelf === undefined) return null;
    const kept = shelf[behind(shelf, key) - 1];
    if (kept === undefined || kept.until.compare(key) <= 0) return null;
    this.#use(kept);
    return kept as unknown as KeptStretch<T>;
  }

  /** Where a stretch from this key on must end: stretches do not overlap. */
  untilNext(making: Making<Made>, key: Bytes, until: Bytes): Bytes {
    const shelf = this.#shelves.get(making) ?? [];
    const next = shelf[behind(shelf, key)];
    return next !== undefined && next.from.compare(until) < 0 ? next.from : until;
  }

  /** `newest` is that of the state it was read from. */
  keep(
    making: Making<Made>,
    { from, until, made }: Stretch<Made>,
    entries: number,
    newest: number,
  ): void {
    if (entries < KEPT_ENTRIES_MIN) return;
    const shelf = this.#shelves.get(making) ?? [];
    this.#shelves.set(making, shelf);
    const kept: Kept = { making, from, until, made, newest, wasKept: true, bytes: 0 };
    shelf.splice(behind(shelf, from), 0, kept);
    this.#use(kept);
  }

  /** A key is written or deleted. */
  change(key: Bytes): void {
    for (const [{ space }, shelf] of this.#shelves) {
      if (space !== key[0]) continue;
      const at = behind(shelf, key) - 1;
      const kept = shelf[at];
      if (kept !== undefined && kept.until.compare(key) > 0) this.#drop(kept, shelf, at);
    }
  }

  /** Takes note of what it has grown to, and makes room if that is too much. */
  #use(kept: Kept): void {
    this.#byUse.delete(kept);
    this.#byUse.add(kept);
    const bytes = kept.made.bytes + STRETCH_BYTES;
    this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    for (const oldest of this.#byUse) {
      if (this.#bytes <= this.#bytesMax) return;
      const shelf = this.#shelves.get(oldest.making) ?? [];
      this.#drop(oldest, shelf, behind(shelf, oldest.from) - 1);
    }
  }

  #drop(kept: Kept, shelf: Kept[], at: number): void {
    shelf.splice(at, 1);
    this.#byUse.delete(kept);
    this.#bytes -= kept.bytes;
  }
}

export interface KeptStretch<T extends Made> extends Stretch<T> {
  /** How recent the newest thing was that it may rest on. */
  readonly newest: number;
}

interface Kept extends KeptStretch<Made> {
  readonly making: Making<Made>;
  /** As they were counted last. */
  bytes: number;
}

/** How many stretches begin at or before this key. */
function behind(shelf: readonly Kept[], key: Bytes): number {
  let low = 0;
  let high = shelf.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((shelf[middle] as Kept).from.compare(key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
