// tidy-allow sleep: messages whose receipt was lost come back in their own time
import { setTimeout as wait } from "node:timers/promises";
import type { Clients } from "./clients.ts";
import { ask, askUntilDone, type Round, type Work } from "./work.ts";

/** How long a received message is hidden. */
const HIDDEN_S = 15;
const SENDERS = 1;
const RECEIVERS = 2;

/**
 * Sends and receives messages. No acknowledged message is lost, none is delivered twice within its
 * time, and none comes back after its deletion was acknowledged.
 */
export class Messages implements Work {
  readonly #round: Round;
  readonly #sent = new Set<string>();
  readonly #deleted = new Set<string>();
  /** Whose deletion has no known outcome: they may come back, or not. */
  readonly #perhapsDeleted = new Set<string>();
  readonly #deliveredMs = new Map<string, number>();
  #count = 0;

  constructor(round: Round) {
    this.#round = round;
  }

  async prepare(): Promise<void> {
    await askUntilDone(this.#round, (to, abortSignal) => this.#queue(to).create({ abortSignal }));
  }

  get workers() {
    return [
      ...Array.from({ length: SENDERS }, () => () => this.#send()),
      ...Array.from({ length: RECEIVERS }, () => async () => {
        while (!this.#round.isOver) await this.#receive();
      }),
    ];
  }

  /** Receives until all acknowledged messages were deleted, as long as hidden ones may come back. */
  async check(): Promise<void> {
    const missing = () => [...this.#sent].filter((text) => !this.#isGone(text));
    for (const untilMs = Date.now() + 2 * HIDDEN_S * 1_000; Date.now() < untilMs; ) {
      if (missing().length === 0) return;
      await this.#receive();
    }
    for (const text of missing()) this.#round.object(`queue: the acknowledged ${text} is lost`);
  }

  async #send(): Promise<void> {
    while (!this.#round.isOver) {
      const text = `m${++this.#count}`;
      const sent = await ask(this.#round, (to, abortSignal) =>
        this.#queue(to).sendMessage(text, { abortSignal }),
      );
      if (sent.kind === "done") this.#sent.add(text);
    }
  }

  async #receive(): Promise<void> {
    const options = { numberOfMessages: 4, visibilityTimeout: HIDDEN_S };
    const received = await ask(this.#round, (to, abortSignal) =>
      this.#queue(to).receiveMessages({ ...options, abortSignal }),
    );
    if (received.kind !== "done") return;
    const nowMs = performance.now();
    const messages = received.value.receivedMessageItems;
    if (messages.length === 0) await wait(20);
    for (const { messageText: text, messageId, popReceipt } of messages) {
      this.#delivered(text, nowMs);
      await this.#delete(text, messageId, popReceipt);
    }
  }

  #delivered(text: string, nowMs: number): void {
    if (this.#deleted.has(text)) this.#round.object(`queue: ${text} came back after its deletion`);
    const beforeMs = this.#deliveredMs.get(text);
    this.#deliveredMs.set(text, nowMs);
    // Answers take some time on their way, and times of the service are whole seconds.
    if (beforeMs === undefined || nowMs - beforeMs > (HIDDEN_S - 2) * 1_000) return;
    const afterS = ((nowMs - beforeMs) / 1_000).toFixed(1);
    this.#round.object(`queue: ${text} was delivered again after ${afterS} s`);
  }

  #isGone(text: string): boolean {
    return this.#deleted.has(text) || this.#perhapsDeleted.has(text);
  }

  /** Repeats a deletion whose outcome is not known. */
  async #delete(text: string, id: string, receipt: string): Promise<void> {
    for (let isKnown = true; ; ) {
      const outcome = await ask(this.#round, (to, abortSignal) =>
        this.#queue(to).deleteMessage(id, receipt, { abortSignal }),
      );
      if (outcome.kind === "done") this.#deleted.add(text);
      // It was deleted before, or the time in which it was hidden has passed.
      if (outcome.kind === "refused" && !isKnown) this.#perhapsDeleted.add(text);
      if (outcome.kind !== "unknown") return;
      isKnown = false;
    }
  }

  #queue(to: Clients) {
    return to.queues.getQueueClient(`queue-${this.#round.name}`);
  }
}
