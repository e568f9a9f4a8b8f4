/**
 * Counts values by size, for figures that operators look at. Observing one costs a short search
 * and two additions, so it may be done for every request or commit.
 */
export class Histogram {
  /** Upper bounds of the buckets, ascending. Larger values count in a last bucket without one. */
  readonly bounds: readonly number[];
  /** The number of values in each bucket, one more than there are bounds. */
  readonly counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  get sum(): number {
    return this.#sum;
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.#sum += value;
  }
}

/** Seconds: from the fastest request to the longest that anybody waits for. */
export const DURATION_BOUNDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
