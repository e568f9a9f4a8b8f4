import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";

/** A power of two. */
const PAIRS = 8_192;
const VALUE_BYTES_MAX = KIB;

export interface Recent {
  readonly key: Bytes;
  /** Undefined if there is no such record. */
  readonly value: Bytes | undefined;
}

/**
 * A cache of records that were read lately: some are needed by every request. It is 2-way
 * associative, because with one way two in five of four thousand keys would evict each other.
 */
export class RecentRecords {
  readonly #pairs: (Recent | undefined)[] = new Array(2 * PAIRS).fill(undefined);

  find(key: Bytes): Recent | undefined {
    const first = firstOf(key);
    const newer = this.#pairs[first];
    if (newer?.key.equals(key)) return newer;
    const older = this.#pairs[first + 1];
    return older?.key.equals(key) ? older : undefined;
  }

  /** Adds a record that is not in the cache yet. */
  add(key: Bytes, value: Bytes | undefined): void {
    if (value !== undefined && value.length > VALUE_BYTES_MAX) return;
    const first = firstOf(key);
    this.#pairs[first + 1] = this.#pairs[first];
    this.#pairs[first] = { key, value };
  }

  forget(key: Bytes): void {
    const first = firstOf(key);
    for (const place of [first, first + 1]) {
      if (this.#pairs[place]?.key.equals(key)) this.#pairs[place] = undefined;
    }
  }
}

/** The first of the key's two places, by FNV-1a: many keys differ in their last bytes only. */
function firstOf(key: Bytes): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ (key[at] as number), 0x01000193);
  return 2 * ((hash ^ (hash >>> 15)) & (PAIRS - 1));
}
