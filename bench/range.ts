/** Makes this many values, each from its index. */
export function range<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

/** Returns 0, 1, 2, … below `count`. */
export function upTo(count: number): number[] {
  return range(count, (at) => at);
}
