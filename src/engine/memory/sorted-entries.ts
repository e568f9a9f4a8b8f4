import type { Bytes } from "../../base/bytes.ts";
import type { Entry } from "../../store/store.ts";
import type { State } from "../body-view.ts";

const CHUNK_ENTRIES_MAX = 512;

/**
 * Entries in key order, in a list of short sorted chunks: every search is binary, and an insertion
 * moves one chunk at most.
 */
export class SortedEntries implements State {
  /** No chunk is empty. */
  readonly #chunks: Entry[][] = [];

  get(key: Bytes): Bytes | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    const entry = chunk?.[lowerBound(chunk, key)];
    return entry?.key.equals(key) ? entry.value : undefined;
  }

  *scan(from: Bytes, until: Bytes, reverse: boolean): Generator<Entry> {
    if (reverse) yield* this.#scanDown(from, until);
    else yield* this.#scanUp(from, until);
  }

  set(entry: Entry): void {
    const number = this.#chunkOf(entry.key);
    const chunk = this.#chunks[number];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
      return;
    }
    const at = lowerBound(chunk, entry.key);
    chunk.splice(at, chunk[at]?.key.equals(entry.key) ? 1 : 0, entry);
    if (chunk.length > CHUNK_ENTRIES_MAX) {
      this.#chunks.splice(number + 1, 0, chunk.splice(CHUNK_ENTRIES_MAX / 2));
    }
  }

  delete(key: Bytes): void {
    const number = this.#chunkOf(key);
    const chunk = this.#chunks[number];
    if (chunk === undefined) return;
    const at = lowerBound(chunk, key);
    if (!chunk[at]?.key.equals(key)) return;
    chunk.splice(at, 1);
    if (chunk.length === 0) this.#chunks.splice(number, 1);
  }

  *#scanUp(from: Bytes, until: Bytes): Generator<Entry> {
    const first = this.#chunkOf(from);
    for (let number = first; number < this.#chunks.length; number++) {
      const chunk = this.#chunks[number] as Entry[];
      for (let at = number === first ? lowerBound(chunk, from) : 0; at < chunk.length; at++) {
        const entry = chunk[at] as Entry;
        if (entry.key.compare(until) >= 0) return;
        yield entry;
      }
    }
  }

  *#scanDown(from: Bytes, until: Bytes): Generator<Entry> {
    const last = this.#chunkOf(until);
    for (let number = last; number >= 0; number--) {
      const chunk = this.#chunks[number] ?? [];
      const end = number === last ? lowerBound(chunk, until) : chunk.length;
      for (let at = end - 1; at >= 0; at--) {
        const entry = chunk[at] as Entry;
        if (entry.key.compare(from) < 0) return;
        yield entry;
      }
    }
  }

  /** The chunk in which this key lies or would lie: the last that begins at or before it. */
  #chunkOf(key: Bytes): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [first] = this.#chunks[middle] as Entry[];
      if (first !== undefined && first.key.compare(key) <= 0) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** Where the first entry stands whose key is not below this one. */
function lowerBound(chunk: readonly Entry[], key: Bytes): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunk[middle] as Entry).key.compare(key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
