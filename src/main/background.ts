/** One round of work that can wait; resolves to true while there may be more to do. */
export type Round = () => Promise<boolean>;

/** Calls back once, later, unless cancelled first. */
export type Schedule = (callback: () => void, afterMs: number) => { cancel(): void };

/** Rounds follow each other with this pause, so that requests come between them. */
export const BUSY_PAUSE_MS = 20;
/** How long nothing is looked for after there was nothing to do, or after an error. */
export const IDLE_PAUSE_MS = 10_000;
/** The same while space is short, and somebody waits for what comes free. */
export const SHORT_PAUSE_MS = 500;

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

  /** While space is short rounds come more often, the first of them soon. */
  spaceIs(isShort: boolean): void {
    this.#idlePauseMs = isShort ? SHORT_PAUSE_MS : IDLE_PAUSE_MS;
    if (!isShort || this.#next === null || this.#running !== null) return;
    this.#next.cancel();
    this.#runAfter(BUSY_PAUSE_MS);
  }

  start(): void {
    this.#runAfter(this.#idlePauseMs);
  }

  /** Resolves once the round under way has ended; none begins after it. */
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
