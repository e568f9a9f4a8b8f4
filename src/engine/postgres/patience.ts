import { StoreError } from "../../store/store.ts";

/**
 * Ends waits while the database can be reached, but does not get done what it is asked for. An
 * example is a primary that waits for its standby. Each attempt ends with a time limit, and another
 * one might succeed, so that calls would wait for ever.
 */
export class Patience {
  readonly #ms: number;
  /** What the database does not do: "takes no commits". */
  readonly #failing: string;
  readonly #onEnd: (outage: StoreError) => void;
  #timer: NodeJS.Timeout | null = null;
  #last: unknown = null;
  #outage: StoreError | null = null;

  /** Calls `onEnd` this long after the first failure, and again after each further such time. */
  constructor(ms: number, failing: string, onEnd: (outage: StoreError) => void) {
    this.#ms = ms;
    this.#failing = failing;
    this.#onEnd = onEnd;
  }

  /** Set once attempts have failed for long, until one succeeds. */
  get outage(): StoreError | null {
    return this.#outage;
  }

  failed(error: unknown): void {
    this.#last = error;
    this.#timer ??= setInterval(() => this.#end(), this.#ms).unref();
  }

  succeeded(): void {
    this.close();
  }

  close(): void {
    this.#outage = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #end(): void {
    const why = this.#last instanceof Error ? ` (${this.#last.message})` : "";
    this.#outage = new StoreError("unreachable", `the database ${this.#failing}${why}`);
    this.#onEnd(this.#outage);
  }
}
