/**
 * The last-write time, updated as Windows does: the first write of an open shows after a delay,
 * later ones when the open is flushed or closed, and none if the client sets the time itself.
 */
export class WriteTime {
  readonly #apply: () => Promise<void>;
  readonly #delayMs: number;
  #timer: NodeJS.Timeout | null = null;
  /** Whether there is a write that the time does not show yet. */
  #isBehind = false;
  #isSetByClient = false;

  constructor(apply: () => Promise<void>, delayMs: number) {
    this.#apply = apply;
    this.#delayMs = delayMs;
  }

  /** Whether the client sets the time itself. */
  get isSetByClient(): boolean {
    return this.#isSetByClient;
  }

  wrote(): void {
    if (this.#isSetByClient) return;
    this.#isBehind = true;
    // A failure is ignored: closing the open sets the time, too.
    this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), this.#delayMs).unref();
  }

  /** Call when the client sets the time: earlier writes no longer change it. */
  setByClient(isSetByClient: boolean): void {
    this.#isSetByClient = isSetByClient;
    this.#isBehind = false;
  }

  async flush(): Promise<void> {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    await this.#apply();
  }

  /** Ends the updates. True if closing has to set the time. */
  end(): boolean {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const isBehind = this.#isBehind;
    this.#isBehind = false;
    return isBehind;
  }
}
