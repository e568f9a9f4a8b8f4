/** Something a client asked for, and what it was told. */
export interface Operation<Asked, Answer> {
  readonly client: number;
  /** The object that it is about; null for what is about all of them. */
  readonly key: string | null;
  readonly asked: Asked;
  /** Null if none came: then it may have happened at any time since it was invoked, or never. */
  readonly answer: Answer | null;
  readonly invoked: number;
  /** Infinity if no answer came. */
  readonly returned: number;
}

/**
 * What all clients of a run did. Times are ticks of one counter in the process that observes: of two
 * operations, one came first for sure if it had returned when the other was invoked.
 */
export class History<Asked, Answer> {
  readonly #operations: Operation<Asked, Answer>[] = [];
  #ticks = 0;

  get operations(): readonly Operation<Asked, Answer>[] {
    return this.#operations;
  }

  /** Returns what is to be called with the answer, or with null if none will come. */
  invoke(client: number, key: string | null, asked: Asked): (answer: Answer | null) => void {
    const invoked = this.#ticks++;
    return (answer) => {
      const returned = answer === null ? Number.POSITIVE_INFINITY : this.#ticks++;
      this.#operations.push({ client, key, asked, answer, invoked, returned });
    };
  }
}
