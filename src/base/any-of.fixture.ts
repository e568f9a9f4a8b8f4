/** Several of a kind, such as front ends. Each use gets another, in a fixed sequence without a pattern. */
export class AnyOf<T> {
  readonly all: readonly T[];
  #uses = 0;

  constructor(all: readonly T[]) {
    if (all.length === 0) throw new Error("there is nothing to choose from");
    this.all = all;
  }

  next(): T {
    this.#uses = (Math.imul(this.#uses, 1_664_525) + 1_013_904_223) >>> 0;
    return this.all[(this.#uses >>> 16) % this.all.length] as T;
  }
}
