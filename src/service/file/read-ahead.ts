import { type BorrowedBuffer, borrowWhole } from "../../base/borrowed-buffer.ts";
import { MIB } from "../../base/limits.ts";
import type { MemoryBudget } from "../../base/memory-budget.ts";
import type { Content, Reading } from "../../store/content.ts";
import type { Contents } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";

/** Smaller reads finish sooner than a read-ahead could help. */
const READ_BYTES_MIN = MIB;
/** Reads of the same length that are started before the client asks for them. */
const READS_AHEAD = 2;
/** Limit for all readers of a server together. */
export const BYTES_AHEAD_MAX = 64 * MIB;

/**
 * Reads ahead for one reader of a file, once it reads sequentially. The disk reads the next parts
 * while the client receives the previous ones; otherwise it would idle whenever the client is busy
 * with both of its outstanding requests. Bytes that were read ahead are used only if a read now
 * would take the same bytes from the same places, so a reader never sees bytes that were
 * overwritten meanwhile.
 */
export class ReadAhead {
  readonly #idleMs: number;
  readonly #budget: MemoryBudget;
  /** Offset of the next sequential read. */
  #next = -1;
  #length = 0;
  /** Consecutive parts that are being read, in order. */
  readonly #begun: Begun[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Whether a part expired unused: a reader that slow would waste the next ones, too. */
  #isSlow = false;

  /** `idleMs` is how long an unused part is retained. All readers of a server share a budget. */
  constructor(idleMs: number, budget: MemoryBudget) {
    this.#idleMs = idleMs;
    this.#budget = budget;
  }

  /**
   * Called for a read of `length` bytes, or up to the end. Returns the part that was read ahead for
   * just this read, and closes `reading`; null if there is none. A body that runs again finds the
   * same. The caller calls `start` after the body.
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

  /** Starts to read the parts that were opened, because the body that opened them has ended. */
  start(): void {
    for (const begun of this.#begun) begun.start();
  }

  /** Releases all parts. */
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
      if (!this.#budget.tryTake(length)) break;
      const reading = contents.open(view, content, from, length);
      // Has too many pieces to compare it with a later reading.
      if (!reading.isSameAs(reading)) {
        this.#budget.release(length);
        reading.close();
        break;
      }
      const begun = new Begun(from, reading, this.#budget);
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

/** A part that is opened, is being read from disk, or has been. */
class Begun {
  readonly from: number;
  readonly reading: Reading;
  readonly #budget: MemoryBudget;
  #bytes: Promise<BorrowedBuffer> | null = null;

  /** The bytes are taken from the budget already. */
  constructor(from: number, reading: Reading, budget: MemoryBudget) {
    this.from = from;
    this.reading = reading;
    this.#budget = budget;
  }

  start(): Promise<BorrowedBuffer> {
    if (this.#bytes === null) {
      this.#bytes = borrowWhole(this.reading);
      // The read may fail before the client asks for it.
      this.#bytes.catch(() => {});
    }
    return this.#bytes;
  }

  async take(): Promise<BorrowedBuffer> {
    try {
      return await this.start();
    } finally {
      this.#end();
    }
  }

  drop(): void {
    if (this.#bytes === null) {
      this.#end();
      return;
    }
    this.take().then(
      (borrowed) => borrowed.release(),
      () => {},
    );
  }

  #end(): void {
    this.#budget.release(this.reading.length);
    this.reading.close();
  }
}
