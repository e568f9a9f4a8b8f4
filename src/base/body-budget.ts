import { KIB } from "./limits.ts";

/**
 * The most bytes of records that one transaction body decodes, about 2 ms of work. Nothing else
 * runs during a body, so a long scan is split into several. The limit is a count and not a time,
 * because a body may run more than once and each run must end at the same place.
 */
export const BODY_BYTES_MAX = 128 * KIB;

/** The bytes that one body may still read. Each scan also limits its number of records. */
export class BodyBudget {
  #bytes: number;

  /** `bytes` if a body does less for each byte than decode a record. */
  constructor(bytes = BODY_BYTES_MAX) {
    this.#bytes = bytes;
  }

  get isSpent(): boolean {
    return this.#bytes <= 0;
  }

  get bytesLeft(): number {
    return this.#bytes;
  }

  /** Counts a record of this many bytes. */
  spend(bytes: number): void {
    this.#bytes -= bytes;
  }
}
