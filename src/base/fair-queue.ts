/**
 * A fair queue through which long work shares the event loop: rendering and parsing of large
 * documents, digests of large bodies, encryption, scans of many records. Between two small pieces
 * of work, a worker asks
 *
 *     const wait = fairQueue.next();
 *     if (wait !== undefined) await wait;
 *
 * Until all workers together have spent a slice, they go on at once. Then they wait: sockets,
 * timers and small requests come first, then the worker that has waited longest. So one iteration
 * of the event loop takes one slice and one piece of work, however many workers there are.
 *
 * A piece should take less than a millisecond. The body of a transaction cannot wait and has no
 * clock. It counts what it reads instead (`body-budget.ts`), and its caller asks before each body.
 */

/** What all workers together may spend in one iteration of the event loop. */
export const SLICE_MS = 4;

/** The most workers that go on in one iteration. */
const WORKERS_PER_ITERATION = 32;

/** Lets workers continue in order, one slice per iteration of the event loop. */
export class FairQueue {
  readonly #nowMs: () => number;
  /** When the first work of this slice began. */
  #begunMs = Number.NEGATIVE_INFINITY;
  /** Waiting workers, the first to come first. */
  readonly #waiting: (() => void)[] = [];
  /** Scheduled callbacks, each of which lets one worker go on. */
  #calls = 0;
  /** Whether the next iteration of the event loop begins a slice. */
  #isBeginning = false;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Undefined if the work may go on at once. Only time ends a slice: noticing the end of each
   * iteration of the event loop would cost every small request a callback.
   */
  next(): Promise<void> | undefined {
    return this.#waiting.length === 0 && !this.#isSpent() ? undefined : this.yield();
  }

  /** Always waits for the next slice: for a worker that has started work whose cost comes later. */
  yield(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#call();
    });
  }

  #isSpent(): boolean {
    return this.#nowMs() - this.#begunMs >= SLICE_MS;
  }

  /** Schedules all callbacks of an iteration before the first of them is called. */
  #call(): void {
    if (this.#waiting.length > 0 && !this.#isBeginning) {
      this.#isBeginning = true;
      setImmediate(this.#begin);
    }
    while (this.#calls < Math.min(this.#waiting.length, WORKERS_PER_ITERATION)) {
      this.#calls++;
      setImmediate(this.#resume);
    }
  }

  /** Runs after the event loop has polled the sockets. */
  readonly #begin = (): void => {
    this.#isBeginning = false;
    this.#begunMs = this.#nowMs();
  };

  /** Lets one worker go on; its next piece of work runs before the next callback. */
  readonly #resume = (): void => {
    this.#calls--;
    if (!this.#isSpent()) this.#waiting.shift()?.();
    this.#call();
  };
}

/** The queue of this process: one, because there is one event loop. */
export const fairQueue = new FairQueue();

/** Work that yields between its pieces and returns a result. */
export type Steps<T> = Generator<void, T, void>;

/** Runs work in slices, so that others run in between. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const wait = fairQueue.next();
    if (wait !== undefined) await wait;
  }
}

/** Runs work that is known to be short without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The bytes or characters of one piece of work: rendering them takes about 0.2 ms. */
export const PIECE_BYTES = 32 * 1024;

/** Yields after each piece of work whose cost depends on its bytes. */
export class PacedBytes {
  #bytes = 0;

  /** Call after each part of the work, of any size. Undefined if the work may go on at once. */
  next(bytes: number): Promise<void> | undefined {
    this.#bytes += bytes;
    if (this.#bytes < PIECE_BYTES) return undefined;
    this.#bytes = 0;
    return fairQueue.next();
  }
}
