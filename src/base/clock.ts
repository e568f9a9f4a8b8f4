/** A point in time: milliseconds since 1970 UTC. */
export type Instant = number;

/** Where time comes from. It is an argument everywhere, so that tests can turn it. */
export interface Clock {
  now(): Instant;
}

export const systemClock: Clock = { now: () => Date.now() };

/** A clock that stands still until it is turned. */
export class ManualClock implements Clock {
  #nowMs: Instant;

  constructor(startMs: Instant) {
    this.#nowMs = startMs;
  }

  now(): Instant {
    return this.#nowMs;
  }

  /** Turns the clock on (or back) by this much. */
  advance(byMs: number): void {
    this.#nowMs += byMs;
  }
}
