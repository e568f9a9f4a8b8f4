import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { Entry } from "../../store/store.ts";
import { SEAL_BYTES, seal, unseal } from "./envelope.ts";
import type { Lmdb } from "./lmdb.ts";

const SCRATCH_BYTES = 64 * KIB;
const RECENT_SLOTS = 1_024;
const RECENT_BYTES_MAX = KIB;
const SPACES = 256;
/** What is known of a space. */
const NOTHING_KNOWN = 0;
const EMPTY = 1;
const FILLED = 2;

interface Recent {
  readonly key: Bytes;
  /** Undefined if there is none. */
  readonly value: Bytes | undefined;
}

/** lmdb with every value sealed: what is read is what was written, or a "damaged" error. */
export class SealedRecords {
  readonly #lmdb: Lmdb;
  /** lmdb copies a value while it takes it, so that one place serves all of them. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  /**
   * What was read last: some records are asked for with every request. While one is being changed,
   * nobody reads it here, for the overlay has what it will be.
   */
  readonly #recent: (Recent | undefined)[] = new Array(RECENT_SLOTS).fill(undefined);

  /**
   * Of some kinds of records there is mostly none, and yet every write asks whether there is one. As
   * long as lmdb has nothing of a space, it need not be asked.
   */
  readonly #spaces = new Uint8Array(SPACES);

  constructor(lmdb: Lmdb) {
    this.#lmdb = lmdb;
  }

  get(key: Bytes): Bytes | undefined {
    if (this.#isEmpty(key[0] as number)) return undefined;
    const slot = slotOf(key);
    const recent = this.#recent[slot];
    if (recent?.key.equals(key)) return recent.value;
    const sealed = this.#lmdb.get(key);
    const value = sealed === undefined ? undefined : unseal(key, sealed);
    const isShort = value === undefined || value.length <= RECENT_BYTES_MAX;
    if (isShort) this.#recent[slot] = { key, value };
    return value;
  }

  scan(from: Bytes, until: Bytes, reverse: boolean): Iterable<Entry> {
    const bounds = reverse
      ? { start: until, exclusiveStart: true, end: from, inclusiveEnd: true, reverse }
      : { start: from, end: until };
    return this.#scan(bounds);
  }

  /** Inside a write transaction only, as `remove`. */
  put(key: Bytes, value: Bytes): void {
    const size = value.length + SEAL_BYTES;
    const room = size <= SCRATCH_BYTES ? this.#scratch : Buffer.allocUnsafeSlow(size);
    this.#spaces[key[0] as number] = FILLED;
    this.#lmdb.putSync(key, seal(key, value, room));
    this.#recent[slotOf(key)] = undefined;
  }

  remove(key: Bytes): void {
    this.#lmdb.removeSync(key);
    this.#recent[slotOf(key)] = undefined;
  }

  /** All that was put and removed so far is what lmdb reads: spaces may be empty that were not. */
  lookAnew(): void {
    this.#spaces.fill(NOTHING_KNOWN);
  }

  #isEmpty(space: number): boolean {
    const known = this.#spaces[space];
    if (known !== NOTHING_KNOWN) return known === EMPTY;
    const bounds = { start: Buffer.of(space), end: Buffer.of(space + 1), limit: 1 };
    const [first] = this.#lmdb.getRange(bounds);
    this.#spaces[space] = first === undefined ? EMPTY : FILLED;
    return first === undefined;
  }

  *#scan(bounds: RangeBounds): Generator<Entry> {
    for (const { key, value } of this.#lmdb.getRange(bounds)) {
      yield { key, value: unseal(key, value) };
    }
  }
}

function slotOf(key: Bytes): number {
  let hash = 0;
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + (key[at] as number)) | 0;
  return (hash >>> 8) % RECENT_SLOTS;
}

type RangeBounds = NonNullable<Parameters<Lmdb["getRange"]>[0]>;
