import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import {
  CACHED_ENTRIES_MIN,
  type Derivation,
  type Derived,
  type DerivedRange,
} from "../store/acceleration.ts";

/** What all that is kept may take of memory. */
export const CACHED_BYTES_MAX = 32 * MIB;
/** What a stretch costs beside what was made. */
const RANGE_BYTES = 1_024;

/**
 * What was made of stretches of keys, each for as long as it is true of the newest state. An engine
 * tells of every key that changes, before anybody reads the change.
 */
export class CachedRanges {
  readonly #byDerivation = new Map<Derivation<Derived>, Cached[]>();
  /** From the one that was not used for the longest time to the last one used. */
  readonly #byUse = new Set<Cached>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = CACHED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The stretch in which this key lies. */
  find<T extends Derived>(derivation: Derivation<T>, key: Bytes): CachedRange<T> | null {
    const ranges = this.#byDerivation.get(derivation);
    if (ranges === undefined) return null;
    const cached = ranges[behind(ranges, key) - 1];
    if (cached === undefined || cached.until.compare(key) <= 0) return null;
    this.#use(cached);
    return cached as unknown as CachedRange<T>;
  }

  /** Where a stretch from this key on must end: stretches do not overlap. */
  untilNext(derivation: Derivation<Derived>, key: Bytes, until: Bytes): Bytes {
    const ranges = this.#byDerivation.get(derivation) ?? [];
    const next = ranges[behind(ranges, key)];
    return next !== undefined && next.from.compare(until) < 0 ? next.from : until;
  }

  /** `newest` is that of the state it was read from. */
  keep(
    derivation: Derivation<Derived>,
    { from, until, derived }: DerivedRange<Derived>,
    entries: number,
    newest: number,
  ): void {
    if (entries < CACHED_ENTRIES_MIN) return;
    const ranges = this.#byDerivation.get(derivation) ?? [];
    this.#byDerivation.set(derivation, ranges);
    const cached: Cached = { derivation, from, until, derived, newest, wasCached: true, bytes: 0 };
    ranges.splice(behind(ranges, from), 0, cached);
    this.#use(cached);
  }

  /** A key is written or deleted. */
  change(key: Bytes): void {
    for (const [{ space }, ranges] of this.#byDerivation) {
      if (space !== key[0]) continue;
      const at = behind(ranges, key) - 1;
      const cached = ranges[at];
      if (cached !== undefined && cached.until.compare(key) > 0) this.#drop(cached, ranges, at);
    }
  }

  /** Takes note of what it has grown to, and makes room if that is too much. */
  #use(cached: Cached): void {
    this.#byUse.delete(cached);
    this.#byUse.add(cached);
    const bytes = cached.derived.bytes + RANGE_BYTES;
    this.#bytes += bytes - cached.bytes;
    cached.bytes = bytes;
    for (const oldest of this.#byUse) {
      if (this.#bytes <= this.#bytesMax) return;
      const ranges = this.#byDerivation.get(oldest.derivation) ?? [];
      this.#drop(oldest, ranges, behind(ranges, oldest.from) - 1);
    }
  }

  #drop(cached: Cached, ranges: Cached[], at: number): void {
    ranges.splice(at, 1);
    this.#byUse.delete(cached);
    this.#bytes -= cached.bytes;
  }
}

export interface CachedRange<T extends Derived> extends DerivedRange<T> {
  /** How recent the newest thing was that it may rest on. */
  readonly newest: number;
}

interface Cached extends CachedRange<Derived> {
  readonly derivation: Derivation<Derived>;
  /** As they were counted last. */
  bytes: number;
}

/** How many stretches begin at or before this key. */
function behind(ranges: readonly Cached[], key: Bytes): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as Cached).from.compare(key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
