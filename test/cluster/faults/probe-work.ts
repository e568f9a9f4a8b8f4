// tidy-allow sleep: a probe is sent ten times a second
import { setTimeout as wait } from "node:timers/promises";
import { outcomeOf } from "./outcome.ts";
import { askUntilDone, type Round, type Work } from "./work.ts";

const PROBE_MS = 100;

/**
 * Writes a small blob ten times a second, without waiting for earlier answers: other clients may
 * all hang at a front end that was cut off, although the service goes on.
 */
export class Probe implements Work {
  readonly #round: Round;

  constructor(round: Round) {
    this.#round = round;
  }

  async prepare(): Promise<void> {
    await askUntilDone(
      this.#round,
      (to, abortSignal) => to.blobs.getContainerClient(this.#container).create({ abortSignal }),
      true,
    );
  }

  get workers() {
    return [() => this.#work()];
  }

  async check(): Promise<void> {}

  async #work(): Promise<void> {
    const sent: Promise<void>[] = [];
    while (!this.#round.isOver) {
      sent.push(this.#send());
      await wait(PROBE_MS);
    }
    await Promise.all(sent);
  }

  async #send(): Promise<void> {
    const { blobs } = this.#round.clients.any;
    const blob = blobs.getContainerClient(this.#container).getBlockBlobClient("probe");
    const outcome = await outcomeOf((abortSignal) => blob.upload("probe", 5, { abortSignal }));
    if (outcome.kind === "done" && !this.#round.isOver) this.#round.gaps.succeeded();
  }

  get #container(): string {
    return `probe-${this.#round.name}`;
  }
}
