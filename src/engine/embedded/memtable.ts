import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { Slabs } from "../../machine/slabs.ts";
import type { Entry } from "../../store/store.ts";
import { layWrites } from "../body-view.ts";
import { keyOf, type Named, nameOf, SortedItems } from "../sorted-items.ts";

const SLAB_BYTES = 256 * KIB;
/** Larger values get memory of their own, so that little of a slab is left over. */
const SLAB_VALUE_BYTES_MAX = 32 * KIB;
const IDLE_SLABS_MAX = 256;

/** Memory that lived as long as an memtable and then died would keep the garbage collector busy. */
const slabs = new Slabs(SLAB_BYTES, IDLE_SLABS_MAX);

/** A record that was written since LMDB got the last ones; null says that it was deleted. */
export interface Cell extends Named {
  /** Its value, but for what was put behind it. Lives as long as the memtable: who keeps it copies it. */
  head: Bytes | null;
  /** What was put behind it, in few pieces however often it was. */
  appended: Bytes[] | null;
  /** What is left of the memory of the last one. */
  spare: number;
  /** Of head and tails. */
  size: number;
  /** How many of these bytes are in the WAL. */
  logged: number;
  /** The group in which it was written last. */
  group: number;
  /** The group that whoever reads it waits for; 0 if nobody has to. */
  awaited: number;
}

/** Records that lie over those in LMDB until they are put there. */
export class Memtable {
  readonly #cells = new SortedItems<Cell>();
  /** Those of which there is a cell: by the first character of names. */
  readonly #spaces = new Uint8Array(256);
  readonly #slabs: Bytes[] = [];
  #slabUsed = 0;

  get size(): number {
    return this.#cells.size;
  }

  get(name: string): Cell | undefined {
    return this.#cells.get(name);
  }

  /** Whether there may be cells in the space of this key: a look that needs no name. */
  mayHave(key: Bytes): boolean {
    return this.#spaces[key[0] as number] !== 0;
  }

  /** Takes a copy of the value. The cell is returned if it is the first time in this group. */
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

  /** The same for bytes that go behind the value, which must be there. */
  append(name: string, more: Bytes, group: number, awaited: number): Cell | null {
    const cell = this.#cells.get(name);
    if (cell === undefined || cell.head === null) throw new Error("there is nothing to extend");
    if (more.length > cell.spare) {
      // As much again as there is: thus very many short ones take few pieces.
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

  /** Those in which there is a cell. */
  *spaces(): Iterable<number> {
    for (const [space, isThere] of this.#spaces.entries()) if (isThere !== 0) yield space;
  }

  /** All of them, in the order of their keys. */
  cells(): Iterable<Cell> {
    return this.#cells.scan("", BEHIND_ALL, false);
  }

  /** `below` with these records laid over it; `onCell` hears of each that mattered. */
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

  /** Nobody looks at it any more. */
  release(): void {
    for (const slab of this.#slabs.splice(0)) slabs.release(slab);
  }

  /** Into the memory of `before` if it fits: what is written again and again takes no more of it. */
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
      slab = slabs.take();
      this.#slabs.push(slab);
      this.#slabUsed = 0;
    }
    const start = this.#slabUsed;
    this.#slabUsed += size;
    return slab.subarray(start, this.#slabUsed);
  }
}

/** Copies more bytes to the memory behind some that are there, and returns all of them. */
function grown(bytes: Bytes, more: Bytes): Bytes {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length + more.length);
  // Of memory that is shared `copy` would go word by word.
  all.fill(more, bytes.length, all.length);
  return all;
}

/** The cell, if this is the first time in the group. */
function joinGroup(cell: Cell, group: number, awaited: number): Cell | null {
  const isFirst = cell.group !== group;
  cell.group = group;
  cell.awaited = awaited;
  return isFirst ? cell : null;
}

/** Its value, which may be in the memtable's memory. */
export function valueIn({ head, appended, size }: Cell): Bytes | null {
  return head === null || appended === null ? head : Buffer.concat([head, ...appended], size);
}

/** The same in memory of its own. */
export function copyOf(cell: Cell): Bytes | null {
  return cell.head === null || cell.appended !== null ? valueIn(cell) : Buffer.from(cell.head);
}

/** Keys begin with the number of a space, and there is none of this number. */
const BEHIND_ALL = "\u00ff";
