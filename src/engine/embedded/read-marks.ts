/** One mark, a bit, stands for so many bytes: 2 MiB of marks for a tebibyte. */
const MARK_BYTES = 64 * 1024;

/**
 * What of a file was read before. Bytes that are read once never need a place in the system's cache,
 * where they would push out others and cost more than the reading; what is read again does.
 */
export class ReadMarks {
  #marks = new Uint8Array(0);

  /** Marks a stretch; true if some of it had no mark yet. */
  mark(position: number, bytes: number): boolean {
    const first = Math.floor(position / MARK_BYTES);
    const last = Math.floor((position + bytes - 1) / MARK_BYTES);
    this.#reachTo(last);
    let isNew = false;
    for (let mark = first; mark <= last; mark++) {
      const bit = 1 << (mark & 7);
      const before = this.#marks[mark >> 3] as number;
      if ((before & bit) === 0) isNew = true;
      this.#marks[mark >> 3] = before | bit;
    }
    return isNew;
  }

  #reachTo(mark: number): void {
    const length = (mark >> 3) + 1;
    if (length <= this.#marks.length) return;
    const longer = new Uint8Array(Math.max(length, 2 * this.#marks.length));
    longer.set(this.#marks);
    this.#marks = longer;
  }
}
