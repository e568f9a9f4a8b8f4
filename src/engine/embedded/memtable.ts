import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { Slabs } from "../../machine/slabs.ts";
import type { Entry } from "../../store/entry.ts";
import { layWrites } from "../body-view.ts";
import { keyOf, type Named, nameOf, SortedItems } from "../sorted-items.ts";

const SLAB_BYTES = 256 * KIB;
/** Larger values get memory of their own, so that little of a slab is left over. */
const SLAB_VALUE_BYTES_MAX = 32 * KIB;
const IDLE_SLABS_MAX = 256;

/** Slabs for the memtables of a store: one recycles those of another. */
export function memtableSlabs(): Slabs {
  return new Slabs(SLAB_BYTES, IDLE_SLABS_MAX);
}

/** A record in the memtable. */
export interface Cell extends Named {
  /**
   * The value without `appended`; null for a tombstone. Valid as long as the memtable: a caller
   * that needs it longer makes a copy.
   */
  head: Bytes | null;
  /** Bytes appended in place, in few pieces however many appends there were. */
  appended: Bytes[] | null;
  /** Free bytes behind the last piece of `appended`. */
  spare: number;
  /** Bytes of `head` and `appended` together. */
  size: number;
  /** How many of these bytes are in the WAL. */
  logged: number;
  /** The group in which it was written last. */
  group: number;
  /** The group that a reader waits for; 0 for an ephemeral record. */
  awaited: number;
}

/** The records that a checkpoint has not yet copied into LMDB, in key order. */
export class Memtable {
  readonly #cells = new SortedItems<Cell>();
  /** Whether a space has a cell, by the number of the space. */
  readonly #spaces = new Uint8Array(256);
  readonly #pool: Slabs;
  readonly #slabs: Bytes[] = [];
  #slabUsed = 0;

  constructor(pool: Slabs) {
    this.#pool = pool;
  }

  get size(): number {
    return this.#cells.size;
  }

  get(name: string): Cell | undefined {
    return this.#cells.get(name);
  }

  /** Whether the space of this key may have cells. Cheaper than `get`: it needs no name. */
  mayHave(key: Bytes): boolean {
    return this.#spaces[key[0] as number] !== 0;
  }

  /** Stores a copy of the value. Returns the cell if this is its first change in the group. */
  set(name: string, value: Bytes | null, group: number, awaited: number): Cell | null {
    const found = this.#cells.get(name);
    if (found !== undefined) {
      found.head = this.#copy(value, found.head);
      found.appended = null;
      found.spare = 0;
      found.size = value?.length ?? 0;
      found.logged = 0;
      return joinGroup(found, group, awaited);
    }
    const cell = {
      name,
      head: this.#copy(value, null),
      appended: null,
      spare: 0,
      size: value?.length ?? 0,
      logged: 0,
      group,
      awaited,
    };
    this.#cells.add(cell);
    this.#spaces[name.charCodeAt(0)] = 1;
    return cell;
  }

  /** Appends to an existing value. Returns the cell if this is its first change in the group. */
  append(name: string, more: Bytes, group: number, awaited: number): Cell | null {
    const cell = this.#cells.get(name);
    if (cell === undefined || cell.head === null) throw new Error("there is no value to append to");
    if (more.length > cell.spare) {
      // Doubles the size, so that many short appends take few pieces.
      const room = this.#room(Math.max(more.length, Math.min(cell.size, SLAB_VALUE_BYTES_MAX)));
      cell.appended ??= [];
      cell.appended.push(room.subarray(0, 0));
      cell.spare = room.length;
    }
    if (cell.appended !== null) cell.appended.push(grown(cell.appended.pop() as Bytes, more));
    cell.spare -= more.length;
    cell.size += more.length;
    return joinGroup(cell, group, awaited);
  }

  /** The numbers of the spaces that have cells. */
  *spaces(): Iterable<number> {
    for (const [space, isThere] of this.#spaces.entries()) if (isThere !== 0) yield space;
  }

  /** All cells, in key order. */
  cells(): Iterable<Cell> {
    return this.#cells.scan("", BEHIND_ALL, false);
  }

  /** Merges these records over `below`, and calls `onCell` for each cell it passes. */
  layOver(
    below: Iterable<Entry>,
    from: Bytes,
    until: Bytes,
    reverse: boolean,
    onCell: (cell: Cell) => void,
  ): Iterable<Entry> {
    const first = nameOf(from);
    const end = nameOf(until);
    if (!this.#cells.hasAny(first, end)) return below;
    return layWrites(this.#writes(first, end, reverse, onCell), below, reverse ? -1 : 1);
  }

  *#writes(from: string, until: string, reverse: boolean, onCell: (cell: Cell) => void) {
    for (const cell of this.#cells.scan(from, until, reverse)) {
      onCell(cell);
      yield { key: keyOf(cell.name), value: copyOf(cell) };
    }
  }

  /** Recycles the memory. No cell may be used afterwards. */
  release(): void {
    for (const slab of this.#slabs.splice(0)) this.#pool.release(slab);
  }

  /** Reuses the memory of `before` if the size fits, so that rewriting a record takes no more. */
  #copy(value: Bytes | null, before: Bytes | null): Bytes | null {
    if (value === null) return null;
    if (value.length === before?.length) {
      value.copy(before);
      return before;
    }
    const copy = this.#room(value.length);
    value.copy(copy);
    return copy;
  }

  #room(size: number): Bytes {
    if (size > SLAB_VALUE_BYTES_MAX) return Buffer.allocUnsafeSlow(size);
    let slab = this.#slabs.at(-1);
    if (slab === undefined || this.#slabUsed + size > SLAB_BYTES) {
      slab = this.#pool.take();
      this.#slabs.push(slab);
      this.#slabUsed = 0;
    }
    const start = this.#slabUsed;
    this.#slabUsed += size;
    return slab.subarray(start, this.#slabUsed);
  }
}

/** Copies `more` into the memory right behind `bytes`, and returns both as one buffer. */
function grown(bytes: Bytes, more: Bytes): Bytes {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length + more.length);
  // `fill` is faster than `copy`, which copies word by word from shared memory.
  all.fill(more, bytes.length, all.length);
  return all;
}

/** Notes a cell's group. Returns the cell if this is its first change in the group. */
function joinGroup(cell: Cell, group: number, awaited: number): Cell | null {
  const isFirst = cell.group !== group;
  cell.group = group;
  cell.awaited = awaited;
  return isFirst ? cell : null;
}

/** The value of a cell; it may share the memtable's memory. */
export function valueIn({ head, appended, size }: Cell): Bytes | null {
  return head === null || appended === null ? head : Buffer.concat([head, ...appended], size);
}

/** A copy of a cell's value, in memory of its own. */
export function copyOf(cell: Cell): Bytes | null {
  return cell.head === null || cell.appended !== null ? valueIn(cell) : Buffer.from(cell.head);
}

/** Sorts behind every key: no space has this number. */
const BEHIND_ALL = "\u00ff";
