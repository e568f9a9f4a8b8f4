import { KIB, LIST_BYTES_MAX } from "../../../base/limits.ts";
import type { MemoryBudget } from "../../../base/memory-budget.ts";

/** A longer document waits until few others are being rendered. */
const SHORT_BYTES_MAX = 64 * KIB;

/**
 * The memory of one request for a long document. Without it all lists of a busy server would be
 * rendered side by side, each a little further in every slice, and be whole in memory together.
 */
export class Rendering {
  readonly #budget: MemoryBudget;
  #bytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /** Call when the document has grown to this many bytes. Undefined if it may go on at once. */
  grownTo(bytes: number): Promise<void> | undefined {
    if (bytes <= SHORT_BYTES_MAX || this.#bytes > 0) return undefined;
    this.#bytes = LIST_BYTES_MAX;
    return this.#budget.take(LIST_BYTES_MAX);
  }

  /** Called when the request is handled: from then on the document waits for its reader. */
  end(): void {
    if (this.#bytes > 0) this.#budget.release(this.#bytes);
    this.#bytes = 0;
  }
}
