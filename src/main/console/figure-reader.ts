import { DURATION_BOUNDS } from "../../base/histogram.ts";
import type { Figures } from "../../front/console/console-facts.ts";
import type { Metric, MetricSource } from "../../front/metrics/metric.ts";
import type { Outcomes } from "../../front/outcome.ts";
import type { Metrics, MetricsSetup } from "../metrics/metrics.ts";

/** The labels by which the console shows a metric; other labels are summed up. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  lazuli_requests_total: ["service", "code"],
  lazuli_conflicts_total: ["kind"],
  lazuli_request_bytes_total: [],
  lazuli_response_bytes_total: [],
  lazuli_connections: ["service"],
  lazuli_objects: ["object"],
  lazuli_leases: ["object"],
  lazuli_open_handles: [],
  lazuli_range_locks: [],
  lazuli_queue_messages: ["state"],
  lazuli_extent_bytes: ["state"],
  lazuli_database_bytes: [],
  lazuli_database_free_bytes: [],
  lazuli_wal_bytes: [],
  lazuli_memtable_records: [],
  lazuli_disk_size_bytes: [],
  lazuli_disk_free_bytes: [],
};

const DURATIONS = "lazuli_request_duration_seconds";

export interface FigureSetup extends MetricsSetup {
  readonly outcomes: Outcomes;
  /** Figures of this console's own. They count while somebody is signed in. */
  readonly figures: Metrics;
}

/** Reads the metrics that the console plots. Nothing is measured while nobody is signed in. */
export class FigureReader {
  readonly #setup: FigureSetup;
  #sources: readonly MetricSource[] | null = null;
  #stop: (() => void) | null = null;

  constructor(setup: FigureSetup) {
    this.#setup = setup;
  }

  async read(): Promise<Figures> {
    const { clock, figures } = this.#setup;
    this.#sources ??= figures.sources(this.#setup);
    await Promise.all(this.#sources.map((source) => source.refresh?.()));
    const metrics = this.#sources.flatMap((source) => source.metrics);
    const values = metrics.flatMap((metric) => {
      const shown = SHOWN[metric.name];
      return shown === undefined ? [] : [[metric.name, summed(metric, shown)] as const];
    });
    return {
      atMs: clock.now(),
      values: Object.fromEntries(values),
      durations: { bounds: DURATION_BOUNDS, counts: durationsIn(metrics) },
    };
  }

  /** Counts requests from now on. */
  begin(): void {
    const { outcomes, figures } = this.#setup;
    this.#stop ??= outcomes.add(figures.onOutcome);
  }

  async end(): Promise<void> {
    this.#stop?.();
    this.#stop = null;
    this.#sources = null;
    await this.#setup.figures.close();
  }
}

function summed(metric: Metric, shown: readonly string[]): Record<string, number> {
  const sums: Record<string, number> = {};
  if (metric.type === "histogram") return sums;
  const places = shown.map((label) => metric.labels.indexOf(label));
  for (const [labels, value] of metric.read()) {
    const name = places.map((place) => labels[place] ?? "").join(",");
    sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

function durationsIn(metrics: readonly Metric[]): number[] {
  const sums = new Array<number>(DURATION_BOUNDS.length + 1).fill(0);
  for (const metric of metrics) {
    if (metric.name !== DURATIONS || metric.type !== "histogram") continue;
    for (const [, { counts }] of metric.read()) {
      counts.forEach((count, bucket) => {
        sums[bucket] = (sums[bucket] ?? 0) + count;
      });
    }
  }
  return sums;
}
