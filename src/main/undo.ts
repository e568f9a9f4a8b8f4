/** Takes back, last first, the steps that have been done so far. */
export class Undo {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** Each step is taken back once, however often this is called. */
  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step();
  }
}
