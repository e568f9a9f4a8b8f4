/** Older requests are forgotten, so that a page can stay open. */
export const REQUESTS_MAX = 5_000;

/** Puts requests that are new in front. Both lists may have some of them; news are in the order of their numbers. */
export function withNews<T extends { readonly number: number }>(
  known: readonly T[],
  news: readonly T[],
): readonly T[] {
  const last = known[0]?.number ?? 0;
  const fresh = news.filter(({ number }) => number > last).reverse();
  return [...fresh, ...known].slice(0, REQUESTS_MAX);
}
