/** A transfer is cut if, over so many checks that find us waiting for the peer, less than this moved. */
export interface PaceLimit {
  readonly checks: number;
  readonly bytesMin: number;
}

/** Bytes on their way from or to a client. */
export interface Transfer {
  /** Whether it is the client's turn: time that we take ourselves is not held against it. */
  readonly waiting: boolean;
  /** Bytes so far. */
  readonly moved: number;
  cut(): void;
}

/**
 * Cuts transfers that hardly move, however large they are, and leaves alone those that go on
 * steadily, however long they take. It looks now and then, which costs nothing in between.
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
