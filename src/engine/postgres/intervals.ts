/**
 * A range of names (see `nameOf`) of which every record is known: a name in it without an item has
 * no record.
 */
export interface Interval {
  readonly from: string;
  readonly until: string;
}

/** Intervals that do not overlap, in order. */
export class Intervals<T extends Interval> {
  readonly #sorted: T[] = [];

  get size(): number {
    return this.#sorted.length;
  }

  /** The interval in which this name lies. */
  at(name: string): T | undefined {
    const found = this.#sorted[this.#countUpTo(name) - 1];
    return found !== undefined && name < found.until ? found : undefined;
  }

  /** The interval in which the last names before this one lie. */
  endingAt(name: string): T | undefined {
    const found = this.#sorted[this.#countBefore(name) - 1];
    return found !== undefined && name <= found.until ? found : undefined;
  }

  /** The beginning of the first interval behind this name, or `until` if that comes first. */
  nextFrom(name: string, until: string): string {
    const next = this.#sorted[this.#countUpTo(name)];
    return next !== undefined && next.from < until ? next.from : until;
  }

  /** The end of the last interval before this name, or `from` if that comes last. */
  lastUntil(name: string, from: string): string {
    const last = this.#sorted[this.#countBefore(name) - 1];
    return last !== undefined && last.until > from ? last.until : from;
  }

  /** The parts of a range that lie in no interval, in order. */
  gaps(from: string, until: string): Interval[] {
    const gaps: Interval[] = [];
    for (let at = from; at < until; ) {
      const inside = this.at(at);
      if (inside !== undefined) {
        at = inside.until;
        continue;
      }
      const end = this.nextFrom(at, until);
      gaps.push({ from: at, until: end });
      at = end;
    }
    return gaps;
  }

  /** Adds an interval that overlaps no other. */
  add(interval: T): void {
    this.#sorted.splice(this.#countUpTo(interval.from), 0, interval);
  }

  delete(interval: T): void {
    const at = this.#countUpTo(interval.from) - 1;
    if (this.#sorted[at] === interval) this.#sorted.splice(at, 1);
  }

  clear(): void {
    this.#sorted.length = 0;
  }

  /** The number of intervals that begin at or before this name. */
  #countUpTo(name: string): number {
    return this.#count((interval) => interval.from <= name);
  }

  #countBefore(name: string): number {
    return this.#count((interval) => interval.from < name);
  }

  #count(isBefore: (interval: T) => boolean): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#sorted[middle] as T)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
