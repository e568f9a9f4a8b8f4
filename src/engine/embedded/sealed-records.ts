import type { Bytes } from "../../base/bytes.ts";
import { KEY_BYTES_MAX } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import { type Entry, type OnDamage, StoreError, unlessDamaged } from "../../store/store.ts";
import { SEAL_BYTES, seal, unseal } from "./envelope.ts";
import type { Lmdb } from "./lmdb.ts";
import { RecentRecords } from "./recent-records.ts";

const SCRATCH_BYTES = 64 * KIB;
const SPACES = 256;
const PROVEN_STARTS_MAX = 4_096;
/** Stands for the last key of a space as long as nothing can be proved there. */
const NEVER_BEHIND = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff);

/**
 * LMDB with every value sealed: what is read is what was written, or a "damaged" error. A key that is
 * damaged leads LMDB astray, so what it does not find is looked for between two neighbours that are
 * whole and in order: if they lie next to each other, there is nothing between them.
 */
export class SealedRecords {
  readonly #lmdb: Lmdb;
  readonly #onDamage: OnDamage;
  /** LMDB copies a value while it takes it, so that one place serves all of them. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** While one of them is being changed, nobody reads it here: the memtable has what it will be. */
  readonly #recent = new RecentRecords();

  /**
   * The last key that LMDB has, or may have, of each space: null if it has none, undefined if nobody
   * knows. Many keys begin with a stamp, and what is asked for is often newer than all that LMDB has:
   * then it need not be asked.
   */
  readonly #lastKeys = new Array<Bytes | null | undefined>(SPACES).fill(undefined);
  /** What was asked for since `forgetMisses`, and not found: the first `#misses` of these. */
  readonly #missed: Bytes[] = [];
  #misses = 0;
  /** Where scans begin for which that was proved already; some of LMDB may have changed since. */
  readonly #provenStarts = new Map<string, boolean>();

  constructor(lmdb: Lmdb, onDamage: OnDamage = () => {}) {
    this.#lmdb = lmdb;
    this.#onDamage = onDamage;
  }

  get(key: Bytes): Bytes | undefined {
    const value = this.#find(key);
    if (value === undefined) this.#missed[this.#misses++] = key;
    return value;
  }

  forgetMisses(): void {
    this.#misses = 0;
  }

  /**
   * Throws if one of the records that were not found may be there all the same. That takes many times
   * as long as not to find them: it is for those who are about to say that something is missing.
   */
  proveMisses(): void {
    for (const key of this.#missed.splice(0, this.#misses)) {
      const neighbours = [this.#proveBelow(key), this.#proveAbove(key)];
      if (neighbours.some((found) => found?.equals(key))) throw outOfOrder(key);
    }
    this.#misses = 0;
  }

  #find(key: Bytes): Bytes | undefined {
    if (this.#isBehindAll(key)) return undefined;
    const recent = this.#recent.find(key);
    if (recent !== undefined) return recent.value;
    const sealed = this.#lmdb.get(key);
    const value = sealed === undefined ? undefined : this.#unseal(key, sealed);
    this.#recent.keep(key, value);
    return value;
  }

  /** `skipsDamaged` leaves out records that are damaged: nothing tells where they belong. */
  scan(from: Bytes, until: Bytes, reverse: boolean, skipsDamaged = false): Iterable<Entry> {
    if (from[0] === until[0] && this.#isBehindAll(from)) return [];
    return reverse
      ? this.#scanDown(from, until, skipsDamaged)
      : this.#scanUp(from, until, skipsDamaged);
  }

  #unseal(key: Bytes, sealed: Bytes): Bytes {
    try {
      return unseal(key, sealed);
    } catch (error) {
      this.#onDamage(Buffer.from(key));
      throw error;
    }
  }

  /** Null for a damaged record that is to be left out. */
  #open(key: Bytes, sealed: Bytes, skipsDamaged: boolean): Entry | null {
    const open = () => ({ key, value: this.#unseal(key, sealed) });
    return skipsDamaged ? unlessDamaged(open) : open();
  }

  /** Inside a write transaction only, as `remove`. */
  put(key: Bytes, value: Bytes): void {
    const size = value.length + SEAL_BYTES;
    const room = size <= SCRATCH_BYTES ? this.#scratch : Buffer.allocUnsafeSlow(size);
    this.#noteKey(key);
    this.#lmdb.putSync(key, seal(key, value, room));
    this.#recent.forget(key);
  }

  remove(key: Bytes): void {
    if (this.#isKnownBehindAll(key)) return;
    this.#lmdb.removeSync(key);
    this.#recent.forget(key);
  }

  /** Finds out where a space ends, if nobody knows: what is removed behind that costs nothing. */
  findEnd(space: number): void {
    if (this.#lastKeys[space] === undefined) this.#lastKeys[space] = this.#proveLast(space);
  }

  /** All that was put and removed so far is what LMDB reads: spaces may end before they did. */
  lookAnew(): void {
    this.#lastKeys.fill(undefined);
    this.#provenStarts.clear();
  }

  /** Whether LMDB has nothing of its space from this key on. */
  #isBehindAll(key: Bytes): boolean {
    this.findEnd(key[0] as number);
    return this.#isKnownBehindAll(key);
  }

  /** The same, as far as it is known. */
  #isKnownBehindAll(key: Bytes): boolean {
    const last = this.#lastKeys[key[0] as number];
    return last === null || (last !== undefined && key.compare(last) > 0);
  }

  /** A key that LMDB is about to have: what is proved before it reads that would be too little. */
  #noteKey(key: Bytes): void {
    const space = key[0] as number;
    const last = this.#lastKeys[space];
    if (last === undefined) this.#lastKeys[space] = NEVER_BEHIND;
    else if (last === null || key.compare(last) > 0) this.#lastKeys[space] = key;
  }

  /** Next to a damaged record nothing is proved, and LMDB is asked each time. */
  #proveLast(space: number): Bytes | null {
    try {
      const end = Buffer.alloc(KEY_BYTES_MAX, 0xff);
      end[0] = space;
      const last = this.#proveBelow(end);
      this.#proveAbove(end);
      return last?.[0] === space ? Buffer.from(last) : null;
    } catch (error) {
      if (error instanceof StoreError) return NEVER_BEHIND;
      throw error;
    }
  }

  *#scanUp(from: Bytes, until: Bytes, skipsDamaged: boolean): Generator<Entry> {
    const prove = () => this.#proveStart(from, false);
    const isFirstThere = (skipsDamaged ? unlessDamaged(prove) : prove()) === true;
    let last: Bytes | null = null;
    // LMDB is told no end: the record behind the last one is to be seen, for its key may be damaged.
    for (const { key, value } of this.#lmdb.getRange({ start: from })) {
      const entry = this.#open(key, value, skipsDamaged);
      if (entry === null) continue;
      const order = key.compare(last ?? from);
      if (order < 0 || (order === 0 && last !== null)) throw outOfOrder(key);
      const isPassed = isFirstThere && last === null && order > 0;
      // What was there when it was proved may have gone with what was settled since.
      if (isPassed && this.#proveBelow(from)?.equals(from) === true) throw outOfOrder(key);
      if (key.compare(until) >= 0) return;
      yield entry;
      last = key;
    }
  }

  *#scanDown(from: Bytes, until: Bytes, skipsDamaged: boolean): Generator<Entry> {
    const prove = () => this.#proveStart(until, true);
    if (skipsDamaged) unlessDamaged(prove);
    else prove();
    let behind: Bytes | null = null;
    // Nor is LMDB told to leave `until` out: it would leave out others whose keys have become the same.
    for (const { key, value } of this.#lmdb.getRange({ start: until, reverse: true })) {
      const entry = this.#open(key, value, skipsDamaged);
      if (entry === null) continue;
      const order = key.compare(behind ?? until);
      if (order > 0 || (order === 0 && behind !== null)) throw outOfOrder(key);
      if (key.compare(from) < 0) return;
      if (order !== 0) yield entry;
      behind = key;
    }
  }

  /**
   * Of the two neighbours of where a scan begins, it comes upon one. This is about the other, and
   * tells whether that is there itself.
   */
  #proveStart(at: Bytes, reverse: boolean): boolean {
    const name = (reverse ? "<" : ">") + at.toString("latin1");
    const proven = this.#provenStarts.get(name);
    if (proven !== undefined) return proven;
    const found = reverse ? this.#proveAbove(at) : this.#proveBelow(at);
    const isThere = found?.equals(at) === true;
    if (this.#provenStarts.size < PROVEN_STARTS_MAX) this.#provenStarts.set(name, isThere);
    return isThere;
  }

  /** The key of the last record that is there or before. */
  #proveBelow(at: Bytes): Bytes | undefined {
    return this.#prove(this.#lmdb.getRange({ start: at, reverse: true, limit: 1 }), at, -1);
  }

  /** The key of the first record that is there or behind. */
  #proveAbove(at: Bytes): Bytes | undefined {
    return this.#prove(this.#lmdb.getRange({ start: at, limit: 1 }), at, 1);
  }

  #prove(found: Iterable<Entry>, at: Bytes, sign: 1 | -1): Bytes | undefined {
    const [entry] = found;
    if (entry === undefined) return undefined;
    this.#unseal(entry.key, entry.value);
    if (sign * entry.key.compare(at) < 0) throw outOfOrder(entry.key);
    return entry.key;
  }
}

function outOfOrder(key: Bytes): StoreError {
  const message = `the record ${key.toString("hex")} is not where it belongs: keys are damaged on disk`;
  return new StoreError("damaged", message);
}
