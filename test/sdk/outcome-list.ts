import type { Outcome, RestOutcome } from "../../src/front/outcome.ts";

/** The outcomes of a server's requests, in order. */
export class OutcomeList {
  readonly all: RestOutcome[] = [];
  #wake: () => void = () => {};

  readonly add = (outcome: Outcome): void => {
    if (outcome.service !== "smb") this.all.push(outcome);
    this.#wake();
  };

  /** Resolves when there are so many. A client may have its answer a little earlier. */
  async untilThereAre(count: number): Promise<void> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
