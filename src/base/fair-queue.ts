/**
 * Long work shares the event loop through this queue: rendering and parsing of large documents, digests
 * of large bodies, encryption, scans of many records. Between two small pieces of work, a worker asks
 *
 *     const wait = fairQueue.next();
 *     if (wait !== undefined) await wait;
 *
 * As long as little time was spent, it goes on at once. When all workers together have spent a slice,
 * they wait: sockets, timers and small requests come first, then the worker that waits longest. So one
 * turn of the event loop takes one slice and one piece of work, however many workers there are.
 *
 * A piece should take less than a millisecond. The body of a transaction cannot wait, and it has no
 * clock: it counts what it reads instead (`body-budget.ts`), and its caller asks before each body.
 */

/** What all workers may spend in one turn of the event loop. */
export const SLICE_MS = 4;

/** Workers that go on in one turn, if the slice lasts so long. */
const WORKERS_PER_TURN = 32;

export class FairQueue {
  readonly #nowMs: () => number;
  /** When the first work of this slice began. */
  #begunMs = Number.NEGATIVE_INFINITY;
  /** In the order in which they came. */
  readonly #waiting: (() => void)[] = [];
  /** Callbacks that are on their way, each to let one worker go on. */
  #calls = 0;
  /** Whether the next turn of the event loop begins a slice. */
  #isBeginning = false;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Undefined if the work may go on at once. A slice ends with the time alone: to notice the end of each
   * turn of the event loop would cost every small request a callback.
   */
  next(): Promise<void> | undefined {
    return this.#waiting.length === 0 && !this.#isSpent() ? undefined : this.yield();
  }

  /** Waits for the next slice in any case: for a worker that has begun much whose cost comes later. */
  yield(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#call();
    });
  }

  #isSpent(): boolean {
    return this.#nowMs() - this.#begunMs >= SLICE_MS;
  }

  /** All callbacks of one turn have to be there before the first of them is called. */
  #call(): void {
    if (this.#waiting.length > 0 && !this.#isBeginning) {
      this.#isBeginning = true;
      setImmediate(this.#begin);
    }
    while (this.#calls < Math.min(this.#waiting.length, WORKERS_PER_TURN)) {
      this.#calls++;
      setImmediate(this.#letGo);
    }
  }

  /** The event loop has been to the sockets when this is called. */
  readonly #begin = (): void => {
    this.#isBeginning = false;
    this.#begunMs = this.#nowMs();
  };

  /** What the worker does next runs before the next callback. */
  readonly #letGo = (): void => {
    this.#calls--;
    if (!this.#isSpent()) this.#waiting.shift()?.();
    this.#call();
  };
}

/** There is one event loop, so there is one queue. */
export const fairQueue = new FairQueue();

/** Work that stops between its pieces, and the result of it. */
export type Steps<T> = Generator<void, T, void>;

/** Does the work, and lets others run in between. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const wait = fairQueue.next();
    if (wait !== undefined) await wait;
  }
}

/** Does the work without a pause, where it is known to be short. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What one piece of work on bytes or characters comes to: rendering them takes about 0.2 ms. */
export const PIECE_BYTES = 32 * 1024;

/** For work whose cost is that of the bytes it goes through. */
export class PacedBytes {
  #bytes = 0;

  /** To be told of what was done, in parts of any size. Undefined if the work may go on at once. */
  next(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes < PIECE_BYTES) return undefined;
    this.#bytes = 0;
    return fairQueue.next();
  }
}
