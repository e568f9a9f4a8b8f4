import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import { Slabs } from "../../base/slabs.ts";
import type { Entry } from "../../store/store.ts";
import { layWrites } from "../body-view.ts";
import { keyOf, type Named, nameOf, SortedItems } from "../sorted-items.ts";

const SLAB_BYTES = 256 * KIB;
/** Larger values get memory of their own, so that little of a slab is left over. */
const SLAB_VALUE_BYTES_MAX = 32 * KIB;
const IDLE_SLABS_MAX = 256;

/** Memory that lived as long as an overlay and then died would keep the garbage collector busy. */
const slabs = new Slabs(SLAB_BYTES, IDLE_SLABS_MAX);

/** A record that was written since lmdb got the last ones; null says that it was deleted. */
export interface Cell extends Named {
  /** Lives as long as the overlay: whoever keeps it copies it. */
  value: Bytes | null;
  /** The group in which it was written last. */
  group: number;
  /** The group that whoever reads it waits for; 0 if nobody has to. */
  awaited: number;
}

/** Records that lie over those in lmdb until they are put there. */
export class Overlay {
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
      const isFirst = found.group !== group;
      found.value = this.#copy(value, found.value);
      found.group = group;
      found.awaited = awaited;
      return isFirst ? found : null;
    }
    const cell = { name, value: this.#copy(value, null), group, awaited };
    this.#cells.add(cell);
    this.#spaces[name.charCodeAt(0)] = 1;
    return cell;
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
      yield { key: keyOf(cell.name), value: cell.value && Buffer.from(cell.value) };
    }
  }

  /** Nobody looks at it any more. */
  release(): void {
    for (const slab of this.#slabs.splice(0)) slabs.giveBack(slab);
  }

  /** Into the memory of `before` if it fits: what is written again and again takes no more of it. */
  #copy(value: Bytes | null, before: Bytes | null): Bytes | null {
    if (value === null) return null;
    if (value.length === before?.length) {
      value.copy(before);
      return before;
    }
    if (value.length > SLAB_VALUE_BYTES_MAX) return Buffer.from(value);
    let slab = this.#slabs.at(-1);
    if (slab === undefined || this.#slabUsed + value.length > SLAB_BYTES) {
      slab = slabs.take();
      this.#slabs.push(slab);
      this.#slabUsed = 0;
    }
    const start = this.#slabUsed;
    this.#slabUsed += value.copy(slab, start);
    return slab.subarray(start, this.#slabUsed);
  }
}

/** Keys begin with the number of a space, and there is none of this number. */
const BEHIND_ALL = "\u00ff";
