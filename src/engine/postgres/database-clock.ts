import type { Clock, Instant } from "../../base/clock.ts";

/**
 * The database's time between two of its answers: the last one, plus what a clock that never goes
 * back has measured since. The time of this machine does not count.
 */
export class DatabaseClock implements Clock {
  readonly #elapsedMs: () => number;
  #databaseMs: Instant = 0;
  #heardMs = 0;

  constructor(elapsedMs: () => number = () => performance.now()) {
    this.#elapsedMs = elapsedMs;
  }

  /** Notes the time that an answer of the database contains. */
  hear(databaseMs: Instant): void {
    this.#databaseMs = databaseMs;
    this.#heardMs = this.#elapsedMs();
  }

  now(): Instant {
    return Math.floor(this.#databaseMs + this.#elapsedMs() - this.#heardMs);
  }

  elapsedMs(): number {
    return this.#elapsedMs();
  }
}
