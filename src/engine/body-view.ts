import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import { KEY_BYTES_MAX } from "../base/keys.ts";
import type { Stamp } from "../base/stamp.ts";
import { deriveRange } from "../store/accelerated.ts";
import type { Derivation, Derived, DerivedRange } from "../store/acceleration.ts";
import type { Entry, RangeOptions } from "../store/entry.ts";
import type { Transaction, View } from "../store/store.ts";
import type { CachedRanges } from "./cached-ranges.ts";
import { type Named, nameOf, SortedItems } from "./sorted-items.ts";

/** From this many writes on, a transaction finds them by an index instead of a linear search. */
const MANY_WRITES = 16;

/** One consistent state of an engine's records, on which bodies run. */
export interface State {
  /**
   * The number of the newest commit group that was read so far. An engine whose bodies may read
   * writes before they are durable delays an answer until this group is.
   */
  newest: number;
  /** `name` is `nameOf(key)`, if the caller has it. */
  get(key: Bytes, name?: string): Bytes | undefined;
  /** Entries with `from <= key < until`, found lazily. */
  scan(from: Bytes, until: Bytes, reverse: boolean, skipsDamaged: boolean): Iterable<Entry>;
  /** Whether the value of this name has `size` bytes and can be appended to in place. */
  canAppend(name: string, size: number): boolean;
}

/** A write that is applied after its body has returned; a null value deletes. */
export interface Write {
  /** `nameOf(key)`. */
  readonly name: string;
  readonly key: Bytes;
  readonly value: Bytes | null;
  /** Whether the value is appended to the present one instead of replacing it. */
  readonly isAppend: boolean;
}

/** A write as scans see it: with the whole value of its key. */
type LaidWrite = Omit<Write, "name" | "isAppend">;

type PlacedWrite = Named & { readonly place: number };

/** Runs a body on its view, which cannot be used afterwards. */
export function runBody<V extends BodyView, T>(body: (view: V) => T, view: V): T {
  try {
    return body(view);
  } catch (error) {
    view.discard();
    throw error;
  } finally {
    view.end();
  }
}

/** The view of one run of a body. */
export class BodyView implements View {
  protected readonly state: State;
  readonly #nowMs: Instant;
  readonly #cache: CachedRanges | null;
  #ended = false;
  #releases: (() => void)[] | null = null;

  /** `cache` has ranges derived from exactly this state; null for no cache. */
  constructor(state: State, nowMs: Instant, cache: CachedRanges | null) {
    this.state = state;
    this.#nowMs = nowMs;
    this.#cache = cache;
  }

  get(key: Bytes, name?: string): Bytes | undefined {
    this.check(key);
    return this.state.get(key, name);
  }

  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[] {
    const { reverse = false, skipsDamaged = false } = options;
    return take(this.scan(from, until, reverse, skipsDamaged), options);
  }

  derivedRange<T extends Derived>(
    derivation: Derivation<T>,
    from: Bytes,
    until: Bytes,
    limit: number,
  ): DerivedRange<T> {
    this.check(from);
    this.check(until);
    const { state } = this;
    const cached = this.#cache?.find(derivation, from) ?? null;
    if (cached !== null) {
      state.newest = Math.max(state.newest, cached.newest);
      return cached;
    }
    const end = this.#cache?.untilNext(derivation, from, until) ?? until;
    const { range, entries } = deriveRange(this, derivation, from, end, limit);
    this.#cache?.add(derivation, range, entries, state.newest);
    return range;
  }

  now(): Instant {
    return this.#nowMs;
  }

  onDiscard(release: () => void): void {
    this.checkNotEnded();
    this.#releases ??= [];
    this.#releases.push(release);
  }

  /** Calls what the body registered with `onDiscard`, last first. */
  discard(): void {
    const releases = this.#releases;
    this.#releases = null;
    for (let release = releases?.pop(); release !== undefined; release = releases?.pop()) release();
  }

  end(): void {
    this.#ended = true;
  }

  protected scan(
    from: Bytes,
    until: Bytes,
    reverse: boolean,
    skipsDamaged: boolean,
  ): Iterable<Entry> {
    this.check(from);
    this.check(until);
    return this.state.scan(from, until, reverse, skipsDamaged);
  }

  protected check(key: Bytes): void {
    this.checkNotEnded();
    if (key.length === 0 || key.length > KEY_BYTES_MAX) {
      throw new RangeError(`a key of ${key.length} bytes: it must have 1 to ${KEY_BYTES_MAX}`);
    }
  }

  protected checkNotEnded(): void {
    if (this.#ended) throw new Error("a view was used after its body had ended");
  }
}

/** Buffers the writes of a body; the engine applies them once the body has returned. */
export class BodyTransaction extends BodyView implements Transaction {
  readonly #writes: Write[] = [];
  /** The index of each write by name, once there are many. */
  #places: Map<string, number> | null = null;
  /** The same in the order of keys, from the first scan over many writes on. */
  #sorted: SortedItems<PlacedWrite> | null = null;
  readonly #nextStamp: (nowMs: Instant) => Stamp;
  #tookStamp = false;

  constructor(state: State, nowMs: Instant, nextStamp: (nowMs: Instant) => Stamp) {
    // No cache: ranges derived from uncommitted writes must not be visible to others.
    super(state, nowMs, null);
    this.#nextStamp = nextStamp;
  }

  /** At most one write per key. */
  get writes(): readonly Write[] {
    return this.#writes;
  }

  get tookStamp(): boolean {
    return this.#tookStamp;
  }

  override get(key: Bytes): Bytes | undefined {
    if (this.#writes.length === 0) return super.get(key);
    const name = nameOf(key);
    const write = this.#writes[this.#placeOf(name)];
    return write === undefined ? super.get(key, name) : (this.#valueOf(write) ?? undefined);
  }

  set(key: Bytes, value: Bytes): void {
    this.check(key);
    this.#write({ name: nameOf(key), key, value, isAppend: false });
  }

  delete(key: Bytes): void {
    this.check(key);
    this.#write({ name: nameOf(key), key, value: null, isAppend: false });
  }

  append(key: Bytes, size: number, more: Bytes): boolean {
    this.check(key);
    const name = nameOf(key);
    const write = this.#writes[this.#placeOf(name)];
    if (write === undefined) {
      if (!this.state.canAppend(name, size)) return false;
      this.#write({ name, key, value: more, isAppend: true });
      return true;
    }
    const value = this.#valueOf(write);
    if (value?.length !== size) return false;
    this.#write({ name, key, value: Buffer.concat([value, more]), isAppend: false });
    return true;
  }

  /** The value of the key after this write. */
  #valueOf({ name, key, value, isAppend }: Write): Bytes | null {
    if (!isAppend || value === null) return value;
    return Buffer.concat([super.get(key, name) as Bytes, value]);
  }

  #write(write: Write): void {
    const { name } = write;
    const place = this.#placeOf(name);
    if (place === this.#writes.length) this.#sorted?.add({ name, place });
    this.#writes[place] = write;
    if (this.#writes.length < MANY_WRITES) return;
    this.#places ??= new Map(this.#writes.map((write, at) => [write.name, at]));
    this.#places.set(name, place);
  }

  /** The index of the write to this name, or the next free one. */
  #placeOf(name: string): number {
    const writes = this.#writes;
    if (this.#places !== null) return this.#places.get(name) ?? writes.length;
    let place = 0;
    while (place < writes.length && writes[place]?.name !== name) place++;
    return place;
  }

  stamp(): Stamp {
    this.checkNotEnded();
    this.#tookStamp = true;
    return this.#nextStamp(this.now());
  }

  protected override scan(
    from: Bytes,
    until: Bytes,
    reverse: boolean,
    skipsDamaged: boolean,
  ): Iterable<Entry> {
    const below = super.scan(from, until, reverse, skipsDamaged);
    const above = this.#writesIn(from, until, reverse);
    return above === null ? below : layWrites(above, below, reverse ? -1 : 1);
  }

  /** The writes to a range of keys in the order of a scan; null if there are none. */
  #writesIn(from: Bytes, until: Bytes, reverse: boolean): Iterable<LaidWrite> | null {
    if (this.#writes.length >= MANY_WRITES) return this.#manyWritesIn(from, until, reverse);
    const found: LaidWrite[] = [];
    for (const write of this.#writes) {
      const { key } = write;
      const isInside = key.compare(from) >= 0 && key.compare(until) < 0;
      if (isInside) found.push({ key, value: this.#valueOf(write) });
    }
    const sign = reverse ? -1 : 1;
    return found.length === 0 ? null : found.sort((a, b) => sign * a.key.compare(b.key));
  }

  #manyWritesIn(from: Bytes, until: Bytes, reverse: boolean): Iterable<LaidWrite> | null {
    const sorted = this.#sorted ?? new SortedItems();
    if (this.#sorted === null) {
      for (const [place, { name }] of this.#writes.entries()) sorted.add({ name, place });
      this.#sorted = sorted;
    }
    const [first, end] = [nameOf(from), nameOf(until)];
    return sorted.hasAny(first, end) ? this.#laid(sorted.scan(first, end, reverse)) : null;
  }

  *#laid(placed: Iterable<PlacedWrite>): Generator<LaidWrite> {
    for (const { place } of placed) {
      const write = this.#writes[place] as Write;
      yield { key: write.key, value: this.#valueOf(write) };
    }
  }
}

function take(entries: Iterable<Entry>, { limit, bytesMax }: RangeOptions): Entry[] {
  const taken: Entry[] = [];
  if (limit <= 0) return taken;
  let room = bytesMax ?? Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    taken.push(entry);
    room -= entry.key.length + entry.value.length;
    if (taken.length >= limit || room <= 0) break;
  }
  return taken;
}

/** Merges writes over entries. Both are sorted, ascending if `sign` is 1, else descending. */
export function* layWrites(
  above: Iterable<LaidWrite>,
  below: Iterable<Entry>,
  sign: 1 | -1,
): Generator<Entry> {
  const writes = above[Symbol.iterator]();
  let next = writes.next();
  for (const entry of below) {
    let hidden = false;
    for (; next.done !== true; next = writes.next()) {
      const { key, value } = next.value;
      const order = sign * key.compare(entry.key);
      if (order > 0) break;
      if (order === 0) hidden = true;
      if (value !== null) yield { key, value };
    }
    if (!hidden) yield entry;
  }
  for (; next.done !== true; next = writes.next()) {
    const { key, value } = next.value;
    if (value !== null) yield { key, value };
  }
}
