/** Notes when requests succeed, to tell how long the service was away. */
export class ServiceGaps {
  #lastMs = performance.now();
  #longestMs = 0;
  readonly #successes = { REST: 0, SMB: 0 };

  /** How many requests succeeded. */
  get successes(): Readonly<Record<"REST" | "SMB", number>> {
    return this.#successes;
  }

  /** The longest time in which no request of any client succeeded. */
  get longestMs(): number {
    return Math.max(this.#longestMs, performance.now() - this.#lastMs);
  }

  /** The time since the last request that succeeded. */
  get currentMs(): number {
    return performance.now() - this.#lastMs;
  }

  succeeded(by: "REST" | "SMB" = "REST"): void {
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#successes[by]++;
  }
}
