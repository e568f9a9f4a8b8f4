import { emptyQueue, perform, type QueueState, type Step } from "./queue-model.ts";
import type { QueueAnswer, QueueAsked } from "./queue-words.ts";
import type { Random } from "./random.ts";
import type { Working } from "./simulate.ts";

/** Bugs that servers have. The checker must find each of them. */
export const QUEUE_BUGS = [
  "lost message",
  "handed to two",
  "comes back early",
  "never comes back",
  "ghost of a deleted message",
  "clear forgets one",
  "delivered after it expired",
  "old receipt still good",
  "receipt given twice",
  "count not raised",
  "peek hides",
  "refused but deleted",
  "update keeps the old text",
] as const;

export type QueueBug = (typeof QUEUE_BUGS)[number];

/** A server without sockets and disks that is correct, except for the bug it is given. */
export class SimulatedQueues {
  readonly #random: Random;
  readonly #bug: QueueBug | null;
  readonly #states: Map<string, QueueState>;
  #names = 0;
  #lastReceipt = "";

  constructor(random: Random, keys: readonly string[], startMs: number, bug: QueueBug | null) {
    this.#random = random;
    this.#bug = bug;
    this.#states = new Map(keys.map((key) => [key, emptyQueue(startMs)]));
  }

  *answer(key: string | null, asked: QueueAsked): Working<QueueAnswer> {
    if (key === null) return this.#advance(asked);
    const before = this.#stateOf(key);
    if (this.#bug === "handed to two" && asked.operation === "get") {
      const step = this.#perform(before, asked);
      yield;
      yield;
      this.#commit(key, step.state);
      return step.answer;
    }
    const step = this.#perform(this.#seenBy(before, asked), this.#mistaken(asked));
    this.#commit(key, this.#spoiled(before, asked, step));
    return step.answer;
  }

  #advance(asked: QueueAsked): QueueAnswer {
    for (const [key, state] of this.#states) {
      this.#states.set(key, this.#perform(state, asked).state);
    }
    return { refused: null, messages: [] };
  }

  /** The state that an operation is judged by. */
  #seenBy(state: QueueState, asked: QueueAsked): QueueState {
    if (this.#bug === "comes back early" && asked.operation === "get") {
      return changed(state, (message) => ({
        ...message,
        visibleAtMs: message.visibleAtMs - 1_000,
      }));
    }
    if (this.#bug === "delivered after it expired" && asked.operation === "get") {
      return changed(state, (message) => ({ ...message, expiresMs: null }));
    }
    if (this.#bug === "old receipt still good" && asked.operation === "delete") {
      const { receipt } = asked.handle;
      return changed(state, (message, name) =>
        name === asked.name ? { ...message, receipt } : message,
      );
    }
    return state;
  }

  #mistaken(asked: QueueAsked): QueueAsked {
    if (this.#bug !== "update keeps the old text" || asked.operation !== "update") return asked;
    return { ...asked, text: asked.name };
  }

  /** The state that is stored at the end. */
  #spoiled(before: QueueState, asked: QueueAsked, { state, answer }: Step): QueueState {
    const isSeldom = this.#random.chance(0.3);
    switch (this.#bug) {
      case "lost message":
        return asked.operation === "put" && isSeldom ? before : state;
      case "never comes back":
        if (asked.operation !== "get" || answer.refused !== null) return state;
        return changed(state, (message) =>
          message.dequeueCount > 1 ? { ...message, visibleAtMs: Number.MAX_SAFE_INTEGER } : message,
        );
      case "ghost of a deleted message":
        return asked.operation === "delete" && isSeldom ? before : state;
      case "clear forgets one":
        return asked.operation === "clear" ? before : state;
      case "count not raised":
        if (asked.operation !== "get") return state;
        return changed(state, (message, name) => ({
          ...message,
          dequeueCount: before.messages[name]?.dequeueCount ?? 0,
        }));
      case "peek hides":
        if (asked.operation !== "peek") return state;
        return changed(state, (message) => ({
          ...message,
          visibleAtMs: Math.max(message.visibleAtMs, state.nowMs + 5_000),
        }));
      case "refused but deleted": {
        if (answer.refused === null || asked.operation !== "delete") return state;
        const { [asked.name]: _, ...messages } = state.messages;
        return { ...state, messages };
      }
      default:
        return state;
    }
  }

  #perform(state: QueueState, asked: QueueAsked): Step {
    return perform(state, asked, {
      idOf: (name) => `id of ${name}`,
      receiptOf: () => {
        const isOld = this.#bug === "receipt given twice" && this.#random.chance(0.2);
        if (!isOld || this.#lastReceipt === "") this.#lastReceipt = `receipt-${++this.#names}`;
        return this.#lastReceipt;
      },
      take: (visible, max) => visible.slice(0, max),
    });
  }

  #commit(key: string, state: QueueState): void {
    // Time advances, whatever state it was judged by.
    this.#states.set(key, { ...state, nowMs: this.#stateOf(key).nowMs });
  }

  #stateOf(key: string): QueueState {
    return this.#states.get(key) as QueueState;
  }
}

type Message = QueueState["messages"][string];

function changed(state: QueueState, by: (message: Message, name: string) => Message): QueueState {
  const entries = Object.entries(state.messages).map(([name, one]) => [name, by(one, name)]);
  return { ...state, messages: Object.fromEntries(entries) };
}
