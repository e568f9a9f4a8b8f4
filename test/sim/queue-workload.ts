import { namesIn } from "./queue-model.ts";
import { type Handle, nameIn, type QueueAnswer, type QueueAsked } from "./queue-words.ts";
import type { Random } from "./random.ts";
import type { Chosen, Workload } from "./simulate.ts";

export const QUEUES = ["queue-0", "queue-1"];

const WEIGHTS = { put: 20, get: 34, peek: 8, update: 12, delete: 28, clear: 2, advance: 6 };
const ADVANCES_MS = [300, 700, 1_000, 2_000, 5_000, 20_000];
const HIDDEN_S = [1, 2, 5, 20];

interface Taken {
  readonly name: string;
  readonly handle: Handle;
}

/** Generates the requests of clients to a few queues so that they conflict. */
export class QueueWorkload implements Workload<QueueAsked, QueueAnswer> {
  readonly #random: Random;
  /** Receipts that clients got, by queue, latest last. Clients share them. */
  readonly #taken = new Map<string, Taken[]>(QUEUES.map((key) => [key, []]));
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  choose(): Chosen<QueueAsked> {
    const random = this.#random;
    const key = random.pick(QUEUES);
    const operation = random.weighted(WEIGHTS);
    switch (operation) {
      case "advance":
        return { key: null, asked: { operation, byMs: random.pick(ADVANCES_MS) } };
      case "put":
        return { key, asked: this.#put() };
      case "get": {
        const max = random.pick([1, 1, 1, 2, 4]);
        return { key, asked: { operation, max, hiddenS: random.pick(HIDDEN_S) } };
      }
      case "update":
      case "delete":
        return { key, asked: this.#change(key, operation) };
      default:
        return { key, asked: { operation } };
    }
  }

  learn(_client: number, { key, asked }: Chosen<QueueAsked>, answer: QueueAnswer | null): void {
    if (key === null || answer === null || answer.refused !== null) return;
    const taken = this.#taken.get(key) as Taken[];
    for (const { id, text, receipt } of answer.messages) {
      if (receipt === null) continue;
      const name = "name" in asked ? asked.name : nameIn(text ?? "");
      const known = id ?? ("handle" in asked ? asked.handle.id : "");
      taken.push({ name, handle: { id: known, receipt } });
    }
    // A deleted message is not forgotten: some clients try again.
    if (asked.operation === "get" && namesIn(answer).length === 0) taken.splice(0, 2);
  }

  /**
   * A client that leaves without an answer takes at most one message, so the possibilities are few.
   */
  mayLeave(asked: QueueAsked): boolean {
    return asked.operation !== "get" || asked.max === 1;
  }

  #put(): QueueAsked {
    const random = this.#random;
    const name = `m${++this.#names}`;
    const hiddenS = random.pick([0, 0, 0, 0, 1, 3]);
    return { operation: "put", name, hiddenS, lifeS: random.pick([null, null, null, 4, 30]) };
  }

  /** Mostly with one of the last receipts; puts a message if there are none. */
  #change(key: string, operation: "update" | "delete"): QueueAsked {
    const random = this.#random;
    const latest = (this.#taken.get(key) as Taken[]).slice(-8);
    if (latest.length === 0) return this.#put();
    const { name, handle } = random.pick(latest);
    if (operation === "delete") return { operation, name, handle };
    const text = `${name}/${++this.#names}`;
    return { operation, name, handle, text, hiddenS: random.pick([0, ...HIDDEN_S]) };
  }
}
