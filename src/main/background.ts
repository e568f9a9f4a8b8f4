import { fairQueue } from "../base/fair-queue.ts";
import type { Schedule } from "../base/schedule.ts";

/** One round of background work; resolves to true while there may be more to do. */
export type Round = () => Promise<boolean>;

/** The pause between rounds, so that requests run between them. */
export const BUSY_PAUSE_MS = 20;
/** The pause after a round without work, or after an error. */
export const IDLE_PAUSE_MS = 10_000;
/** That pause while space is short, and writers wait for space. */
export const SHORT_PAUSE_MS = 500;

/** Enough for the clean-up of a large experiment. */
const CATCH_UP_ROUNDS_MAX = 1_000;

/** Timers that do not keep the process alive. */
export const systemSchedule: Schedule = (callback, afterMs) => {
  const timer = setTimeout(callback, afterMs).unref();
  return { cancel: () => clearTimeout(timer) };
};

/** Runs rounds of background work, one at a time, until stopped. */
export class Background {
  readonly #rounds: readonly Round[];
  readonly #schedule: Schedule;
  readonly #onError: (error: unknown) => void;
  #next: { cancel(): void } | null = null;
  #running: Promise<void> | null = null;
  #idlePauseMs = IDLE_PAUSE_MS;
  #stopped = false;

  constructor(rounds: readonly Round[], schedule: Schedule, onError: (error: unknown) => void) {
    this.#rounds = rounds;
    this.#schedule = schedule;
    this.#onError = onError;
  }

  /** Runs rounds more often while space is short, the first of them soon. */
  spaceIs(isShort: boolean): void {
    this.#idlePauseMs = isShort ? SHORT_PAUSE_MS : IDLE_PAUSE_MS;
    if (!isShort || this.#next === null || this.#running !== null) return;
    this.#next.cancel();
    this.#runAfter(BUSY_PAUSE_MS);
  }

  start(): void {
    this.#runAfter(this.#idlePauseMs);
  }

  /** Runs rounds now until there is no more to do, or very much. Requests run between them. */
  async catchUp(): Promise<void> {
    await this.alone(async () => {
      for (let round = 0; round < CATCH_UP_ROUNDS_MAX && (await this.#runAll()); round++) {
        // In memory a round ends before the event loop has looked at any socket.
        await fairQueue.yield();
      }
    });
  }

  /** Does some work while no round runs. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.#next?.cancel();
    await this.#running;
    // Another caller may have been faster.
    if (this.#running !== null) return this.alone(work);
    const working = work();
    this.#next?.cancel();
    this.#running = working.then(
      () => this.#goOn(),
      () => this.#goOn(),
    );
    return working;
  }

  #goOn(): void {
    this.#running = null;
    this.#runAfter(this.#idlePauseMs);
  }

  /** Starts no more rounds, and resolves once the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#next?.cancel();
    await this.#running;
  }

  #runAfter(pauseMs: number): void {
    if (this.#stopped) return;
    this.#next = this.#schedule(() => {
      this.#running = this.#runAll().then((isMore) => {
        this.#running = null;
        this.#runAfter(isMore ? BUSY_PAUSE_MS : this.#idlePauseMs);
      });
    }, pauseMs);
  }

  async #runAll(): Promise<boolean> {
    let isMore = false;
    for (const round of this.#rounds) {
      if (this.#stopped) return false;
      try {
        if (await round()) isMore = true;
      } catch (error) {
        this.#onError(error);
      }
    }
    return isMore;
  }
}
