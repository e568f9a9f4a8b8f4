/** As many as asked for, each made of its index. */
export function range<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

/** 0, 1, 2, …: so many. */
export function upTo(count: number): number[] {
  return range(count, (at) => at);
}
