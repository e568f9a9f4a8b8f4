import type { Operation } from "../../src/check/operation.ts";

/**
 * The most unanswered operations on one object. The checker tries to place each of them between any
 * two later operations, or nowhere, so each multiplies the time of its search.
 */
const UNANSWERED_MAX = 4;

/**
 * Everything that the clients of a run did. Times are ticks of one counter in the observing
 * process: an operation surely came before another if it had returned when the other was invoked.
 */
export class History<Asked, Answer> {
  readonly #operations: Operation<Asked, Answer>[] = [];
  readonly #unanswered = new Map<string | null, number>();
  #ticks = 0;

  get operations(): readonly Operation<Asked, Answer>[] {
    return this.#operations;
  }

  /** Returns the function to call with the answer, or with null if none will come. */
  invoke(client: number, key: string | null, asked: Asked): (answer: Answer | null) => void {
    const invoked = this.#ticks++;
    return (answer) => {
      if (answer === null) this.#unanswered.set(key, (this.#unanswered.get(key) ?? 0) + 1);
      const returned = answer === null ? Number.POSITIVE_INFINITY : this.#ticks++;
      this.#operations.push({ client, key, asked, answer, invoked, returned });
    };
  }

  /** Whether a client may leave before this object's answer comes, so that the check can decide. */
  mayLeave(key: string | null): boolean {
    return (this.#unanswered.get(key) ?? 0) < UNANSWERED_MAX;
  }
}
