import type { Bytes } from "../../base/bytes.ts";
import { KEY_BYTES_MAX } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import type { Entry } from "../../store/entry.ts";
import { type OnDamage, StoreError, unlessDamaged } from "../../store/store.ts";
import { SEAL_BYTES, seal, unseal } from "./envelope.ts";
import type { Lmdb } from "./lmdb.ts";
import { RecentRecords } from "./recent-records.ts";

const SCRATCH_BYTES = 64 * KIB;
const SPACES = 256;
const PROVEN_STARTS_MAX = 4_096;
/** Stands for the last key of a space if that cannot be proved: no key sorts behind it. */
const NEVER_BEHIND = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff);

/**
 * LMDB with a checksum on every value: a read returns what was written, or throws a "damaged"
 * error. Damaged keys mislead LMDB's search. So a miss is proved by the two neighbours of the
 * missing key: if both are sound, in order and adjacent, nothing lies between them.
 */
export class SealedRecords {
  readonly #lmdb: Lmdb;
  readonly #onDamage: OnDamage;
  /** Reused for every `put`, because LMDB copies the value during the call. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /** Needs no lock: while a record changes in LMDB, readers find it in the memtable. */
  readonly #recent = new RecentRecords();

  /**
   * The last key that LMDB has, or may have, in each space; null if it has none, undefined if
   * unknown. Many keys begin with a stamp, and a lookup of a newer one need not ask LMDB.
   */
  readonly #lastKeys = new Array<Bytes | null | undefined>(SPACES).fill(undefined);
  /** Keys that were not found since `forgetMisses`: the first `#misses` of these. */
  readonly #missed: Bytes[] = [];
  #misses = 0;
  /** Starts of scans whose neighbours are proved, and whether the start itself existed then. */
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
   * Throws if a record that was not found may exist after all. It costs many times as much as the
   * miss itself, so callers do this only before they report something as missing.
   */
  proveMisses(): void {
    const missed = this.#missed.splice(0, this.#misses);
    // Before anything throws: `#misses` counts what `#missed` has.
    this.#misses = 0;
    for (const key of missed) {
      const neighbours = [this.#proveBelow(key), this.#proveAbove(key)];
      if (neighbours.some((found) => found?.equals(key))) throw outOfOrder(key);
    }
  }

  #find(key: Bytes): Bytes | undefined {
    if (this.#isBehindAll(key)) return undefined;
    const recent = this.#recent.find(key);
    if (recent !== undefined) return recent.value;
    const sealed = this.#lmdb.get(key);
    const value = sealed === undefined ? undefined : this.#unseal(key, sealed);
    this.#recent.add(key, value);
    return value;
  }

  /** With `skipsDamaged`, skips damaged records instead of throwing. */
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

  /** Null for a damaged record that is to be skipped. */
  #open(key: Bytes, sealed: Bytes, skipsDamaged: boolean): Entry | null {
    const open = () => ({ key, value: this.#unseal(key, sealed) });
    return skipsDamaged ? unlessDamaged(open) : open();
  }

  /** Only inside a write transaction, as is `remove`. */
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

  /** Looks up the last key of a space, if unknown: removals behind it then cost nothing. */
  findEnd(space: number): void {
    if (this.#lastKeys[space] === undefined) this.#lastKeys[space] = this.#proveLast(space);
  }

  /** Forgets what was proved, once LMDB reads reflect all puts and removals. */
  lookAnew(): void {
    this.#lastKeys.fill(undefined);
    this.#provenStarts.clear();
  }

  /** Whether LMDB has no record of this key's space at or behind the key. */
  #isBehindAll(key: Bytes): boolean {
    this.findEnd(key[0] as number);
    return this.#isKnownBehindAll(key);
  }

  /** Answers `#isBehindAll` from memory alone; false if the last key is unknown. */
  #isKnownBehindAll(key: Bytes): boolean {
    const last = this.#lastKeys[key[0] as number];
    return last === null || (last !== undefined && key.compare(last) > 0);
  }

  /** Notes a key before it is put, so that `#lastKeys` is never too low while LMDB reads lag. */
  #noteKey(key: Bytes): void {
    const space = key[0] as number;
    const last = this.#lastKeys[space];
    if (last === undefined) this.#lastKeys[space] = NEVER_BEHIND;
    else if (last === null || key.compare(last) > 0) this.#lastKeys[space] = key;
  }

  /** The last key of a space; `NEVER_BEHIND` next to damage, so that LMDB is always asked. */
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
    // No end for LMDB: the record behind the last one must be checked, because its key may be
    // damaged.
    for (const { key, value } of this.#lmdb.getRange({ start: from })) {
      const entry = this.#open(key, value, skipsDamaged);
      if (entry === null) continue;
      const order = key.compare(last ?? from);
      if (order < 0 || (order === 0 && last !== null)) throw outOfOrder(key);
      const isPassed = isFirstThere && last === null && order > 0;
      // A checkpoint may have removed the first record since it was proved.
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
    // Includes `until`: LMDB would otherwise skip damaged keys that have become equal to it.
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
   * Proves the neighbour of a scan's start that the scan itself does not visit. Returns whether a
   * record exists at the start.
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

  /** The key of the last record at or before `at`. Throws if it is damaged. */
  #proveBelow(at: Bytes): Bytes | undefined {
    return this.#prove(this.#lmdb.getRange({ start: at, reverse: true, limit: 1 }), at, -1);
  }

  /** The key of the first record at or behind `at`. Throws if it is damaged. */
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
