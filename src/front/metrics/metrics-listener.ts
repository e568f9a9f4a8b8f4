import type { IncomingMessage, ServerResponse } from "node:http";
import { fairQueue, inSlices } from "../../base/fair-queue.ts";
import { HEALTH_PATH, type Health, healthAnswer } from "../health.ts";
import { openSideListener, type SideListener, sayText } from "../side-listener.ts";
import { formatFor, render } from "./exposition.ts";
import type { MetricSource } from "./metric.ts";

interface MetricsListenerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly sources: readonly MetricSource[];
  /** `/healthz` reports it as the services do. */
  health(): Health;
  /** An error in a scrape, which is a bug. */
  onError(error: unknown): void;
}

const METRICS_PATH = "/metrics";
/** A few Prometheus servers and a person with a browser. */
const CONNECTIONS_MAX = 64;
const REQUEST_MS_MAX = 10_000;

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export function openMetricsListener(options: MetricsListenerOptions): Promise<SideListener> {
  const { host, port, onError } = options;
  const scrapes = new Scrapes(options.sources);
  return openSideListener({
    host,
    port,
    tls: null,
    connectionsMax: CONNECTIONS_MAX,
    requestMsMax: REQUEST_MS_MAX,
    answer: (request, response) => answer(request, response, scrapes, options),
    onError,
  });
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
    return sayText(response, 404, `there is ${METRICS_PATH} and ${HEALTH_PATH}\n`);
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD");
    return sayText(response, 405, "use GET or HEAD\n");
  }
  if (path === HEALTH_PATH) {
    const { status, text } = healthAnswer(target, health());
    return sayText(response, status, text);
  }
  const format = formatFor(request.headers.accept ?? "");
  sayText(response, 200, await scrapes.text(format), format.contentType);
}
