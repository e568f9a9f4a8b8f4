import { Connection } from "./connection.ts";
import { cpuMicrosOfGenerator, cpuMicrosOfTree } from "./proc.ts";
import type { Reading } from "./reading.ts";
import type { RoundRobin } from "./round-robin.ts";
import type { Run } from "./run.ts";
import type { Target } from "./server.ts";
import type { Wrk } from "./wrk.ts";

/** Requests that one client sends in order. */
type Groups = readonly (readonly Buffer[])[];

const CONNECTIONS = 32;
/** More concurrent writers share one flush. */
const FILLING_CONNECTIONS = 256;
/**
 * Long enough for the JIT compiler of a server in JavaScript to optimize the hot paths. Some of
 * ours are compiled again when the first checkpoint runs, some seconds later.
 */
const WARM_UP_SECONDS = 10;

/** Sends requests that were signed beforehand, so that the generator costs little. */
export class Load {
  readonly #seconds: number;
  readonly #wrk: Wrk | null;
  readonly #slots: RoundRobin;

  constructor(seconds: number, wrk: Wrk | null, slots: RoundRobin) {
    this.#seconds = seconds;
    this.#wrk = wrk;
    this.#slots = slots;
  }

  /** Returns the same load, scheduled in these slots. */
  in(slots: RoundRobin): Load {
    return new Load(this.#seconds, this.#wrk, slots);
  }

  /** Sends requests from many concurrent clients. The value is in requests per second. */
  async many(target: Target, requests: readonly Buffer[]): Promise<Reading> {
    await expectSuccess(target, requests);
    // wrk would wait for the body that a response to HEAD announces and does not have.
    const isHead = requests[0]?.toString("latin1", 0, 4) === "HEAD";
    const wrk = isHead ? null : this.#wrk;
    return this.#warm(target, (seconds) =>
      wrk === null
        ? replay(target.port, oneByOne(requests), CONNECTIONS, seconds)
        : wrk.replay(target.port, requests, CONNECTIONS, seconds),
    );
  }

  /** Sends groups from many concurrent clients. One client sends a whole group, in order. */
  grouped(target: Target, groups: Groups): Promise<Reading> {
    return this.#warm(target, (seconds) => replay(target.port, groups, CONNECTIONS, seconds));
  }

  /** Sends requests from one client. The value is in requests per second. */
  single(target: Target, requests: readonly Buffer[]): Promise<Reading> {
    return this.few(target, requests, 1);
  }

  /** Sends large requests from this many concurrent clients. */
  async few(target: Target, requests: readonly Buffer[], clients: number): Promise<Reading> {
    await expectSuccess(target, requests);
    const groups = oneByOne(requests);
    return this.#warm(target, (seconds) => replay(target.port, groups, clients, seconds));
  }

  /**
   * Sends requests that cannot be repeated, from many clients, or in order from one: the first
   * third is the warm-up.
   */
  async once(
    target: Target,
    requests: readonly Buffer[],
    connections = CONNECTIONS,
  ): Promise<Reading> {
    const warmUp = Math.floor(requests.length / 3);
    await this.each(target, requests.slice(0, warmUp), connections);
    const rest = requests.slice(warmUp);
    return this.#slots.medianOf(target.pid, (round, rounds) => {
      const share = (end: number) => Math.floor((rest.length * end) / rounds);
      const some = rest.slice(share(round), share(round + 1));
      return this.cold(target, some, connections);
    });
  }

  /** Sends each request once, without a warm-up. The value is in requests per second. */
  cold(target: Target, requests: readonly Buffer[], connections: number): Promise<Reading> {
    return measured(target, async () => {
      const startedMs = performance.now();
      await this.each(target, requests, connections);
      return { requests: requests.length, seconds: (performance.now() - startedMs) / 1_000 };
    });
  }

  async #warm(target: Target, run: (seconds: number) => Promise<Run>): Promise<Reading> {
    await run(WARM_UP_SECONDS);
    return this.#slots.medianOf(target.pid, (_, rounds) =>
      measured(target, () => run(Math.ceil(this.#seconds / rounds))),
    );
  }

  /** Sends each request once, many at a time. */
  async each(target: Target, requests: Iterable<Buffer>, connections = CONNECTIONS): Promise<void> {
    const queue = requests[Symbol.iterator]();
    const client = async () => {
      const connection = await Connection.open(target.port);
      for (let next = queue.next(); next.done !== true; next = queue.next()) {
        await exchangeOrThrow(connection, next.value);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, client));
  }

  /** Sends each request once, as fast as possible and without measuring. */
  fill(target: Target, requests: Iterable<Buffer>): Promise<void> {
    return this.each(target, requests, FILLING_CONNECTIONS);
  }
}

/** Returns the response to one request, as text. */
export async function answerTo(target: Target, request: Buffer): Promise<string> {
  const connection = await Connection.open(target.port);
  const text = await exchangeOrThrow(connection, request, true);
  connection.close();
  return text;
}

async function expectSuccess(target: Target, requests: readonly Buffer[]): Promise<void> {
  if (requests[0] !== undefined) await answerTo(target, requests[0]);
}

async function measured(target: Target, run: () => Promise<Run>): Promise<Reading> {
  const serverBefore = cpuMicrosOfTree(target.pid);
  const generatorBefore = cpuMicrosOfGenerator();
  const { requests, seconds, ...percentiles } = await run();
  const generatorMicros = cpuMicrosOfGenerator() - generatorBefore;
  return {
    value: requests / seconds,
    cpuMicros: (cpuMicrosOfTree(target.pid) - serverBefore) / requests,
    ...percentiles,
    generatorShare: generatorMicros / 1e6 / seconds,
  };
}

/**
 * Generates load in this process: for requests that wrk cannot send, and for machines without it.
 */
async function replay(
  port: number,
  groups: Groups,
  connections: number,
  seconds: number,
): Promise<Run> {
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1_000;
  let taken = 0;
  const client = async () => {
    const connection = await Connection.open(port);
    for (let nowMs = performance.now(); nowMs < untilMs; ) {
      for (const request of groups[taken++ % groups.length] as readonly Buffer[]) {
        await exchangeOrThrow(connection, request);
        const doneMs = performance.now();
        latenciesMs.push(doneMs - nowMs);
        nowMs = doneMs;
      }
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, client));
  const elapsedMs = performance.now() - startedMs;
  latenciesMs.sort((a, b) => a - b);
  const percentile = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return {
    requests: latenciesMs.length,
    seconds: elapsedMs / 1_000,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  };
}

function oneByOne(requests: readonly Buffer[]): Groups {
  return requests.map((request) => [request]);
}

async function exchangeOrThrow(
  connection: Connection,
  request: Buffer,
  cacheText = false,
): Promise<string> {
  const { status, text } = await connection.exchange(request, cacheText);
  if (status < 300) return text;
  const line = request.toString("latin1", 0, request.indexOf("\r\n"));
  throw new Error(`${line} was answered with ${status}: ${text}`);
}
