import { KIB } from "./limits.ts";

/**
 * Of records that one body decodes, about 2 ms of work. Nothing else runs while the body of a transaction
 * runs, so a long scan is several bodies. What ends them is counted and not timed: a body may run more
 * than once, and each run has to end at the same place.
 */
export const BODY_BYTES_MAX = 128 * KIB;

/** What one body may still spend. The number of records is a limit of its own, which each scan sets. */
export class BodyBudget {
  #bytes = BODY_BYTES_MAX;

  get isSpent(): boolean {
    return this.#bytes <= 0;
  }

  /** A record of so many bytes was found. */
  spend(bytes: number): void {
    this.#bytes -= bytes;
  }
}
