import { parseArgs } from "node:util";
import { Connection } from "../../bench/connection.ts";
import { signed } from "../../bench/shared-key.ts";
import { type Figure, report } from "./figure.ts";
import type { Load } from "./stall-loads.ts";
import { StalledServer } from "./stalled-server.ts";

const GAP_MS_MAX = 25;
const P99_MS_MAX = 20;
/** Interval between two small requests of the other client. */
const PROBE_EVERY_MS = 4;
const PROBE_CONNECTIONS = 32;
/** Clients that send long requests. */
const CLIENTS = 4;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "3" },
  },
});
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error("--seconds takes a number above 0");

/** Runs one load after another, and reports its effect on other clients. */
export async function soakStalls(loads: readonly Load[]): Promise<void> {
  const server = await StalledServer.start();
  try {
    const probe = await Probe.open(server);
    const figures: Figure[] = [];
    for (const load of loads.filter(({ name }) => name.includes(values.only))) {
      figures.push(...(await measure(server, probe, load)));
      console.log(figures.at(-2)?.promise, figures.at(-2)?.found, figures.at(-1)?.found);
    }
    report(figures);
  } finally {
    await server.stop();
  }
}

async function measure(server: StalledServer, probe: Probe, load: Load): Promise<Figure[]> {
  await load.prepare?.(server);
  const idle = await probe.during(() => forMs(1_000));
  await server.longestGapMs();
  const untilMs = performance.now() + seconds * 1_000;
  let rounds = 0;
  const loaded = await probe.during(async () => {
    do {
      rounds++;
      await load.run(server, CLIENTS);
    } while (performance.now() < untilMs);
  });
  const gapMs = await server.longestGapMs();
  const beyondMs = Math.max(0, loaded - idle);
  const p99 = `${loaded.toFixed(1)} ms, ${idle.toFixed(1)} ms without it`;
  return [
    {
      promise: `${load.name}: longest CPU gap`,
      found: `${gapMs.toFixed(1)} ms (${rounds} rounds)`,
      bar: `at most ${GAP_MS_MAX} ms`,
      met: gapMs <= GAP_MS_MAX,
    },
    {
      promise: `${load.name}: p99 of small GETs`,
      found: p99,
      bar: `at most ${P99_MS_MAX} ms more`,
      met: beyondMs <= P99_MS_MAX,
    },
  ];
}

/** Another client, which asks for a small blob every few milliseconds, answered or not. */
class Probe {
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async open(server: StalledServer): Promise<Probe> {
    const { blob: port } = server.ports;
    const body = Buffer.from("small");
    const headers = { "x-ms-blob-type": "BlockBlob" };
    await server.send(port, { method: "PUT", path: "/probe", query: { restype: "container" } });
    await server.send(port, { method: "PUT", path: "/probe/blob", headers, body });
    return new Probe(port);
  }

  /** The 99th percentile of answer times during `work`, in milliseconds. */
  async during(work: () => Promise<void>): Promise<number> {
    const request = signed(this.#port, { method: "GET", path: "/probe/blob" });
    const connections = await Promise.all(
      Array.from({ length: PROBE_CONNECTIONS }, () => Connection.open(this.#port)),
    );
    const tookMs: number[] = [];
    const free = [...connections];
    const ask = async () => {
      const askedMs = performance.now();
      // Round robin, since the server closes a connection that never asks.
      const connection = free.shift();
      if (connection === undefined) return;
      const { status } = await connection.exchange(request);
      if (status !== 200) throw new Error(`a small GET was answered with ${status}`);
      tookMs.push(performance.now() - askedMs);
      free.push(connection);
    };
    const timer = setInterval(ask, PROBE_EVERY_MS); // tidy-allow sleep: this paces a measurement
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
    for (const connection of connections) connection.close();
    tookMs.sort((one, other) => one - other);
    return tookMs[Math.floor(tookMs.length * 0.99)] ?? Number.POSITIVE_INFINITY;
  }
}

function forMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms)); // tidy-allow sleep: this paces a measurement
}
