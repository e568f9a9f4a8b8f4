import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import { KEY_BYTES_MAX } from "../base/keys.ts";
import type { Stamp } from "../base/stamp.ts";
import {
  type Derivation,
  type Derived,
  type DerivedRange,
  deriveRange,
} from "../store/acceleration.ts";
import type { Entry, RangeOptions, Transaction, View } from "../store/store.ts";
import type { CachedRanges } from "./cached-ranges.ts";
import { nameOf } from "./sorted-items.ts";

/** So many are found sooner by their names than one by one. */
const MANY_WRITES = 16;

/** One state, as an engine offers it to the bodies that run on it. */
export interface State {
  /**
   * How recent the newest thing is that was read so far: an engine that lets bodies read what is not
   * durable yet sees by it what an answer has to wait for.
   */
  newest: number;
  /** `name` is that of the key, where it is known. */
  get(key: Bytes, name?: string): Bytes | undefined;
  /** Entries with `from <= key < until`, each found when it is asked for. */
  scan(from: Bytes, until: Bytes, reverse: boolean, sparesDamaged: boolean): Iterable<Entry>;
  /** Whether bytes can be put behind the value of this name, and it has so many. */
  canAppend(name: string, size: number): boolean;
}

/** A write that waits for its body to return; null deletes. */
export interface Write {
  /** Of `key`. */
  readonly name: string;
  readonly key: Bytes;
  readonly value: Bytes | null;
  /** Whether it goes behind the value that is there, instead of taking its place. */
  readonly isAppend: boolean;
}

/** Runs a body on its view, which is of no use to anybody afterwards. */
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

export class BodyView implements View {
  protected readonly state: State;
  readonly #nowMs: Instant;
  readonly #cache: CachedRanges | null;
  #ended = false;
  #releases: (() => void)[] | null = null;

  /** `cache` holds ranges derived from this very state; null if nothing of it is cached. */
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
    const { reverse = false, sparesDamaged = false } = options;
    return take(this.scan(from, until, reverse, sparesDamaged), options);
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
    this.#cache?.keep(derivation, range, entries, state.newest);
    return range;
  }

  now(): Instant {
    return this.#nowMs;
  }

  onDiscard(release: () => void): void {
    this.checkLife();
    this.#releases ??= [];
    this.#releases.push(release);
  }

  /** Gives back, last first, what its body has acquired: nobody gets what the body returned. */
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
    sparesDamaged: boolean,
  ): Iterable<Entry> {
    this.check(from);
    this.check(until);
    return this.state.scan(from, until, reverse, sparesDamaged);
  }

  protected check(key: Bytes): void {
    this.checkLife();
    if (key.length === 0 || key.length > KEY_BYTES_MAX) {
      throw new RangeError(`a key of ${key.length} bytes: it must have 1 to ${KEY_BYTES_MAX}`);
    }
  }

  protected checkLife(): void {
    if (this.#ended) throw new Error("a view was used after its body had ended");
  }
}

/** Keeps what its body writes to itself; the engine applies `writes` once the body has returned. */
export class BodyTransaction extends BodyView implements Transaction {
  readonly #writes: Write[] = [];
  /** Where they stand, by their names, once there are many. */
  #places: Map<string, number> | null = null;
  readonly #nextStamp: (nowMs: Instant) => Stamp;
  #tookStamp = false;

  constructor(state: State, nowMs: Instant, nextStamp: (nowMs: Instant) => Stamp) {
    // What it writes is to be seen by itself alone.
    super(state, nowMs, null);
    this.#nextStamp = nextStamp;
  }

  /** One for each key. */
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

  /** What is there once this has been written. */
  #valueOf({ name, key, value, isAppend }: Write): Bytes | null {
    if (!isAppend || value === null) return value;
    return Buffer.concat([super.get(key, name) as Bytes, value]);
  }

  #write(write: Write): void {
    const { name } = write;
    const place = this.#placeOf(name);
    this.#writes[place] = write;
    if (this.#writes.length < MANY_WRITES) return;
    this.#places ??= new Map(this.#writes.map((write, at) => [write.name, at]));
    this.#places.set(name, place);
  }

  /** Of the write to this name, or where there is room for one. */
  #placeOf(name: string): number {
    const writes = this.#writes;
    if (this.#places !== null) return this.#places.get(name) ?? writes.length;
    let place = 0;
    while (place < writes.length && writes[place]?.name !== name) place++;
    return place;
  }

  stamp(): Stamp {
    this.checkLife();
    this.#tookStamp = true;
    return this.#nextStamp(this.now());
  }

  protected override scan(
    from: Bytes,
    until: Bytes,
    reverse: boolean,
    sparesDamaged: boolean,
  ): Iterable<Entry> {
    const below = super.scan(from, until, reverse, sparesDamaged);
    if (this.#writes.length === 0) return below;
    const above: Omit<Write, "name" | "isAppend">[] = [];
    for (const write of this.#writes) {
      const { key } = write;
      const isInside = key.compare(from) >= 0 && key.compare(until) < 0;
      if (isInside) above.push({ key, value: this.#valueOf(write) });
    }
    if (above.length === 0) return below;
    const sign = reverse ? -1 : 1;
    above.sort((a, b) => sign * a.key.compare(b.key));
    return layWrites(above, below, sign);
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

/** Entries with writes laid over them; both come in the same order, which `sign` tells. */
export function* layWrites(
  above: Iterable<Omit<Write, "name" | "isAppend">>,
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
