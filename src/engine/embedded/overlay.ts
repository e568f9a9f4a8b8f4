import type { Bytes } from "../../base/bytes.ts";
import { KIB } from "../../base/limits.ts";
import type { Entry } from "../../store/store.ts";
import { layWrites } from "../body-view.ts";
import { keyOf, type Named, nameOf, SortedItems } from "../sorted-items.ts";

const CHUNK_BYTES = 64 * KIB;
/** Larger values get memory of their own, so that little of a chunk is left over. */
const CHUNK_VALUE_BYTES_MAX = 16 * KIB;

/** A record that was written since lmdb got the last ones; null says that it was deleted. */
export interface Cell extends Named {
  value: Bytes | null;
  /** The group in which it was written last. */
  group: number;
  /** The group that whoever reads it waits for; 0 if nobody has to. */
  awaited: number;
}

/** Records that lie over those in lmdb until they are put there. */
export class Overlay {
  readonly #cells = new SortedItems<Cell>();
  #chunk: Bytes | null = null;
  #chunkUsed = 0;

  get size(): number {
    return this.#cells.size;
  }

  get(name: string): Cell | undefined {
    return this.#cells.get(name);
  }

  /** Takes a copy of the value. */
  set(name: string, value: Bytes | null, group: number, awaited: number): Cell {
    const kept = value === null ? null : this.#copy(value);
    const found = this.#cells.get(name);
    if (found !== undefined) {
      found.value = kept;
      found.group = group;
      found.awaited = awaited;
      return found;
    }
    const cell = { name, value: kept, group, awaited };
    this.#cells.add(cell);
    return cell;
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
      yield { key: keyOf(cell.name), value: cell.value };
    }
  }

  /** Side by side with others of the same age, which all go together. */
  #copy(value: Bytes): Bytes {
    if (value.length > CHUNK_VALUE_BYTES_MAX) return Buffer.from(value);
    let chunk = this.#chunk;
    if (chunk === null || this.#chunkUsed + value.length > CHUNK_BYTES) {
      chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      this.#chunk = chunk;
      this.#chunkUsed = 0;
    }
    const start = this.#chunkUsed;
    this.#chunkUsed += value.copy(chunk, start);
    return chunk.subarray(start, this.#chunkUsed);
  }
}

/** Keys begin with the number of a space, and there is none of this number. */
const BEHIND_ALL = "\u00ff";
