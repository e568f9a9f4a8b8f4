import type { Bytes } from "../../base/bytes.ts";
import type { Need, NeededRange } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import { layWrites, type State, type Write } from "../body-view.ts";
import { keyOf, type Named, nameOf, SortedItems } from "../sorted-items.ts";
import type { Interval } from "./intervals.ts";
import type { RecordCache } from "./record-cache.ts";

/** A part of a range that a body needs; `reverse` begins at its end. */
export interface NeededPart {
  readonly from: Bytes;
  readonly until: Bytes;
  readonly reverse: boolean;
  /** How many entries the body asked for. */
  readonly limit: number;
}

/** What a run of a body lacked. */
export class Needs {
  readonly keys = new Map<string, Bytes>();
  readonly parts: NeededPart[] = [];

  get isEmpty(): boolean {
    return this.keys.size === 0 && this.parts.length === 0;
  }
}

/** Ends a run of a body that needs something unknown. Whether it gets through does not matter. */
class Unknown extends Error {}

/** A run ends after so many guesses. */
const KEY_GUESSES_MAX = 16_384;
const RANGE_GUESSES_MAX = 4_096;
/** Of the unknown values that follow each other, so many are fetched at once. */
const UNKNOWN_VALUES_MAX = 64;

/**
 * The records as far as the cache knows them. A body that asks for something else has run in vain:
 * `needs` says what to fetch before it runs again. An unknown key seems to have no value, and an
 * unknown range no records, so that one run finds many of them. After too many, the run is ended.
 */
export class CachedState implements State {
  /** Everything that the cache shows is durable. */
  newest = 0;
  /** How many entries the next scan is going to take. */
  scanLimit = 1;
  /** Made when it is first needed: most reads lack nothing. */
  #needs: Needs | null = null;
  readonly #cache: RecordCache;
  readonly #rangeGuessesMax: number;

  /**
   * `guessesRanges` is false if somebody stores what is derived from ranges: a range that is only
   * guessed then ends the run.
   */
  constructor(cache: RecordCache, guessesRanges: boolean) {
    this.#cache = cache;
    this.#rangeGuessesMax = guessesRanges ? RANGE_GUESSES_MAX : 0;
  }

  get lacksNothing(): boolean {
    return this.#needs === null || this.#needs.isEmpty;
  }

  get needs(): Needs {
    this.#needs ??= new Needs();
    return this.#needs;
  }

  /** Returns what was lacked so far, and begins again. */
  takeNeeds(): Needs {
    const { needs } = this;
    this.#needs = null;
    return needs;
  }

  get(key: Bytes, name = nameOf(key)): Bytes | undefined {
    const value = this.#cache.get(name);
    if (value !== undefined) return value ?? undefined;
    this.needs.keys.set(name, key);
    if (this.needs.keys.size >= KEY_GUESSES_MAX) throw new Unknown();
    // A guess: most unknown keys have no value. The run is discarded, but shows what else it needs.
    return undefined;
  }

  scan(from: Bytes, until: Bytes, reverse: boolean): Iterable<Entry> {
    return reverse ? this.#scanDown(nameOf(from), nameOf(until)) : this.#scanUp(from, until);
  }

  /** Ends the run if something of this is unknown, with all of it in `needs`, and what is `next`. */
  prefetch(needs: Iterable<Need>, next?: () => Iterable<Need>): void {
    this.#note(needs);
    if (this.lacksNothing) return;
    // Many consumers lack the same first message: one of them names those behind it.
    if (next !== undefined && !this.#isAwaited()) this.#note(next());
    throw new Unknown();
  }

  #isAwaited(): boolean {
    const { keys, parts } = this.needs;
    return parts.length === 0 && [...keys.keys()].every((name) => this.#cache.awaited.has(name));
  }

  #note(needs: Iterable<Need>): void {
    for (const need of needs) {
      if (!Buffer.isBuffer(need)) this.#lookFor(need);
      else if (this.#cache.get(nameOf(need)) === undefined) this.needs.keys.set(nameOf(need), need);
    }
  }

  #lookFor({ from, until, options }: NeededRange): void {
    let { limit, bytesMax = Number.POSITIVE_INFINITY } = options;
    this.scanLimit = limit;
    try {
      for (const { key, value } of this.scan(from, until, options.reverse === true)) {
        bytesMax -= key.length + value.length;
        if (--limit <= 0 || bytesMax <= 0) return;
      }
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
    }
  }

  /** Values cannot be appended to in place: PostgreSQL writes a row as a whole. */
  canAppend(): false {
    return false;
  }

  *#scanUp(from: Bytes, until: Bytes): Generator<Entry> {
    const end = nameOf(until);
    for (let at = nameOf(from); at < end; ) {
      const interval = this.#cache.intervalAt(at, false);
      if (interval === undefined) return this.#noteUnknown(at, end, false);
      const stop = earlier(interval.until, end);
      yield* this.#known(at, stop, false);
      at = stop;
    }
  }

  *#scanDown(from: string, until: string): Generator<Entry> {
    for (let at = until; at > from; ) {
      const interval = this.#cache.intervalAt(at, true);
      if (interval === undefined) return this.#noteUnknown(from, at, true);
      const stop = interval.from > from ? interval.from : from;
      yield* this.#known(stop, at, true);
      at = stop;
    }
  }

  *#known(from: string, until: string, reverse: boolean): Generator<Entry> {
    for (const { key, value, name } of this.#cache.scan(from, until, reverse)) {
      if (value === undefined) throw this.#unknownValues(name, from, until, reverse);
      if (value !== null) yield { key, value };
    }
  }

  #noteUnknown(from: string, until: string, reverse: boolean): void {
    const gap = this.#cache.gapIn(from, until, reverse);
    const limit = this.scanLimit;
    this.needs.parts.push({ from: keyOf(gap.from), until: keyOf(gap.until), reverse, limit });
    if (this.needs.parts.length > this.#rangeGuessesMax) throw new Unknown();
  }

  #unknownValues(name: string, from: string, until: string, reverse: boolean): Unknown {
    const rest = reverse
      ? this.#cache.scan(from, name, true)
      : this.#cache.scan(name, until, false);
    this.needs.keys.set(name, keyOf(name));
    for (const item of rest) {
      if (this.needs.keys.size >= UNKNOWN_VALUES_MAX) break;
      if (item.value === undefined) this.needs.keys.set(item.name, item.key);
    }
    return new Unknown();
  }
}

function earlier(one: string, other: string): string {
  const isEarlier = one < other;
  return isEarlier ? one : other;
}

/** The state that the bodies of one group see: their own writes on top of the cache. */
export class GroupState implements State {
  newest = 0;
  readonly #below: CachedState;
  readonly #writes = new SortedItems<GroupWrite>();
  #bytes = 0;
  /** A range at whose beginning the group has deleted everything, as a scan has found. */
  #emptied: Interval | null = null;

  constructor(below: CachedState) {
    this.#below = below;
  }

  get writes(): Iterable<GroupWrite> {
    return this.#writes.scan("", "\u0100", false);
  }

  get size(): number {
    return this.#writes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: Bytes, name = nameOf(key)): Bytes | undefined {
    const write = this.#writes.get(name);
    return write === undefined ? this.#below.get(key, name) : (write.value ?? undefined);
  }

  scan(from: Bytes, until: Bytes, reverse: boolean): Iterable<Entry> {
    const [first, end] = [nameOf(from), nameOf(until)];
    if (!this.#writes.hasAny(first, end)) return this.#below.scan(from, until, reverse);
    if (!reverse && first === this.#emptied?.from && this.#emptied.until < end) {
      return this.#scanFrom(first, keyOf(this.#emptied.until), until);
    }
    return reverse ? this.#lay(from, until, true) : this.#scanFrom(first, from, until);
  }

  #lay(from: Bytes, until: Bytes, reverse: boolean): Iterable<Entry> {
    const writes = this.#writes.scan(nameOf(from), nameOf(until), reverse);
    return layWrites(writes, this.#below.scan(from, until, reverse), reverse ? -1 : 1);
  }

  /**
   * Notes where the first entry is: bodies that take the first message of a queue one after another
   * would otherwise pass by all that were taken before.
   */
  *#scanFrom(noted: string, from: Bytes, until: Bytes): Generator<Entry> {
    let isFirst = true;
    for (const entry of this.#lay(from, until, false)) {
      if (isFirst) this.#emptied = { from: noted, until: nameOf(entry.key) };
      isFirst = false;
      yield entry;
    }
  }

  canAppend(): false {
    return false;
  }

  apply({ name, key, value }: Write): void {
    const emptied = this.#emptied;
    if (value !== null && emptied !== null && name >= emptied.from && name < emptied.until) {
      this.#emptied = null;
    }
    this.#writes.delete(name);
    this.#writes.add({ name, key, value });
    this.#bytes += key.length + (value?.length ?? 0);
  }
}

export interface GroupWrite extends Named {
  readonly key: Bytes;
  readonly value: Bytes | null;
}
