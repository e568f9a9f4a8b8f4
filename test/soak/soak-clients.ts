import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Figure } from "./figure.ts";
import type { SoakServer } from "./soak-server.ts";

/** Requests in one window, and windows: the median window counts, so that one hiccup does not. */
const WINDOW_REQUESTS = 400;
const WINDOWS = 5;
/** Connections opened at a time: more than a listener's backlog are refused. */
const CONNECTED_AT_ONCE = 100;
const LOOK_MS = 2_000;

/** Another client: small GETs, one after the other, on one connection. */
export class OtherClient {
  readonly #server: SoakServer;
  readonly #blob = "small";

  constructor(server: SoakServer) {
    this.#server = server;
  }

  async prepare(): Promise<void> {
    const bytes = Buffer.alloc(4 * 1024, 1);
    await this.#server.blob(this.#blob).upload(bytes, bytes.length);
    await this.p99Ms();
  }

  /** Rejects if any of them is not answered with 200. */
  async p99Ms(): Promise<number> {
    const client = new SoakClient(this.#server.port);
    const request = this.#server.head("GET", this.#blob);
    const p99s: number[] = [];
    for (let window = 0; window < WINDOWS; window++) {
      const tookMs: number[] = [];
      for (let sent = 0; sent < WINDOW_REQUESTS; sent++) {
        const beganMs = performance.now();
        const status = await client.ask(request);
        if (status !== 200) throw new Error(`the other client got ${status}`);
        tookMs.push(performance.now() - beganMs);
      }
      tookMs.sort((a, b) => a - b);
      p99s.push(tookMs[Math.floor(WINDOW_REQUESTS * 0.99)] as number);
    }
    client.close();
    return p99s.sort((a, b) => a - b)[Math.floor(WINDOWS / 2)] as number;
  }
}

/** A minimal HTTP connection, which reads answers only when asked to. */
export class SoakClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" }).setNoDelay(true).pause();
    this.socket.on("error", () => {});
    this.socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.socket.pause();
    this.closed = new Promise((resolve) => {
      this.socket.on("close", () => {
        this.#wake();
        resolve();
      });
    });
  }

  /** Reads the whole answer and returns its status; null if the connection was closed before. */
  async ask(request: string | Buffer): Promise<number | null> {
    this.socket.write(request);
    return await this.answer();
  }

  async answer(): Promise<number | null> {
    this.socket.resume();
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end >= 0) {
        const head = this.#received.toString("latin1", 0, end);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (this.#received.length >= end + 4 + length) {
          this.#received = this.#received.subarray(end + 4 + length);
          return Number(head.split(" ")[1]);
        }
      }
      if (this.socket.destroyed) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

export async function connectAll(port: number, count: number): Promise<SoakClient[]> {
  const clients: SoakClient[] = [];
  while (clients.length < count) {
    const some = Math.min(CONNECTED_AT_ONCE, count - clients.length);
    const more = Array.from({ length: some }, () => new SoakClient(port));
    await Promise.all(more.map(({ socket }) => once(socket, "connect")));
    clients.push(...more);
  }
  return clients;
}

/** Whether the server closes all of them in this time. */
export async function areClosed(clients: readonly SoakClient[], msMax: number): Promise<boolean> {
  const untilMs = performance.now() + msMax;
  while (performance.now() < untilMs) {
    const open = clients.filter(({ socket }) => !socket.destroyed);
    if (open.length === 0) return true;
    // A socket that is not read notices that its peer is gone only when it writes.
    for (const { socket } of open) socket.write("x");
    await pause(LOOK_MS);
  }
  return false;
}

const RSS_MIB_MAX = 512;
const P99_RATIO_MAX = 2;

export function memoryFigure(promise: string, mib: number): Figure {
  const bar = `under ${RSS_MIB_MAX} MiB`;
  return { promise, found: `${mib} MiB`, bar, met: mib < RSS_MIB_MAX };
}

export function p99Figure(promise: string, beforeMs: number, duringMs: number): Figure {
  const ratio = duringMs / beforeMs;
  const found = `${beforeMs.toFixed(1)} to ${duringMs.toFixed(1)} ms, ${ratio.toFixed(2)}x`;
  return { promise, found, bar: `at most ${P99_RATIO_MAX}x`, met: ratio <= P99_RATIO_MAX };
}

export function pause(ms: number): Promise<void> {
  // tidy-allow sleep: memory is measured in real time, while nothing else happens.
  return new Promise((resolve) => setTimeout(resolve, ms));
}
