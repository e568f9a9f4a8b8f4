import type { Transfer } from "./pace.ts";

/** An answer that waits for its client. */
interface Unsent {
  readonly bytes: number;
  /** The transfer's count at the last look; null before the first. */
  readonly moved: number | null;
}

/**
 * Answers that are whole in memory until their clients read them. They exist before anybody knows
 * that they will wait, so only closing connections can bound them: beyond the limit, the client
 * that has read nothing for longest is cut.
 */
export class UnsentAnswers {
  readonly #bytesMax: number;
  #bytes = 0;
  /** Longest without progress first. */
  readonly #unsent = new Map<Transfer, Unsent>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Replaces what this transfer had before. */
  add(transfer: Transfer, bytes: number): void {
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
      // Moves to the end, where this loop meets it again. Each is spared once.
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
