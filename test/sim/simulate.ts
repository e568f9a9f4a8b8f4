import type { Operation } from "../../src/check/operation.ts";
import { History } from "./history.ts";
import { Random } from "./random.ts";

export interface Simulation {
  readonly seed: number;
  readonly clients: number;
  /** Of each client. */
  readonly operations: number;
}

/** The work of a server on one request; others may run wherever it yields. */
export type Working<T> = Generator<void, T, void>;

/** A request; without a key it concerns all objects. */
export interface Chosen<Asked> {
  readonly key: string | null;
  readonly asked: Asked;
}

/** Generates the requests of clients, and learns from their answers. */
export interface Workload<Asked, Answer> {
  choose(client: number): Chosen<Asked>;
  learn(client: number, chosen: Chosen<Asked>, answer: Answer | null): void;
  /** Whether a client may leave without an answer; any may if this is not defined. */
  mayLeave?(asked: Asked): boolean;
}

/** A server and its clients. */
export interface Scene<Asked, Answer> {
  readonly server: { answer(key: string | null, asked: Asked): Working<Answer> };
  readonly workload: Workload<Asked, Answer>;
  /** Requests at the end, when all writes are done. */
  readonly looks: readonly Chosen<Asked>[];
}

/** Runs clients and a server in one thread that switches between them at random. */
export function simulate<Asked extends { readonly operation: string }, Answer>(
  { seed, clients, operations }: Simulation,
  sceneOf: (random: Random) => Scene<Asked, Answer>,
): readonly Operation<Asked, Answer>[] {
  const random = new Random(seed);
  const scene = sceneOf(random);
  const run = new Run(random, scene);
  for (let client = 0; client < clients; client++) run.start(client, operations);
  run.toTheEnd();
  for (const look of scene.looks) run.look(clients, look);
  return run.history.operations;
}

class Run<Asked extends { readonly operation: string }, Answer> {
  readonly history = new History<Asked, Answer>();
  readonly #random: Random;
  readonly #scene: Scene<Asked, Answer>;
  readonly #working: Working<unknown>[] = [];

  constructor(random: Random, scene: Scene<Asked, Answer>) {
    this.#random = random;
    this.#scene = scene;
  }

  start(client: number, operations: number): void {
    this.#working.push(this.#client(client, operations));
  }

  toTheEnd(): void {
    while (this.#working.length > 0) {
      const at = this.#random.below(this.#working.length);
      if (this.#working[at]?.next().done) this.#working.splice(at, 1);
    }
  }

  look(client: number, chosen: Chosen<Asked>): void {
    this.#working.push(this.#ask(client, chosen));
    this.toTheEnd();
  }

  *#client(client: number, operations: number): Working<void> {
    for (let left = operations; left > 0; left--) {
      yield* this.#ask(client, this.#scene.workload.choose(client));
    }
  }

  *#ask(client: number, chosen: Chosen<Asked>): Working<void> {
    const { key, asked } = chosen;
    const { server, workload } = this.#scene;
    const returned = this.history.invoke(client, key, asked);
    const mayLeave =
      key !== null && (workload.mayLeave?.(asked) ?? true) && this.history.mayLeave(key);
    const fate = mayLeave ? this.#random.weighted(FATES) : "answered";
    if (fate === "lost" || fate === "late") {
      returned(null);
      if (fate === "late") this.#working.push(server.answer(key, asked));
      return;
    }
    const isShort = asked.operation === "advance";
    if (!isShort) yield;
    const answer = yield* server.answer(key, asked);
    if (!isShort) yield;
    returned(fate === "answered" ? answer : null);
    workload.learn(client, chosen, fate === "answered" ? answer : null);
  }
}

/** What happens to a request on its way: not every client gets its answer. */
const FATES = { answered: 97, lost: 1, late: 1, "answer lost": 1 };
