import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { Entry } from "../../store/store.ts";
import { SEAL_BYTES, seal, unseal } from "./envelope.ts";
import type { Lmdb } from "./lmdb.ts";

const SCRATCH_BYTES = 64 * KIB;

/** lmdb with every value sealed: what is read is what was written, or a "damaged" error. */
export class SealedRecords {
  readonly #lmdb: Lmdb;
  /** lmdb copies a value while it takes it, so that one place serves all of them. */
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

  constructor(lmdb: Lmdb) {
    this.#lmdb = lmdb;
  }

  get(key: Bytes): Bytes | undefined {
    const sealed = this.#lmdb.get(key);
    return sealed === undefined ? undefined : unseal(key, sealed);
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
    this.#lmdb.putSync(key, seal(key, value, room));
  }

  remove(key: Bytes): void {
    this.#lmdb.removeSync(key);
  }

  *#scan(bounds: RangeBounds): Generator<Entry> {
    for (const { key, value } of this.#lmdb.getRange(bounds)) {
      yield { key, value: unseal(key, value) };
    }
  }
}

type RangeBounds = NonNullable<Parameters<Lmdb["getRange"]>[0]>;
