import { DURATION_BOUNDS, Histogram } from "../../base/histogram.ts";
import type { OnOutcome, Outcome } from "../outcome.ts";
import { CONFLICT_KINDS, conflictKind } from "./conflict-kind.ts";
import type { HistogramMetric, Metric, MetricSource, NumberMetric, Sample } from "./metric.ts";

/** Different results of an operation that are counted apart: a status and an error code each. */
const RESULTS_MAX = 64;
/** The label of further ones. There are fewer, as long as no code is made of a client's words. */
const OTHER = "other";

/** The label of a status. HTTP statuses have numbers that everybody knows; NT statuses have names. */
export type StatusName = (status: number) => string;

/**
 * Counts requests by service, operation and result. Labels have few values: never the name of an
 * account, container or client. Counting a request allocates nothing once its result was seen.
 */
export class RequestMetrics implements MetricSource {
  readonly metrics: readonly Metric[];
  readonly #services = new Map<Outcome["service"], ServiceFigures>();

  constructor(services: readonly Outcome["service"][], ntStatusName: StatusName) {
    for (const service of services) {
      const codeOf = service === "smb" ? ntStatusName : String;
      this.#services.set(service, new ServiceFigures(codeOf));
    }
    this.metrics = [
      this.#requestMetric(),
      this.#durationMetric(),
      this.#bytesMetric("request", (figures) => figures.requestBytes),
      this.#bytesMetric("response", (figures) => figures.responseBytes),
      this.#conflictMetric(),
    ];
  }

  readonly take: OnOutcome = (outcome) => {
    this.#services.get(outcome.service)?.take(outcome);
  };

  #requestMetric(): NumberMetric {
    return {
      type: "counter",
      name: "lazuli_requests_total",
      help: "Requests, by HTTP status or NT status (code) and error code (error, empty if none).",
      labels: ["service", "operation", "code", "error"],
      read: () =>
        this.#each((labels, { results }) =>
          [...results].map(({ code, error, count }) => [[...labels, code, error], count]),
        ),
    };
  }

  #durationMetric(): HistogramMetric {
    return {
      type: "histogram",
      name: "lazuli_request_duration_seconds",
      help: "Time from the arrival of a request to the end of its answer.",
      labels: ["service", "operation"],
      read: () => this.#each((labels, { durations }) => [[labels, durations]]),
    };
  }

  #bytesMetric(
    direction: "request" | "response",
    read: (figures: OperationFigures) => number,
  ): NumberMetric {
    const way = direction === "request" ? "from" : "to";
    return {
      type: "counter",
      name: `lazuli_${direction}_bytes_total`,
      help: `Bytes of bodies ${way} clients.`,
      labels: ["service", "operation"],
      read: () => this.#each((labels, figures) => [[labels, read(figures)]]),
    };
  }

  #conflictMetric(): NumberMetric {
    return {
      type: "counter",
      name: "lazuli_conflicts_total",
      help: `Requests that met a conflict, by kind: ${CONFLICT_KINDS.join(", ")}.`,
      labels: ["service", "kind"],
      read: () =>
        [...this.#services].flatMap(([service, { conflicts }]) =>
          CONFLICT_KINDS.map((kind, index) => [[service, kind], conflicts[index] ?? 0] as const),
        ),
    };
  }

  *#each<T>(
    read: (labels: readonly string[], figures: OperationFigures) => Sample<T>[],
  ): Generator<Sample<T>> {
    for (const [service, { operations }] of this.#services) {
      for (const [operation, figures] of operations) yield* read([service, operation], figures);
    }
  }
}

class ServiceFigures {
  readonly operations = new Map<string, OperationFigures>();
  /** By the index of the kind. */
  readonly conflicts = CONFLICT_KINDS.map(() => 0);
  readonly #codeOf: StatusName;

  constructor(codeOf: StatusName) {
    this.#codeOf = codeOf;
  }

  take(outcome: Outcome): void {
    let figures = this.operations.get(outcome.operation);
    if (figures === undefined) {
      figures = new OperationFigures(this.#codeOf);
      this.operations.set(outcome.operation, figures);
    }
    figures.take(outcome);
    const kind = conflictKind(outcome);
    if (kind === null) return;
    const index = CONFLICT_KINDS.indexOf(kind);
    this.conflicts[index] = (this.conflicts[index] ?? 0) + 1;
  }
}

interface Result {
  readonly status: number;
  readonly code: string;
  readonly error: string;
  count: number;
}

class OperationFigures {
  readonly durations = new Histogram(DURATION_BOUNDS);
  readonly results: Result[] = [];
  requestBytes = 0;
  responseBytes = 0;
  readonly #codeOf: StatusName;

  constructor(codeOf: StatusName) {
    this.#codeOf = codeOf;
  }

  take(outcome: Outcome): void {
    this.#resultOf(outcome).count++;
    // A request inside a batch has no time of its own.
    const isInside = outcome.service !== "smb" && outcome.batchId !== null;
    if (!isInside) this.durations.observe(outcome.tookMs / 1_000);
    this.requestBytes += outcome.requestBytes;
    this.responseBytes += outcome.responseBytes;
  }

  /** Searches a short list: the usual results come first, and most operations have two or three. */
  #resultOf(outcome: Outcome): Result {
    const { status } = outcome;
    const error = outcome.code ?? "";
    for (const result of this.results) {
      if (result.status === status && result.error === error) return result;
    }
    const isOther = this.results.length >= RESULTS_MAX - 1;
    if (isOther && this.results.length === RESULTS_MAX) return this.results.at(-1) as Result;
    const result = isOther
      ? { status: -1, code: OTHER, error: OTHER, count: 0 }
      : { status, code: this.#codeOf(status), error, count: 0 };
    this.results.push(result);
    return result;
  }
}
