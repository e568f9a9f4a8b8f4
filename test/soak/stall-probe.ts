import { parentPort, workerData } from "node:worker_threads";
import { Connection } from "../../bench/connection.ts";
import { type Request, signed } from "../../bench/shared-key.ts";

/**
 * Another client, in a thread of its own: it asks two servers for a small blob every few
 * milliseconds, answered or not. One server is under load, the other is idle and shows what the
 * machine itself adds.
 */
export interface ProbeSetup {
  readonly loadedPort: number;
  readonly idlePort: number;
}

/** The 99th percentiles of answer times since the last message, in milliseconds. */
export interface Probed {
  readonly loadedMs: number;
  readonly idleMs: number;
}

/** Interval between two requests to the same server. */
const EVERY_MS = 4;
const CONNECTIONS = 32;
const CONTAINER: Request = { method: "PUT", path: "/probe", query: { restype: "container" } };
const BLOB: Request = {
  method: "PUT",
  path: "/probe/blob",
  headers: { "x-ms-blob-type": "BlockBlob" },
  body: Buffer.from("small"),
};

/** Measures the answer times of one server. */
class Times {
  readonly #port: number;
  readonly #free: Connection[];
  #tookMs: number[] = [];

  private constructor(port: number, connections: Connection[]) {
    this.#port = port;
    this.#free = connections;
  }

  static async of(port: number): Promise<Times> {
    const all = Array.from({ length: CONNECTIONS }, () => Connection.open(port));
    const connections = await Promise.all(all);
    for (const request of [CONTAINER, BLOB]) {
      await connections[0]?.exchange(signed(port, request));
    }
    return new Times(port, connections);
  }

  async ask(): Promise<void> {
    const askedMs = performance.now();
    // Round robin, since the server closes a connection that never asks.
    const connection = this.#free.shift();
    if (connection === undefined) return;
    const request = signed(this.#port, { method: "GET", path: "/probe/blob" });
    const { status } = await connection.exchange(request);
    if (status !== 200) throw new Error(`a small GET was answered with ${status}`);
    this.#tookMs.push(performance.now() - askedMs);
    this.#free.push(connection);
  }

  p99Ms(): number {
    const sorted = this.#tookMs.sort((one, other) => one - other);
    this.#tookMs = [];
    return sorted[Math.floor(sorted.length * 0.99)] ?? Number.POSITIVE_INFINITY;
  }
}

const { loadedPort, idlePort } = workerData as ProbeSetup;
const loaded = await Times.of(loadedPort);
const idle = await Times.of(idlePort);
// tidy-allow sleep: this paces a measurement
setInterval(() => {
  void loaded.ask();
  void idle.ask();
}, EVERY_MS);
parentPort?.on("message", () => {
  const probed: Probed = { loadedMs: loaded.p99Ms(), idleMs: idle.p99Ms() };
  parentPort?.postMessage(probed);
});
parentPort?.postMessage("ready");
