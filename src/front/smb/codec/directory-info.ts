import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { ShownItem } from "./attributes.ts";
import { alignedTo, Writer } from "./wire.ts";

/** Writes the part between the attributes of an entry and its name; null: no attributes. */
type Middle = ((writer: Writer, item: ShownItem) => Writer) | null;

const SHORT_NAME_BYTES = 26;

const CLASSES: ReadonlyMap<number, Middle> = new Map<number, Middle>([
  [1, (writer) => writer],
  [2, (writer) => writer.u32(0)],
  [3, (writer) => writer.u32(0).zeros(SHORT_NAME_BYTES)],
  [12, null],
  [37, (writer, { id }) => writer.u32(0).zeros(SHORT_NAME_BYTES).u16(0).u64(id)],
  [38, (writer, { id }) => writer.u32(0).u32(0).u64(id)],
  [60, (writer, { id }) => writer.u32(0).u32(0).u64(id).u64(0)],
]);

/** A listing of directory entries, up to the client's buffer size. */
export class DirectoryListing {
  readonly #middle: Middle;
  readonly #bytesMax: number;
  readonly #writer = new Writer();
  #last = -1;

  /** Throws a `StatusError` for an unknown class. */
  constructor(infoClass: number, bytesMax: number) {
    const middle = CLASSES.get(infoClass);
    if (middle === undefined) throw new StatusError(STATUS.INVALID_INFO_CLASS);
    this.#middle = middle;
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#last < 0;
  }

  /** False if there is no room for it. */
  add(item: ShownItem, name: string): boolean {
    const entry = this.#entry(item, name);
    const at = alignedTo(this.#writer.length, 8);
    if (at + entry.length > this.#bytesMax) return false;
    this.#writer.align(8);
    if (this.#last >= 0) this.#writer.patchU32(this.#last, at - this.#last);
    this.#last = at;
    this.#writer.bytes(entry);
    return true;
  }

  done(): Bytes {
    return this.#writer.done();
  }

  #entry(item: ShownItem, name: string): Bytes {
    const writer = new Writer().u32(0).u32(0);
    if (this.#middle === null)
      return writer
        .u32(name.length * 2)
        .text(name)
        .done();
    const { created, accessed, written, changed } = item.times;
    writer.u64(created).u64(accessed).u64(written).u64(changed);
    writer
      .u64(item.size)
      .u64(item.allocated)
      .u32(item.attributes)
      .u32(name.length * 2);
    return this.#middle(writer, item).text(name).done();
  }
}
