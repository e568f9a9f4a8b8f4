/** The bytes that a mark, one bit, covers: 2 MiB of marks for a tebibyte. */
const MARK_BYTES = 64 * 1024;

/**
 * Remembers which parts of a file have been read. The first read of a part bypasses the page cache,
 * where it would evict other data; only a part that is read again gets a place there.
 */
export class ReadMarks {
  #marks = new Uint8Array(0);

  /** Marks a run of bytes as read. True if some of it was not marked yet. */
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
