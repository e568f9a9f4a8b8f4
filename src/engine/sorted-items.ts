import type { Bytes } from "../base/bytes.ts";

const CHUNK_ITEMS_MAX = 512;

/** An item that is found by the name of a key (see `nameOf`). */
export interface Named {
  readonly name: string;
}

/** A key as a string with one character per byte. A Map can find it, and `<` sorts like the key. */
export function nameOf(key: Bytes): string {
  return key.toString("latin1");
}

export function keyOf(name: string): Bytes {
  return Buffer.from(name, "latin1");
}

/** Items as they were when they were saved. */
export interface SavedItems<T> {
  readonly size: number;
  readonly chunks: readonly T[][];
}

/**
 * A sorted map from names to items. The order is a list of short sorted chunks: each search is
 * binary, and an insertion moves the items of one chunk at most. Each first character of a name,
 * which is the key's space, has a hash map of its own, so that a small, busy space stays in the
 * processor's cache.
 *
 * Saved items share their chunks with the present ones: a chunk that is shared is copied before its
 * first change. The hash maps are not shared. After a restore they begin empty and learn the items
 * that are asked for; what they lack is searched in the chunks.
 */
export class SortedItems<T extends Named> {
  /** By the first character of the names. */
  #byName: Map<string, T>[] = [];
  /** Whether the hash maps have all items. */
  #isIndexed = true;
  #size = 0;
  /** No chunk is empty. */
  #chunks: T[][] = [];
  /** The chunks that saved items may have; null before anything was saved. */
  #shared: WeakSet<T[]> | null = null;

  get size(): number {
    return this.#size;
  }

  get(name: string): T | undefined {
    const found = this.#byName[name.charCodeAt(0)]?.get(name);
    return found !== undefined || this.#isIndexed ? found : this.#search(name);
  }

  /** Takes as long as copying a list of the chunks. */
  save(): SavedItems<T> {
    this.#shared ??= new WeakSet();
    for (const chunk of this.#chunks) this.#shared.add(chunk);
    return { size: this.#size, chunks: [...this.#chunks] };
  }

  /** Goes back to items that were saved here. Takes as long as saving. */
  restore({ size, chunks }: SavedItems<T>): void {
    this.#size = size;
    this.#chunks = [...chunks];
    this.#byName = [];
    this.#isIndexed = size === 0;
  }

  /** Adds an item, whose name must be new. */
  add(item: T): void {
    this.#mapOf(item.name).set(item.name, item);
    this.#size++;
    const number = this.#chunkOf(item.name);
    if (number >= this.#chunks.length) {
      this.#chunks.push([item]);
      return;
    }
    const chunk = this.#ownChunk(number);
    chunk.splice(lowerBound(chunk, item.name), 0, item);
    if (chunk.length > CHUNK_ITEMS_MAX) {
      this.#chunks.splice(number + 1, 0, chunk.splice(CHUNK_ITEMS_MAX / 2));
    }
  }

  delete(name: string): void {
    if (!this.#isIndexed) this.#search(name);
    if (!this.#mapOf(name).delete(name)) return;
    this.#size--;
    const number = this.#chunkOf(name);
    const chunk = this.#ownChunk(number);
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

  /** Items with `from <= name < until`, ascending or descending, found lazily. */
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

  /** Finds an item without the hash maps, and adds it to them. */
  #search(name: string): T | undefined {
    const chunk = this.#chunks[this.#chunkOf(name)] ?? [];
    const item = chunk[lowerBound(chunk, name)];
    if (item?.name !== name) return undefined;
    this.#mapOf(name).set(name, item);
    return item;
  }

  /** A chunk that may be changed: no saved items have it. */
  #ownChunk(number: number): T[] {
    const chunk = this.#chunks[number] as T[];
    if (this.#shared === null || !this.#shared.has(chunk)) return chunk;
    const own = [...chunk];
    this.#chunks[number] = own;
    return own;
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

  /** The index of the chunk of this name: the last one that begins at or before it. */
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

/** The index of the first item whose name is not less than this one. */
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
