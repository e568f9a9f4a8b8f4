import type { Bytes } from "../base/bytes.ts";

const CHUNK_ITEMS_MAX = 512;

/** Something that stands under the name of a key. */
export interface Named {
  readonly name: string;
}

/**
 * A key as a text of as many characters as it has bytes: texts are found in a Map, and `<` puts them
 * into the order of the keys.
 */
export function nameOf(key: Bytes): string {
  return key.toString("latin1");
}

export function keyOf(name: string): Bytes {
  return Buffer.from(name, "latin1");
}

/**
 * Items by name and in the order of their names. The order is kept in a list of short sorted chunks:
 * every search is binary, and an insertion moves one chunk at most. Names that begin with the same
 * character have a map of their own: those that are asked for again and again stay in the processor's
 * cache even beside many that are not.
 */
export class SortedItems<T extends Named> {
  /** By the first character of the names. */
  readonly #byName: Map<string, T>[] = [];
  #size = 0;
  /** No chunk is empty. */
  readonly #chunks: T[][] = [];

  get size(): number {
    return this.#size;
  }

  get(name: string): T | undefined {
    return this.#byName[name.charCodeAt(0)]?.get(name);
  }

  /** Its name must be new. */
  add(item: T): void {
    this.#mapOf(item.name).set(item.name, item);
    this.#size++;
    const number = this.#chunkOf(item.name);
    const chunk = this.#chunks[number];
    if (chunk === undefined) {
      this.#chunks.push([item]);
      return;
    }
    chunk.splice(lowerBound(chunk, item.name), 0, item);
    if (chunk.length > CHUNK_ITEMS_MAX) {
      this.#chunks.splice(number + 1, 0, chunk.splice(CHUNK_ITEMS_MAX / 2));
    }
  }

  delete(name: string): void {
    if (!this.#mapOf(name).delete(name)) return;
    this.#size--;
    const number = this.#chunkOf(name);
    const chunk = this.#chunks[number] as T[];
    chunk.splice(lowerBound(chunk, name), 1);
    if (chunk.length === 0) this.#chunks.splice(number, 1);
  }

  /** Whether there is an item with `from <= name < until`. */
  hasAny(from: string, until: string): boolean {
    const number = this.#chunkOf(from);
    const chunk = this.#chunks[number];
    if (chunk === undefined) return false;
    const first = chunk[lowerBound(chunk, from)] ?? this.#chunks[number + 1]?.[0];
    return first !== undefined && first.name < until;
  }

  /** Items with `from <= name < until`, in order or backwards, each found when it is asked for. */
  scan(from: string, until: string, reverse: boolean): Generator<T> {
    return reverse ? this.#scanDown(from, until) : this.#scanUp(from, until);
  }

  *#scanUp(from: string, until: string): Generator<T> {
    const first = this.#chunkOf(from);
    for (let number = first; number < this.#chunks.length; number++) {
      const chunk = this.#chunks[number] as T[];
      for (let at = number === first ? lowerBound(chunk, from) : 0; at < chunk.length; at++) {
        const item = chunk[at] as T;
        if (item.name >= until) return;
        yield item;
      }
    }
  }

  *#scanDown(from: string, until: string): Generator<T> {
    const last = this.#chunkOf(until);
    for (let number = last; number >= 0; number--) {
      const chunk = this.#chunks[number] ?? [];
      const end = number === last ? lowerBound(chunk, until) : chunk.length;
      for (let at = end - 1; at >= 0; at--) {
        const item = chunk[at] as T;
        if (item.name < from) return;
        yield item;
      }
    }
  }

  #mapOf(name: string): Map<string, T> {
    const first = name.charCodeAt(0);
    let map = this.#byName[first];
    if (map === undefined) {
      map = new Map();
      this.#byName[first] = map;
    }
    return map;
  }

  /** The chunk in which this name lies or would lie: the last that begins at or before it. */
  #chunkOf(name: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [first] = this.#chunks[middle] as T[];
      if ((first as T).name <= name) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** Where the first item stands whose name is not below this one. */
function lowerBound<T extends Named>(chunk: readonly T[], name: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunk[middle] as T).name < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
