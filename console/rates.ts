import type { Figures } from "../src/front/console/console-facts.ts";

/** How fast counters rise, a second, summed up by name. Undefined leaves a counter out. */
export function rates(
  now: Figures,
  before: Figures,
  metric: string,
  nameOf: (label: string) => string | undefined,
): Record<string, number> {
  const seconds = Math.max(0.001, (now.atMs - before.atMs) / 1000);
  const sums: Record<string, number> = {};
  for (const [label, value] of Object.entries(now.values[metric] ?? {})) {
    const name = nameOf(label);
    if (name === undefined) continue;
    const rise = value - (before.values[metric]?.[label] ?? 0);
    sums[name] = (sums[name] ?? 0) + rise / seconds;
  }
  return sums;
}

/** Milliseconds below which this part of the requests between two readings took. */
export function percentile(now: Figures, before: Figures, part: number): number {
  const { bounds, counts } = now.durations;
  const news = counts.map((count, at) => count - (before.durations.counts[at] ?? 0));
  const wanted = news.reduce((sum, count) => sum + count, 0) * part;
  let seen = 0;
  for (const [at, count] of news.entries()) {
    if (count > 0 && seen + count >= wanted) {
      const from = at === 0 ? 0 : (bounds[at - 1] ?? 0);
      const to = bounds[at] ?? from;
      return 1000 * (from + ((to - from) * (wanted - seen)) / count);
    }
    seen += count;
  }
  return 0;
}
