/** A point in time: milliseconds since 1970 UTC. */
export type Instant = number;

/** A source of time. It is an argument everywhere, so that tests can set it. */
export interface Clock {
  now(): Instant;
  /** Milliseconds since any start, with fractions. Never goes back: for durations. */
  elapsedMs(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
};

/** A test clock that stands still until it is advanced. */
export class ManualClock implements Clock {
  #nowMs: Instant;

  constructor(startMs: Instant) {
    this.#nowMs = startMs;
  }

  now(): Instant {
    return this.#nowMs;
  }

  elapsedMs(): number {
    return this.#nowMs;
  }

  /** Advances the clock, or sets it back if negative. */
  advance(byMs: number): void {
    this.#nowMs += byMs;
  }
}
