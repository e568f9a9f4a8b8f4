import type { Steps } from "../../base/fair-queue.ts";
import type { Histogram } from "../../base/histogram.ts";
import type { HistogramMetric, Metric, NumberMetric } from "./metric.ts";

/** How metrics are written as text. */
export interface ExpositionFormat {
  readonly contentType: string;
  readonly isOpenMetrics: boolean;
}

export const PROMETHEUS_TEXT: ExpositionFormat = {
  contentType: "text/plain; version=0.0.4; charset=utf-8",
  isOpenMetrics: false,
};

export const OPEN_METRICS: ExpositionFormat = {
  contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  isOpenMetrics: true,
};

const OPEN_METRICS_TYPE = "application/openmetrics-text";
const OPEN_METRICS_VERSIONS = ["1.0.0", "0.0.1"];

/** OpenMetrics for a client that names it; the older text for everybody else. */
export function formatFor(accept: string): ExpositionFormat {
  const isAsked = accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (type.toLowerCase() !== OPEN_METRICS_TYPE) return false;
    const version = parameters.find((one) => one.startsWith("version="))?.slice("version=".length);
    const isRefused = parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
    return !isRefused && (version === undefined || OPEN_METRICS_VERSIONS.includes(version));
  });
  return isAsked ? OPEN_METRICS : PROMETHEUS_TEXT;
}

/** Renders all metrics, one per step. */
export function* render(metrics: readonly Metric[], format: ExpositionFormat): Steps<string> {
  const lines: string[] = [];
  for (const metric of metrics) {
    lines.push(...linesOf(metric, format));
    yield;
  }
  if (format.isOpenMetrics) lines.push("# EOF");
  return `${lines.join("\n")}\n`;
}

function linesOf(metric: Metric, { isOpenMetrics }: ExpositionFormat): string[] {
  const { name, type, help } = metric;
  // OpenMetrics names a counter without its suffix, and each of its samples with it.
  const family = isOpenMetrics && type === "counter" ? name.replace(/_total$/, "") : name;
  const head = [`# HELP ${family} ${escapeHelp(help)}`, `# TYPE ${family} ${type}`];
  return metric.type === "histogram"
    ? [...head, ...histogramLines(metric)]
    : [...head, ...numberLines(metric)];
}

function numberLines({ name, labels, read }: NumberMetric): string[] {
  const lines: string[] = [];
  for (const [values, number] of read()) {
    lines.push(`${name}${labelSet(labels, values)} ${formatNumber(number)}`);
  }
  return lines;
}

function histogramLines({ name, labels, read }: HistogramMetric): string[] {
  const lines: string[] = [];
  for (const [values, histogram] of read()) {
    const labelText = labels.map((label, index) => pair(label, values[index] ?? ""));
    lines.push(...bucketLines(name, labelText, histogram));
  }
  return lines;
}

function bucketLines(name: string, labels: readonly string[], histogram: Histogram): string[] {
  const { bounds, counts, sum } = histogram;
  const lines: string[] = [];
  const before = labels.map((label) => `${label},`).join("");
  const own = labels.length === 0 ? "" : `{${labels.join(",")}}`;
  let count = 0;
  counts.forEach((inBucket, index) => {
    count += inBucket;
    const bound = bounds[index];
    const until = bound === undefined ? "+Inf" : formatBound(bound);
    lines.push(`${name}_bucket{${before}le="${until}"} ${count}`);
  });
  lines.push(`${name}_sum${own} ${formatNumber(sum)}`, `${name}_count${own} ${count}`);
  return lines;
}

function labelSet(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return "";
  return `{${labels.map((label, index) => pair(label, values[index] ?? "")).join(",")}}`;
}

function pair(label: string, value: string): string {
  return `${label}="${value.replace(/[\\"\n]/g, (char) => ESCAPES[char] ?? char)}"`;
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (char) => ESCAPES[char] ?? char);
}

/** OpenMetrics asks for bounds that look like floats, and both formats then have the same series. */
function formatBound(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : formatNumber(bound);
}

function formatNumber(number: number): string {
  if (Number.isFinite(number) || Number.isNaN(number)) return String(number);
  return number > 0 ? "+Inf" : "-Inf";
}
