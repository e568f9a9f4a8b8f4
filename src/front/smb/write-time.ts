/**
 * The time of the last write, as Windows has it: the first write of an open shows after a while, those
 * behind it when the open is flushed or closed, and none of them if the client sets the time itself.
 */
export class WriteTime {
  readonly #apply: () => Promise<void>;
  readonly #delayMs: number;
  #timer: NodeJS.Timeout | null = null;
  /** Whether something was written that the time does not show. */
  #isBehind = false;
  #isHeld = false;

  constructor(apply: () => Promise<void>, delayMs: number) {
    this.#apply = apply;
    this.#delayMs = delayMs;
  }

  /** Whether the client sets it itself. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  wrote(): void {
    if (this.#isHeld) return;
    this.#isBehind = true;
    // Nobody waits for this: what cannot be shown now shows when the open is closed.
    this.#timer ??= setTimeout(() => void this.flush().catch(() => {}), this.#delayMs).unref();
  }

  /** The client has set it: what was written before shows no more. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#isBehind = false;
  }

  async flush(): Promise<void> {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    await this.#apply();
  }

  /** Whether closing has to set the time. */
  end(): boolean {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const isBehind = this.#isBehind;
    this.#isBehind = false;
    return isBehind;
  }
}
