import { readdir } from "node:fs/promises";
import { constants, PerformanceObserver, performance } from "node:perf_hooks";
import { DURATION_BOUNDS, Histogram } from "../../base/histogram.ts";
import {
  type HistogramMetric,
  labelled,
  type Metric,
  type MetricSource,
  single,
} from "../../front/metrics/metric.ts";

/** How often the event loop is checked. Shorter delays than a tenth of it matter to nobody. */
const CHECK_MS = 20;
const GC_KINDS: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"],
]);
const GC_BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1];
const MICROSECONDS = 1e6;

/**
 * Figures of this process, under the names that the Node.js client library of Prometheus gives
 * them, so that the dashboards made for it work. Measuring begins here and ends with `stop`.
 */
export class ProcessMetrics implements MetricSource {
  readonly metrics: readonly Metric[];
  readonly #delays = new Histogram(DURATION_BOUNDS);
  readonly #pauses = new Map<string, Histogram>();
  readonly #timer: NodeJS.Timeout;
  readonly #observer: PerformanceObserver;
  #dueMs = performance.now() + CHECK_MS;
  #openFiles: number | undefined;

  constructor(version: string) {
    this.#timer = setInterval(() => this.#checkDelay(), CHECK_MS).unref();
    this.#observer = new PerformanceObserver((list) => {
      for (const { duration, detail } of list.getEntries()) this.#notePause(duration, detail);
    });
    this.#observer.observe({ entryTypes: ["gc"] });
    this.metrics = [
      ...buildMetrics(version),
      ...timeMetrics(),
      ...memoryMetrics(),
      single("gauge", "process_open_fds", "Open file descriptors.", () => this.#openFiles),
      this.#delayMetric(),
      this.#gcMetric(),
    ];
  }

  /** Linux only: elsewhere the metric is left out. */
  async refresh(): Promise<void> {
    this.#openFiles = await readdir("/proc/self/fd").then(
      (names) => names.length,
      () => undefined,
    );
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#observer.disconnect();
  }

  #checkDelay(): void {
    const now = performance.now();
    this.#delays.observe(Math.max(0, now - this.#dueMs) / 1_000);
    this.#dueMs = now + CHECK_MS;
  }

  #notePause(durationMs: number, detail: unknown): void {
    const kind = GC_KINDS.get((detail as { kind?: number }).kind ?? 0) ?? "other";
    const pauses = this.#pauses.get(kind) ?? new Histogram(GC_BOUNDS);
    this.#pauses.set(kind, pauses);
    pauses.observe(durationMs / 1_000);
  }

  #delayMetric(): HistogramMetric {
    return {
      type: "histogram",
      name: "lazuli_event_loop_delay_seconds",
      help: `How late a timer was that is due every ${CHECK_MS} ms: how long others had to wait.`,
      labels: [],
      read: () => [[[], this.#delays]],
    };
  }

  #gcMetric(): HistogramMetric {
    return {
      type: "histogram",
      name: "nodejs_gc_duration_seconds",
      help: "Garbage collections, by kind: minor, major, incremental or weakcb.",
      labels: ["kind"],
      read: () => [...this.#pauses].map(([kind, pauses]) => [[kind], pauses] as const),
    };
  }
}

function buildMetrics(version: string): Metric[] {
  const { release, version: node } = process;
  return [
    labelled("gauge", "lazuli_build_info", "1, with the version.", "version", () => [[version, 1]]),
    labelled("gauge", "nodejs_version_info", "1, with the version of Node.js.", "version", () => [
      [release.name === "node" ? node : `${release.name} ${node}`, 1],
    ]),
  ];
}

function timeMetrics(): Metric[] {
  const cpu = () => process.cpuUsage();
  const startSeconds = performance.timeOrigin / 1_000;
  return [
    single("gauge", "process_start_time_seconds", "When the process began, since 1970.", () => {
      return Math.round(startSeconds * 1_000) / 1_000;
    }),
    single("counter", "process_cpu_user_seconds_total", "Processor time in user mode.", () => {
      return cpu().user / MICROSECONDS;
    }),
    single("counter", "process_cpu_system_seconds_total", "Processor time in the kernel.", () => {
      return cpu().system / MICROSECONDS;
    }),
    single("counter", "process_cpu_seconds_total", "Processor time, both together.", () => {
      const { user, system } = cpu();
      return (user + system) / MICROSECONDS;
    }),
    single(
      "counter",
      "nodejs_eventloop_active_seconds_total",
      "Time in which the event loop had work; its rate is the load of the main thread.",
      () => performance.eventLoopUtilization().active / 1_000,
    ),
  ];
}

function memoryMetrics(): Metric[] {
  const bytes = (name: string, help: string, part: keyof NodeJS.MemoryUsage) =>
    single("gauge", name, help, () => process.memoryUsage()[part]);
  return [
    bytes("process_resident_memory_bytes", "Memory that the process occupies.", "rss"),
    bytes("nodejs_heap_size_total_bytes", "Size of the JavaScript heap.", "heapTotal"),
    bytes("nodejs_heap_size_used_bytes", "Used part of the JavaScript heap.", "heapUsed"),
    bytes("nodejs_external_memory_bytes", "Memory of buffers and native code.", "external"),
  ];
}
