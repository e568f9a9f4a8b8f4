import type { Clients } from "./clients.ts";
import { ask, askUntilDone, pause, type Round, type Work } from "./work.ts";

/** How long a received message is hidden. */
const HIDDEN_S = 10;
const CHECK_MS_MAX = 5 * 60_000;
const SENDERS = 1;
const RECEIVERS = 2;

/** A request for messages, by the client's clock: it was done at some time between both. */
interface Delivery {
  readonly askedMs: number;
  readonly answeredMs: number;
}

/**
 * Sends and receives messages. No acknowledged message is lost, none is delivered twice within its
 * time, and none comes back after its deletion was acknowledged.
 */
export class Messages implements Work {
  readonly #round: Round;
  readonly #sent = new Set<string>();
  /** When their deletion was acknowledged. */
  readonly #deletedMs = new Map<string, number>();
  /** Whose deletion has no known outcome: they may come back, or not. */
  readonly #perhapsDeleted = new Set<string>();
  readonly #deliveries = new Map<string, Delivery>();
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
    const beganMs = performance.now();
    for (let isEmpty = false; missing().length > 0; ) {
      const passedMs = performance.now() - beganMs;
      // Only an answer without messages tells that they are gone: some answers never come.
      if ((isEmpty && passedMs > 2 * HIDDEN_S * 1_000) || passedMs > CHECK_MS_MAX) break;
      isEmpty = (await this.#receive()) === 0;
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
      await pause();
    }
  }

  /** Returns how many messages came; null if nobody knows. */
  async #receive(): Promise<number | null> {
    const options = { numberOfMessages: 4, visibilityTimeout: HIDDEN_S };
    const askedMs = performance.now();
    const received = await ask(this.#round, (to, abortSignal) =>
      this.#queue(to).receiveMessages({ ...options, abortSignal }),
    );
    if (received.kind !== "done") return null;
    const delivery = { askedMs, answeredMs: performance.now() };
    const messages = received.value.receivedMessageItems;
    if (messages.length === 0) await pause();
    for (const { messageText: text, messageId, popReceipt } of messages) {
      this.#delivered(text, delivery);
      await this.#delete(text, messageId, popReceipt);
    }
    return messages.length;
  }

  /** Answers may come late and in another order, so only what is sure counts. */
  #delivered(text: string, delivery: Delivery): void {
    const deletedMs = this.#deletedMs.get(text);
    if (deletedMs !== undefined && deletedMs < delivery.askedMs) {
      this.#round.object(`queue: ${text} came back after its deletion`);
    }
    const before = this.#deliveries.get(text);
    this.#deliveries.set(text, delivery);
    if (before === undefined) return;
    const lastMs = Math.max(before.answeredMs, delivery.answeredMs);
    const apartMs = lastMs - Math.min(before.askedMs, delivery.askedMs);
    // Times of the service are whole seconds.
    if (apartMs > (HIDDEN_S - 2) * 1_000) return;
    this.#round.object(`queue: ${text} was delivered twice within ${Math.ceil(apartMs)} ms`);
  }

  #isGone(text: string): boolean {
    return this.#deletedMs.has(text) || this.#perhapsDeleted.has(text);
  }

  /** Repeats a deletion whose outcome is not known. */
  async #delete(text: string, id: string, receipt: string): Promise<void> {
    for (let isKnown = true; ; ) {
      const outcome = await ask(this.#round, (to, abortSignal) =>
        this.#queue(to).deleteMessage(id, receipt, { abortSignal }),
      );
      if (outcome.kind === "done") this.#deletedMs.set(text, performance.now());
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
