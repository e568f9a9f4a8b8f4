/** Cuts a transfer that moves less than `bytesMin` in `checks` checks that find it waiting. */
export interface PaceLimit {
  readonly checks: number;
  readonly bytesMin: number;
}

/** Bytes on their way from or to a client. */
export interface Transfer {
  /** Whether we wait for the client. Time in which the client waits for us does not count. */
  readonly waiting: boolean;
  /** Bytes so far. */
  readonly moved: number;
  cut(): void;
}

/**
 * Cuts transfers that stall, whatever their size, and never those that make progress, however long
 * they take. A periodic check compares counters, so a transfer costs nothing in between.
 */
export class Pace {
  readonly #limit: PaceLimit;
  readonly #watched = new Map<Transfer, { checks: number; moved: number }>();

  constructor(limit: PaceLimit) {
    this.#limit = limit;
  }

  watch(transfer: Transfer): void {
    this.#watched.set(transfer, { checks: 0, moved: transfer.moved });
  }

  forget(transfer: Transfer): void {
    this.#watched.delete(transfer);
  }

  check(): void {
    for (const [transfer, seen] of this.#watched) {
      if (!transfer.waiting) continue;
      if (transfer.moved - seen.moved >= this.#limit.bytesMin) {
        seen.checks = 0;
        seen.moved = transfer.moved;
      } else if (++seen.checks === this.#limit.checks) {
        this.#watched.delete(transfer);
        transfer.cut();
      }
    }
  }
}
