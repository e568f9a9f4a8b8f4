import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { ChangeListener } from "../../store/store.ts";
import { CachedRanges } from "../cached-ranges.ts";
import { keyOf, type Named, nameOf, SortedItems } from "../sorted-items.ts";
import { type Interval, Intervals } from "./intervals.ts";

/** The overhead of an item or interval, beside key and value. */
const ITEM_BYTES = 200;

/** An interval that has grown to this size is not extended any more. */
const INTERVAL_BYTES_MAX = 256 * KIB;

/** Bodies that read on from an interval get twice as many records as before, up to this number. */
const AHEAD_RECORDS_MAX = 1_024;

/** What is known of a key: its value, null if it has none, undefined if that must be fetched. */
export type Known = Bytes | null | undefined;

/** A key that a commit changed, with what is known of its value afterwards. */
export interface ChangedKey {
  readonly key: Bytes;
  readonly value: Known;
}

/** A statement that is being answered. It notes what commits change in the meantime. */
export interface Fetch {
  /** The number of the last commit that changed a name. */
  readonly changed: Map<string, number>;
  /** An answer as of an earlier commit is useless: the cache lost track of what changed since. */
  usefulFrom: number;
}

/**
 * What a front end knows of the records, as of one commit. It is never stale: whoever runs a body
 * on it first learns the database's last commit, and all changes up to it.
 */
export class RecordCache {
  /** Ranges derived from the records of this commit. */
  derived = new CachedRanges();
  /** Names of keys that the next batch is going to fetch. */
  readonly awaited = new Set<string>();
  readonly #bytesMax: number;
  readonly #tell: ChangeListener;
  readonly #items = new SortedItems<Item>();
  readonly #intervals = new Intervals<KnownInterval>();
  /** Oldest first; a part that was used since it was last looked at gets another chance. */
  readonly #parts = new Set<Item | KnownInterval>();
  readonly #fetches = new Set<Fetch>();
  /** Counts the batches of records that were learned. */
  #round = 0;
  #holds = 0;
  #bytes = 0;
  #number: number | null = null;
  #lastStamp: Stamp = 0n;

  /** `tell` gets the keys of each commit that it advances to, or null if it lost track. */
  constructor(bytesMax: number, tell: ChangeListener = () => {}) {
    this.#bytesMax = bytesMax;
    this.#tell = tell;
  }

  /** The number of the commit that it shows; null if it knows nothing yet. */
  get number(): number | null {
    return this.#number;
  }

  /** No record that it shows has a later stamp. */
  get lastStamp(): Stamp {
    return this.#lastStamp;
  }

  /** Notes the last stamp of a commit that it is about to show. */
  hearStamp(stamp: Stamp): void {
    if (stamp > this.#lastStamp) this.#lastStamp = stamp;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): Known {
    const item = this.#items.get(name);
    if (item !== undefined) {
      this.#use(item.home ?? item);
      return item.value;
    }
    const interval = this.#intervals.at(name);
    if (interval === undefined) return undefined;
    this.#use(interval);
    return null;
  }

  /** The interval in which a name lies, or, descending, the names before it. */
  intervalAt(name: string, reverse: boolean): Interval | undefined {
    const interval = reverse ? this.#intervals.endingAt(name) : this.#intervals.at(name);
    if (interval !== undefined) this.#use(interval);
    return interval;
  }

  /** The unknown range that begins at `from`, or, descending, ends at `until`. */
  gapIn(from: string, until: string, reverse: boolean): Interval {
    if (reverse) return { from: this.#intervals.lastUntil(until, from), until };
    return { from, until: this.#intervals.nextFrom(from, until) };
  }

  /** How many records to fetch for a range whose interval, if it has one, ends where it begins. */
  recordsAhead({ from, until }: Interval, reverse: boolean): number {
    const next = reverse ? this.#intervals.at(until) : this.#intervals.endingAt(from);
    const adjoins = reverse ? next?.from === until : next?.until === from;
    return adjoins ? (next?.ahead ?? 0) : 0;
  }

  /** Items of known intervals. */
  scan(from: string, until: string, reverse: boolean): Iterable<Readonly<Item>> {
    return this.#items.scan(from, until, reverse);
  }

  /** Forgets everything: what the database holds may have nothing to do with it. */
  forget(number: number | null): void {
    for (const part of [...this.#parts]) this.#drop(part);
    for (const fetch of this.#fetches) fetch.usefulFrom = number ?? Number.POSITIVE_INFINITY;
    this.derived = new CachedRanges();
    this.#number = number;
    this.#tell(null);
  }

  /** Advances to a commit by the keys that it changed. */
  advance(number: number, changed: readonly ChangedKey[]): void {
    this.#number = number;
    for (const { key, value } of changed) {
      const name = nameOf(key);
      this.derived.change(key);
      for (const fetch of this.#fetches) fetch.changed.set(name, number);
      this.#change(name, value);
    }
    if (changed.length > 0) this.#tell(changed.map(({ key }) => key));
  }

  /** Advances to a commit of this front end, whose values are worth remembering. */
  advanceByOwn(number: number, changed: readonly ChangedKey[]): void {
    this.advance(number, changed);
    for (const { key, value } of changed) if (value !== undefined) this.#learn(nameOf(key), value);
  }

  /** Evicts nothing until `release`: a body that needs several rounds must not lose the first. */
  hold(): void {
    this.#holds++;
  }

  release(): void {
    this.#holds--;
  }

  /**
   * Evicts what is too much, before another batch of records is learned. What bodies used since the
   * batch before the last stays: they are going to run again and need it.
   */
  makeRoom(): void {
    this.#round++;
    if (this.#holds > 0) return;
    let visits = 2 * this.#parts.size;
    for (const part of this.#parts) {
      if (this.#bytes <= this.#bytesMax || visits-- <= 0) return;
      if (!part.isUsed && part.usedIn < this.#round - 1) {
        this.#drop(part);
        continue;
      }
      part.isUsed = false;
      this.#parts.delete(part);
      this.#parts.add(part);
    }
  }

  beginFetch(): Fetch {
    const fetch = { changed: new Map<string, number>(), usefulFrom: 0 };
    this.#fetches.add(fetch);
    return fetch;
  }

  endFetch(fetch: Fetch): void {
    this.#fetches.delete(fetch);
  }

  /** Learns the value of a key as of a commit, unless a later one is known to have changed it. */
  learnKey(fetch: Fetch, number: number, key: Bytes, value: Bytes | null): void {
    if (number < fetch.usefulFrom) return;
    const name = nameOf(key);
    if ((fetch.changed.get(name) ?? 0) <= number) this.#learn(name, value);
  }

  /** Learns all records of a range as of a commit; those changed by a later one stay unknown. */
  learnRange(fetch: Fetch, number: number, range: Interval, records: Iterable<ChangedKey>): void {
    if (number < fetch.usefulFrom) return;
    const gaps = this.#intervals.gaps(range.from, range.until).map((gap) => this.#addInterval(gap));
    const homeOf = (name: string) => gaps.find(({ from, until }) => name >= from && name < until);
    for (const [name, changedBy] of fetch.changed) {
      if (changedBy <= number || this.#items.get(name) !== undefined) continue;
      const home = homeOf(name);
      if (home !== undefined) this.#add(name, undefined, home);
    }
    let count = 0;
    let isWhole = true;
    for (const { key, value } of records) {
      if (value === undefined) isWhole = false;
      else count++;
      const name = nameOf(key);
      const home = homeOf(name);
      if (home !== undefined && this.#items.get(name) === undefined) this.#add(name, value, home);
    }
    const ahead = Math.min(isWhole ? 2 * count : count, AHEAD_RECORDS_MAX);
    for (const gap of gaps) gap.ahead = ahead;
  }

  /** An interval takes over the items in it that were known before. */
  #addInterval({ from, until }: Interval): KnownInterval {
    const interval = this.#extended(from, until) ?? this.#newInterval(from, until);
    for (const item of [...this.#items.scan(from, until, false)]) {
      const { name, value } = item;
      this.#drop(item);
      // Without an item there is no record. Nulls would be found by no one.
      if (value !== null) this.#add(name, value, interval);
    }
    return interval;
  }

  /** Extends a neighbour, unless it would be too much to evict at once. */
  #extended(from: string, until: string): KnownInterval | null {
    const before = this.#intervals.endingAt(from);
    if (before?.until === from && before.bytes < INTERVAL_BYTES_MAX) {
      before.until = until;
      return before;
    }
    const behind = this.#intervals.at(until);
    if (behind?.from !== until || behind.bytes >= INTERVAL_BYTES_MAX) return null;
    behind.from = from;
    return behind;
  }

  #newInterval(from: string, until: string): KnownInterval {
    const interval = {
      from,
      until,
      isUsed: true,
      usedIn: this.#round,
      bytes: ITEM_BYTES,
      ahead: 0,
    };
    this.#intervals.add(interval);
    this.#parts.add(interval);
    this.#bytes += interval.bytes;
    return interval;
  }

  #change(name: string, value: Known): void {
    const item = this.#items.get(name);
    const home = item === undefined ? this.#intervals.at(name) : item.home;
    if (item !== undefined) this.#replace(item, value);
    else if (home !== undefined) this.#add(name, value, home);
  }

  #learn(name: string, value: Bytes | null): void {
    const item = this.#items.get(name);
    if (item !== undefined) this.#replace(item, value);
    else this.#add(name, value, this.#intervals.at(name) ?? null);
  }

  /** Many changed values are of known keys, whose place among the items stays the same. */
  #replace(item: Item, value: Known): void {
    if (!isWorthKnowing(value, item.home)) {
      this.#remove(item);
      return;
    }
    const more = (value?.length ?? 0) - (item.value?.length ?? 0);
    item.value = value;
    item.bytes += more;
    this.#bytes += more;
    if (item.home !== null) item.home.bytes += more;
    this.#use(item);
  }

  #add(name: string, value: Known, home: KnownInterval | null): void {
    if (!isWorthKnowing(value, home)) return;
    const bytes = ITEM_BYTES + name.length + (value?.length ?? 0);
    const item = { name, key: keyOf(name), value, home, bytes, isUsed: true, usedIn: this.#round };
    this.#items.add(item);
    this.#bytes += bytes;
    if (home === null) this.#parts.add(item);
    else home.bytes += bytes;
  }

  #remove(item: Item): void {
    this.#items.delete(item.name);
    this.#bytes -= item.bytes;
    if (item.home === null) this.#parts.delete(item);
    else item.home.bytes -= item.bytes;
  }

  #use(part: Part): void {
    part.isUsed = true;
    part.usedIn = this.#round;
  }

  #drop(part: Item | KnownInterval): void {
    if ("name" in part) {
      this.#remove(part);
      return;
    }
    for (const item of [...this.#items.scan(part.from, part.until, false)]) this.#remove(item);
    this.#intervals.delete(part);
    this.#parts.delete(part);
    this.#bytes -= ITEM_BYTES;
  }
}

/** What is evicted as a whole. */
interface Part {
  isUsed: boolean;
  /** The round in which it was last used. */
  usedIn: number;
}

interface Item extends Named, Part {
  readonly key: Bytes;
  value: Known;
  /** The interval to which it belongs; null for a key that was fetched by itself. */
  readonly home: KnownInterval | null;
  bytes: number;
}

/** Outside of intervals an unknown value needs no item, inside of them a missing one. */
function isWorthKnowing(value: Known, home: KnownInterval | null): boolean {
  return home === null ? value !== undefined : value !== null;
}

interface KnownInterval extends Part {
  from: string;
  until: string;
  bytes: number;
  /** How many records to fetch for a body that reads on from here. */
  ahead: number;
}
