import type { Histogram } from "../../base/histogram.ts";

/**
 * A metric as Prometheus knows it: its description, and how to read it now. Code that
 * counts increments a field of its own; a scrape reads the fields.
 */
export type Metric = NumberMetric | HistogramMetric;

interface Described {
  readonly name: string;
  /** One sentence, for the exposition and the reference. */
  readonly help: string;
  /** Names of its labels. */
  readonly labels: readonly string[];
}

export interface NumberMetric extends Described {
  /** The name of a counter ends with `_total`. */
  readonly type: "counter" | "gauge";
  read(): Iterable<Sample<number>>;
}

export interface HistogramMetric extends Described {
  readonly type: "histogram";
  read(): Iterable<Sample<Histogram>>;
}

/** Values of the labels, in the order of their names, and what was measured. */
export type Sample<T> = readonly [labels: readonly string[], value: T];

/** Metrics that are read together. */
export interface MetricSource {
  readonly metrics: readonly Metric[];
  /** Looks up what cannot be read at once, such as the state of the disk. Must be short. */
  refresh?(): Promise<void>;
}

/** A metric without labels. Undefined leaves it out: there is nothing to measure yet. */
export function single(
  type: "counter" | "gauge",
  name: string,
  help: string,
  read: () => number | undefined,
): NumberMetric {
  const samples = (): Sample<number>[] => {
    const value = read();
    return value === undefined ? [] : [[[], value]];
  };
  return { type, name, help, labels: [], read: samples };
}

/** A metric with one label. */
export function labelled(
  type: "counter" | "gauge",
  name: string,
  help: string,
  label: string,
  read: () => Iterable<readonly [value: string, number: number]>,
): NumberMetric {
  const samples = function* (): Generator<Sample<number>> {
    for (const [value, number] of read()) yield [[value], number];
  };
  return { type, name, help, labels: [label], read: samples };
}
