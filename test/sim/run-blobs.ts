import { AccountSASPermissions } from "@azure/storage-blob";
import { BlobSweep } from "../../src/service/blob/sweep.ts";
import type { TestServer } from "../sdk/server.ts";
import { type BlobAnswer, type BlobAsked, EMPTY_ANSWER } from "./blob-words.ts";
import { BlobWorkload, keysOf } from "./blob-workload.ts";
import type { BlobOperation } from "./check-blobs.ts";
import { delayBodies } from "./delay-bodies.ts";
import { History } from "./history.ts";
import { HttpBlobs } from "./http-blobs.ts";
import { Random } from "./random.ts";
import type { Chosen } from "./simulate.ts";

export interface BlobRun {
  readonly seed: number;
  readonly clients: number;
  readonly blobs: number;
  /** Of each client. */
  readonly operations: number;
}

/** Stored in records, in extents, and larger than socket buffers. */
const SIZES = [60, 60, 60, 200, 200, 5_000, 16_384, 16_385, 60_000, 800_000];
const NO_GUARDS = { ifMatch: null, ifNoneMatch: null, leaseId: null };

/** What happens to a request: some clients leave, some read slowly. */
const MANNERS = { waits: 90, leaves: 2, dawdles: 8 };
const SWEEPS = 0.05;
/** Answers to others that a slow reader waits for. */
const DAWDLED_ANSWERS = 12;

/** Runs many clients against a real server, advances its clock, and records the history. */
export async function runBlobs(
  server: TestServer,
  asked: BlobRun,
): Promise<{ history: readonly BlobOperation[]; startMs: number }> {
  const container = server.client().getContainerClient(`run-${asked.seed}`);
  await container.create();
  const http = new HttpBlobs(container.url + signatureFor(server));
  const keys = keysOf(asked.blobs);
  const random = new Random(asked.seed);
  delayBodies(server.context.store, new Random(asked.seed));
  const run = new Run(server, http, random, new BlobWorkload(random, keys, SIZES));
  const startMs = server.clock.now();
  try {
    await run.clients(asked.clients, asked.operations);
    // Reads the final state, when all writes are done.
    for (const key of [...keys, null]) await run.look(key, asked.clients);
  } finally {
    http.close();
  }
  return { history: run.history.operations, startMs };
}

/** A SAS that stays valid whatever the clock shows. */
function signatureFor(server: TestServer): string {
  const expires = new Date(server.clock.now() + 365 * 86_400_000);
  const permissions = AccountSASPermissions.parse("rwdlac");
  return new URL(server.client().generateAccountSasUrl(expires, permissions, "co")).search;
}

class Run {
  readonly history = new History<BlobAsked, BlobAnswer>();
  readonly #server: TestServer;
  readonly #http: HttpBlobs;
  readonly #random: Random;
  readonly #workload: BlobWorkload;
  readonly #sweep: BlobSweep;
  readonly #sweeps: Promise<unknown>[] = [];
  #busy = 0;
  #dawdler: { left: number; goOn(): void } | null = null;

  constructor(server: TestServer, http: HttpBlobs, random: Random, workload: BlobWorkload) {
    this.#server = server;
    this.#http = http;
    this.#random = random;
    this.#workload = workload;
    this.#sweep = new BlobSweep(server.context);
  }

  async clients(count: number, operations: number): Promise<void> {
    this.#busy = count;
    const client = async (name: number) => {
      for (let left = operations; left > 0; left--) await this.#act(name);
      // The last busy client has no others to wait for.
      if (--this.#busy === 1) this.#endDawdling();
    };
    await Promise.all(Array.from({ length: count }, (_, name) => client(name)));
    await Promise.all(this.#sweeps);
  }

  async look(key: string | null, client: number): Promise<void> {
    const asked: BlobAsked =
      key === null ? { operation: "list" } : { operation: "get", ...NO_GUARDS };
    const returned = this.history.invoke(client, key, asked);
    returned(await this.#http.ask(key, asked));
  }

  async #act(client: number): Promise<void> {
    if (this.#random.chance(SWEEPS)) {
      this.#sweeps.push(this.#sweep.sweep(), this.#server.context.contents.sweep());
    }
    const chosen = this.#workload.choose(client);
    const { key, asked } = chosen;
    const returned = this.history.invoke(client, key, asked);
    const answer = await this.#ask(chosen);
    returned(answer);
    this.#workload.learn(client, chosen, answer);
    if (this.#dawdler !== null && --this.#dawdler.left <= 0) this.#endDawdling();
  }

  async #ask({ key, asked }: Chosen<BlobAsked>): Promise<BlobAnswer | null> {
    if (asked.operation === "advance") {
      this.#server.clock.advance(asked.byMs);
      return EMPTY_ANSWER;
    }
    const manner = this.#random.weighted(MANNERS);
    if (manner === "leaves" && this.history.mayLeave(key)) {
      await this.#http.leave(key, asked);
      return null;
    }
    const dawdles = manner === "dawdles" && asked.operation === "get";
    return this.#http.ask(key, asked, dawdles ? this.#dawdle() : null);
  }

  /** One client at a time, and never the last one, so that others are there to continue. */
  #dawdle(): Promise<void> | null {
    if (this.#dawdler !== null || this.#busy <= 1) return null;
    return new Promise((resolve) => {
      this.#dawdler = { left: DAWDLED_ANSWERS, goOn: resolve };
    });
  }

  #endDawdling(): void {
    this.#dawdler?.goOn();
    this.#dawdler = null;
  }
}
