import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";

/** A power of two. */
const PAIRS = 8_192;
const VALUE_BYTES_MAX = KIB;

export interface Recent {
  readonly key: Bytes;
  /** Undefined if there is none. */
  readonly value: Bytes | undefined;
}

/**
 * What was read last: some records are asked for with every request. A key has two places, which it
 * shares with others: with one, two in five of four thousand keys would keep another one from staying.
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

  /** It must not be there yet. */
  keep(key: Bytes, value: Bytes | undefined): void {
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

/** Many keys differ in their last bytes only: every bit of those has its say (FNV-1a). */
function firstOf(key: Bytes): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ (key[at] as number), 0x01000193);
  return 2 * ((hash ^ (hash >>> 15)) & (PAIRS - 1));
}
