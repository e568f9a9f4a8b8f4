import { once } from "node:events";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { type Figure, report } from "./figure.ts";
import type { Load } from "./stall-loads.ts";
import type { Probed, ProbeSetup } from "./stall-probe.ts";
import { StalledServer } from "./stalled-server.ts";

const GAP_MS_MAX = 25;
const P99_MS_MAX = 20;
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
  const idle = await StalledServer.start();
  const probe = await Probe.start(server, idle);
  try {
    const figures: Figure[] = [];
    for (const load of loads.filter(({ name }) => name.includes(values.only))) {
      figures.push(...(await measure(server, probe, load)));
      console.log(figures.at(-2)?.promise, figures.at(-2)?.found, figures.at(-1)?.found);
    }
    report(figures);
  } finally {
    await probe.stop();
    await server.stop();
    await idle.stop();
  }
}

async function measure(server: StalledServer, probe: Probe, load: Load): Promise<Figure[]> {
  await load.prepare?.(server);
  await probe.look();
  await server.longestGapMs();
  const untilMs = performance.now() + seconds * 1_000;
  let rounds = 0;
  do {
    rounds++;
    await load.run(server, CLIENTS);
  } while (performance.now() < untilMs);
  const { loadedMs, idleMs } = await probe.look();
  const gapMs = await server.longestGapMs();
  const beyondMs = Math.max(0, loadedMs - idleMs);
  const p99 = `${loadedMs.toFixed(1)} ms, ${idleMs.toFixed(1)} ms of an idle server`;
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

/** The other client, in its own thread. */
class Probe {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async start(loaded: StalledServer, idle: StalledServer): Promise<Probe> {
    const workerData: ProbeSetup = { loadedPort: loaded.ports.blob, idlePort: idle.ports.blob };
    const worker = new Worker(new URL("./stall-probe.js", import.meta.url), { workerData });
    await once(worker, "message");
    return new Probe(worker);
  }

  /** Returns what was measured since the last call. */
  async look(): Promise<Probed> {
    this.#worker.postMessage("look");
    const [probed] = (await once(this.#worker, "message")) as [Probed];
    return probed;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}
