import type { Transfer } from "./pace.ts";

/** What is known of an answer that waits for its client. */
interface Unsent {
  readonly bytes: number;
  /** Null if it has had no chance to move yet. */
  readonly moved: number | null;
}

/**
 * Answers that are whole in memory until their clients take them. They were made before anybody could know
 * that they would wait, so the only way to bound them is to close connections: if there are too many bytes, the
 * reader that has taken nothing for longest is closed.
 */
export class UnsentAnswers {
  readonly #bytesMax: number;
  #bytes = 0;
  /** Those that have stood still for longest come first. */
  readonly #unsent = new Map<Transfer, Unsent>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Replaces what was held of this transfer before. */
  hold(transfer: Transfer, bytes: number): void {
    this.release(transfer);
    this.#unsent.set(transfer, { bytes, moved: null });
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#makeRoom();
  }

  release(transfer: Transfer): void {
    const unsent = this.#unsent.get(transfer);
    if (unsent === undefined) return;
    this.#unsent.delete(transfer);
    this.#bytes -= unsent.bytes;
  }

  #makeRoom(): void {
    let looks = this.#unsent.size;
    for (const [transfer, { bytes, moved }] of this.#unsent) {
      const hasMoved = moved === null || transfer.moved > moved;
      // Behind all others, and seen again by this loop. Each is spared once.
      if (hasMoved && looks > 0) {
        this.#unsent.delete(transfer);
        this.#unsent.set(transfer, { bytes, moved: transfer.moved });
      } else {
        this.release(transfer);
        transfer.cut();
      }
      looks--;
      if (this.#bytes <= this.#bytesMax) return;
    }
  }
}
