/** Older requests are forgotten, so that a page can stay open. */
export const REQUESTS_MAX = 5_000;

interface Numbered {
  readonly number: number;
}

/**
 * The requests of both lists, each once and the newest first. What the stream tells and what a page asks
 * for overlap, and either may come first. Numbers up to `clearedTo` are gone for good.
 */
export function withNews<T extends Numbered>(
  known: readonly T[],
  news: readonly T[],
  clearedTo = 0,
): readonly T[] {
  const last = known[0]?.number ?? clearedTo;
  const [first = null] = news;
  // Mostly all of them are newer than what is known, in the order of their numbers.
  if (first !== null && first.number > last) {
    return [...news.toReversed(), ...known].slice(0, REQUESTS_MAX);
  }
  const all = new Map([...known, ...news].map((one) => [one.number, one]));
  const shown = [...all.values()].filter(({ number }) => number > clearedTo);
  return shown.sort((a, b) => b.number - a.number).slice(0, REQUESTS_MAX);
}
