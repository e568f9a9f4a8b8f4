import { type BorrowedBuffer, borrowWhole } from "../../base/borrowed-buffer.ts";
import { MIB } from "../../base/limits.ts";
import type { Content, Contents, Reading } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";

/** Less is here sooner than it could be begun. */
const READ_BYTES_MIN = MIB;
/** As many reads of the same length are begun before they are asked for. */
const READS_AHEAD = 2;
/** Of all readers together. */
export const BYTES_AHEAD_MAX = 64 * MIB;

let bytesAhead = 0;

/**
 * One reader of a file, who may be reading on and on. Then what comes next is read from the disk while
 * he is sent what came before: a client that asks for two parts at a time leaves the disk idle
 * otherwise, whenever he is busy with both. What was begun counts only if he would read the same bytes
 * from the same places now: nobody is shown what has been written over meanwhile.
 */
export class ReadAhead {
  readonly #idleMs: number;
  /** Where he would go on. */
  #next = -1;
  #length = 0;
  /** In their order, one behind the other. */
  readonly #begun: Begun[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Whether something was not asked for in time: what is sent so slowly would be read in vain again. */
  #isSlow = false;

  /** What is not asked for so soon is dropped. */
  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /**
   * He reads `length` bytes, or up to the end. Tells what was begun for just this reading, and then
   * closes it; null if there is nothing. If the body runs again, it finds what it has found before.
   */
  read(
    view: View,
    contents: Contents,
    content: Content,
    from: number,
    length: number,
    reading: Reading,
  ): Pick<Begun, "take"> | null {
    const goesOn = from === this.#next && length === this.#length;
    this.#next = from + length;
    this.#length = length;
    view.onDiscard(() => {
      if (goesOn) this.#next = from;
    });
    const begun = this.#take(view, from, reading);
    if (goesOn && !this.#isSlow && length >= READ_BYTES_MIN) this.#begin(view, contents, content);
    return begun;
  }

  /** Gives back all that was begun. */
  drop(): void {
    for (const begun of this.#begun.splice(0)) begun.drop();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #drop(begun: Begun): void {
    const at = this.#begun.indexOf(begun);
    if (at < 0) return;
    this.#begun.splice(at, 1);
    begun.drop();
  }

  #giveUp(): void {
    this.#isSlow = this.#begun.length > 0;
    this.drop();
  }

  #take(view: View, from: number, reading: Reading): Begun | null {
    const [begun] = this.#begun;
    if (begun === undefined) return null;
    if (begun.from !== from || !begun.reading.isSameAs(reading)) {
      this.drop();
      return null;
    }
    this.#begun.shift();
    reading.close();
    view.onDiscard(() => this.#begun.unshift(begun));
    return begun;
  }

  #begin(view: View, contents: Contents, content: Content): void {
    const until = Math.min(this.#next + READS_AHEAD * this.#length, content.length);
    const last = this.#begun.at(-1);
    let from = last === undefined ? this.#next : last.from + this.#length;
    for (; from < until; from += this.#length) {
      const length = Math.min(this.#length, content.length - from);
      if (bytesAhead + length > BYTES_AHEAD_MAX) break;
      const reading = contents.open(view, content, from, length);
      // In so many pieces that nobody could tell whether it is the same later.
      if (!reading.isSameAs(reading)) {
        reading.close();
        break;
      }
      const begun = new Begun(from, reading);
      this.#begun.push(begun);
      view.onDiscard(() => this.#drop(begun));
    }
    if (this.#begun.length === 0) return;
    if (this.#timer === null) {
      this.#timer = setTimeout(() => this.#giveUp(), this.#idleMs).unref();
    } else {
      this.#timer.refresh();
    }
  }
}

/** A part that is on its way from the disk, or here. */
class Begun {
  readonly from: number;
  readonly reading: Reading;
  readonly #lent: Promise<BorrowedBuffer>;

  constructor(from: number, reading: Reading) {
    this.from = from;
    this.reading = reading;
    bytesAhead += reading.length;
    this.#lent = borrowWhole(reading);
    // It may break before anybody asks for it.
    this.#lent.catch(() => {});
  }

  async take(): Promise<BorrowedBuffer> {
    try {
      return await this.#lent;
    } finally {
      this.#end();
    }
  }

  drop(): void {
    this.take().then(
      (borrowed) => borrowed.release(),
      () => {},
    );
  }

  #end(): void {
    bytesAhead -= this.reading.length;
    this.reading.close();
  }
}
