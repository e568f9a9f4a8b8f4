import type { Clock, Instant } from "../base/clock.ts";
import type { Transfer } from "./pace.ts";

/** A client that reads nothing for so long counts as stalled while memory is short. */
const STALLED_MS = 1_000;
/** How far clients that do read may exceed the limit, together. */
const HARD_LIMITS = 4;

/** An answer that waits for its client. */
interface Unsent {
  readonly bytes: number;
  /** The transfer's count when it was last seen to have moved, and when that was. */
  readonly moved: number;
  readonly movedMs: Instant;
}

/**
 * Answers that are whole in memory until their clients read them. They exist before anybody knows
 * that they will wait, so only closing connections can bound them. Beyond the limit, stalled clients
 * are cut, longest without progress first. Clients that read, or have only just got their answer,
 * are cut only beyond four times the limit.
 */
export class UnsentAnswers {
  readonly bytesMax: number;
  readonly #clock: Clock;
  #bytes = 0;
  /** Longest without progress first. */
  readonly #unsent = new Map<Transfer, Unsent>();

  constructor(bytesMax: number, clock: Clock) {
    this.bytesMax = bytesMax;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Replaces what this transfer had before. */
  add(transfer: Transfer, bytes: number): void {
    this.release(transfer);
    this.#unsent.set(transfer, { bytes, moved: transfer.moved, movedMs: this.#clock.now() });
    this.#bytes += bytes;
    if (this.#bytes <= this.bytesMax) return;
    this.#cutStalled();
    this.#cutDownTo(HARD_LIMITS * this.bytesMax);
  }

  release(transfer: Transfer): void {
    const unsent = this.#unsent.get(transfer);
    if (unsent === undefined) return;
    this.#unsent.delete(transfer);
    this.#bytes -= unsent.bytes;
  }

  #cutStalled(): void {
    const now = this.#clock.now();
    for (const [transfer, { bytes, moved, movedMs }] of [...this.#unsent]) {
      if (this.#bytes <= this.bytesMax) return;
      if (transfer.moved > moved) {
        this.#unsent.delete(transfer);
        this.#unsent.set(transfer, { bytes, moved: transfer.moved, movedMs: now });
      } else if (now - movedMs >= STALLED_MS) {
        this.#cut(transfer);
      }
    }
  }

  #cutDownTo(bytesMax: number): void {
    for (const transfer of this.#unsent.keys()) {
      if (this.#bytes <= bytesMax) return;
      this.#cut(transfer);
    }
  }

  #cut(transfer: Transfer): void {
    this.release(transfer);
    transfer.cut();
  }
}
