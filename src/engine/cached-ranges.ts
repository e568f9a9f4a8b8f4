import type { Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { CACHED_ENTRIES_MIN } from "../store/accelerated.ts";
import type { Derivation, Derived, DerivedRange } from "../store/acceleration.ts";

/** The memory limit of the cache. */
export const CACHED_BYTES_MAX = 32 * MIB;
/** The overhead of a cached range, beside the derived value. */
const RANGE_BYTES = 1_024;

/**
 * An LRU cache of derived ranges, valid for the newest state. The engine calls `change` for every
 * key that it writes, before the change can be read.
 */
export class CachedRanges {
  readonly #byDerivation = new Map<Derivation<Derived>, Cached[]>();
  /** The least recently used range first. */
  readonly #byUse = new Set<Cached>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax = CACHED_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The cached range in which this key lies. */
  find<T extends Derived>(derivation: Derivation<T>, key: Bytes): CachedRange<T> | null {
    const ranges = this.#byDerivation.get(derivation);
    if (ranges === undefined) return null;
    const cached = ranges[countUpTo(ranges, key) - 1];
    if (cached === undefined || cached.until.compare(key) <= 0) return null;
    this.#use(cached);
    return cached as unknown as CachedRange<T>;
  }

  /** The end of a new range that begins at this key, so that cached ranges do not overlap. */
  untilNext(derivation: Derivation<Derived>, key: Bytes, until: Bytes): Bytes {
    const ranges = this.#byDerivation.get(derivation) ?? [];
    const next = ranges[countUpTo(ranges, key)];
    return next !== undefined && next.from.compare(until) < 0 ? next.from : until;
  }

  /** Caches a range, unless it has few entries. `newest` is that of the state it was read from. */
  add(
    derivation: Derivation<Derived>,
    { from, until, derived }: DerivedRange<Derived>,
    entries: number,
    newest: number,
  ): void {
    if (entries < CACHED_ENTRIES_MIN) return;
    const ranges = this.#byDerivation.get(derivation) ?? [];
    this.#byDerivation.set(derivation, ranges);
    const cached: Cached = { derivation, from, until, derived, newest, wasCached: true, bytes: 0 };
    ranges.splice(countUpTo(ranges, from), 0, cached);
    this.#use(cached);
  }

  /** Drops the ranges in which this key lies, because it is written or deleted. */
  change(key: Bytes): void {
    for (const [{ space }, ranges] of this.#byDerivation) {
      if (space !== key[0]) continue;
      const at = countUpTo(ranges, key) - 1;
      const cached = ranges[at];
      if (cached !== undefined && cached.until.compare(key) > 0) this.#drop(cached, ranges, at);
    }
  }

  /** Drops all ranges, because anything may have changed. */
  clear(): void {
    this.#byDerivation.clear();
    this.#byUse.clear();
    this.#bytes = 0;
  }

  /** Marks a range as used, updates its size, and evicts others if the cache is too large. */
  #use(cached: Cached): void {
    this.#byUse.delete(cached);
    this.#byUse.add(cached);
    const bytes = cached.derived.bytes + RANGE_BYTES;
    this.#bytes += bytes - cached.bytes;
    cached.bytes = bytes;
    for (const oldest of this.#byUse) {
      if (this.#bytes <= this.#bytesMax) return;
      const ranges = this.#byDerivation.get(oldest.derivation) ?? [];
      this.#drop(oldest, ranges, countUpTo(ranges, oldest.from) - 1);
    }
  }

  #drop(cached: Cached, ranges: Cached[], at: number): void {
    ranges.splice(at, 1);
    this.#byUse.delete(cached);
    this.#bytes -= cached.bytes;
  }
}

export interface CachedRange<T extends Derived> extends DerivedRange<T> {
  /** The number of the newest commit group that it may depend on. */
  readonly newest: number;
}

interface Cached extends CachedRange<Derived> {
  readonly derivation: Derivation<Derived>;
  /** The size that was last added to the total. */
  bytes: number;
}

/** The number of ranges that begin at or before this key. */
function countUpTo(ranges: readonly Cached[], key: Bytes): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as Cached).from.compare(key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
