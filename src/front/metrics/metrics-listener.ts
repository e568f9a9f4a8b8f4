import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { fairQueue, inSlices } from "../../base/fair-queue.ts";
import { HEALTH_PATH, type Health, healthAnswer } from "../health.ts";
import { formatFor, render } from "./exposition.ts";
import type { MetricSource } from "./metric.ts";

export interface MetricsListenerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly sources: readonly MetricSource[];
  /** `/healthz` reports it as the services do. */
  health(): Health;
  /** An error in a scrape, which is a bug. */
  onError(error: unknown): void;
}

export interface MetricsListener {
  /** `http://127.0.0.1:9464` */
  readonly origin: string;
  /** Takes no more connections, and resolves once running scrapes are answered. */
  drain(): Promise<void>;
}

const METRICS_PATH = "/metrics";
/** A few Prometheus servers and a person with a browser. */
const CONNECTIONS_MAX = 64;
const HEADER_BYTES_MAX = 16 * 1024;
const REQUEST_MS_MAX = 10_000;
const KEEP_ALIVE_MS = 65_000;
const DRAIN_MS = 5_000;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export async function openMetricsListener(
  options: MetricsListenerOptions,
): Promise<MetricsListener> {
  const { host, port, onError } = options;
  const scrapes = new Scrapes(options.sources);
  const sockets = new Sockets();
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: REQUEST_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    (request, response) => {
      sockets.begin(response);
      answer(request, response, scrapes, options).catch((error: unknown) => {
        onError(error);
        if (response.headersSent) response.destroy();
        else say(response, 500, "the metrics cannot be read; the log says why\n");
      });
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  server.on("connection", (socket) => sockets.add(socket));
  await listening(server, host, port);
  server.on("error", onError);
  return { origin: originOf(server), drain: () => drain(server, sockets) };
}

/** Open connections, and those of them that wait for an answer. */
class Sockets {
  readonly #open = new Set<Socket>();
  readonly #busy = new Set<Socket>();

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#busy.delete(socket);
    });
  }

  begin(response: ServerResponse): void {
    const { socket } = response;
    if (socket === null) return;
    this.#busy.add(socket);
    response.once("close", () => this.#busy.delete(socket));
  }

  /** Node's own method spares connections on which no request has come yet. */
  closeIdle(): void {
    for (const socket of this.#open) if (!this.#busy.has(socket)) socket.destroy();
  }
}

/** Reads all metrics. Scrapes that come together look things up once. */
class Scrapes {
  readonly #sources: readonly MetricSource[];
  #refreshing: Promise<void> | null = null;

  constructor(sources: readonly MetricSource[]) {
    this.#sources = sources;
  }

  async text(format: ReturnType<typeof formatFor>): Promise<string> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    await this.#refreshing;
    await fairQueue.next();
    const metrics = this.#sources.flatMap((source) => source.metrics);
    return inSlices(render(metrics, format));
  }

  async #refresh(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.refresh?.()));
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  scrapes: Scrapes,
  { health }: MetricsListenerOptions,
): Promise<void> {
  // Discards a body, which no request to this listener needs.
  request.resume();
  const { url: target = "" } = request;
  const [path] = target.split("?", 1);
  if (path !== METRICS_PATH && path !== HEALTH_PATH) {
    return say(response, 404, `there is ${METRICS_PATH} and ${HEALTH_PATH}\n`);
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return say(response, 405, "use GET or HEAD\n");
  }
  if (path === HEALTH_PATH) {
    const { status, text } = healthAnswer(target, health());
    return say(response, status, text);
  }
  const format = formatFor(request.headers.accept ?? "");
  say(response, 200, await scrapes.text(format), format.contentType);
}

function say(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, {
    "Content-Type": contentType,
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
  });
  response.end(text);
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function originOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function drain(server: Server, sockets: Sockets): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  sockets.closeIdle();
  // A client that does not read its answer must not delay the end of the process.
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(late);
}
