import type { BlobAnswer, BlobAsked } from "./blob-words.ts";
import { BlobWorkload, type Chosen, keysOf } from "./blob-workload.ts";
import type { BlobOperation } from "./check-blobs.ts";
import { History } from "./history.ts";
import { Random } from "./random.ts";
import { type Bug, SimulatedBlobs, type Working } from "./simulated-blobs.ts";

export interface Simulation {
  readonly seed: number;
  readonly bug: Bug | null;
  readonly clients: number;
  readonly blobs: number;
  /** Of each client. */
  readonly operations: number;
}

const START_MS = 1_000_000;
const SIZES = [40, 50, 60];

/** Runs clients and a server in one thread that jumps between them at random. */
export function simulate(asked: Simulation): {
  history: readonly BlobOperation[];
  startMs: number;
} {
  const random = new Random(asked.seed);
  const keys = keysOf(asked.blobs);
  const run = new Run(
    random,
    new SimulatedBlobs(random, keys, START_MS, asked.bug),
    new BlobWorkload(random, keys, SIZES),
  );
  for (let client = 0; client < asked.clients; client++) run.start(client, asked.operations);
  run.toTheEnd();
  run.lookAt(keys, asked.clients);
  return { history: run.history.operations, startMs: START_MS };
}

class Run {
  readonly history = new History<BlobAsked, BlobAnswer>();
  readonly #random: Random;
  readonly #server: SimulatedBlobs;
  readonly #workload: BlobWorkload;
  readonly #working: Working<unknown>[] = [];

  constructor(random: Random, server: SimulatedBlobs, workload: BlobWorkload) {
    this.#random = random;
    this.#server = server;
    this.#workload = workload;
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

  /** What is there in the end, when nobody writes any more. */
  lookAt(keys: readonly string[], client: number): void {
    for (const key of keys) {
      const guards = { ifMatch: null, ifNoneMatch: null, leaseId: null };
      this.#working.push(this.#ask(client, { key, asked: { operation: "get", ...guards } }));
      this.toTheEnd();
    }
  }

  *#client(client: number, operations: number): Working<void> {
    for (let left = operations; left > 0; left--) {
      yield* this.#ask(client, this.#workload.choose(client));
    }
  }

  *#ask(client: number, chosen: Chosen): Working<void> {
    const { key, asked } = chosen;
    const told = this.history.invoke(client, key, asked);
    const fate = key === null ? "answered" : this.#random.weighted(FATES);
    if (fate === "lost" || fate === "late") {
      told(null);
      if (fate === "late") this.#working.push(this.#server.answer(key, asked));
      return;
    }
    const isShort = asked.operation === "turn";
    if (!isShort) yield;
    const answer = yield* this.#server.answer(key, asked);
    if (!isShort) yield;
    told(fate === "answered" ? answer : null);
    this.#workload.learn(client, chosen, fate === "answered" ? answer : null);
  }
}

/** What becomes of a request on its way: not every client hears what came of it. */
const FATES = { answered: 97, lost: 1, late: 1, "answer lost": 1 };
