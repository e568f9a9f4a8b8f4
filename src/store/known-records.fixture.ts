import type { Bytes } from "../base/bytes.ts";
import { keyBehind } from "../base/keys.ts";
import type { Need, NeededRange } from "./acceleration.ts";
import type { Entry, RangeOptions } from "./entry.ts";

/** The keys and ranges that a store without all records at hand has fetched for a call. */
export class KnownRecords {
  readonly #keys = new Set<string>();
  /** Sorted; they neither overlap nor touch. */
  readonly #spans: Span[] = [];

  add(spans: readonly (Bytes | Span)[]): void {
    for (const span of spans) {
      if (Buffer.isBuffer(span)) this.#keys.add(span.toString("latin1"));
      else if (span.from.compare(span.until) < 0) this.#addSpan(span);
    }
  }

  has(key: Bytes): boolean {
    return (
      this.#keys.has(key.toString("latin1")) || this.covers({ from: key, until: keyBehind(key) })
    );
  }

  /** Whether all keys of a span are known, from one range that was asked for or several. */
  covers({ from, until }: Span): boolean {
    if (from.compare(until) >= 0) return true;
    const before = this.#spans[this.#countUpTo(from) - 1];
    return before !== undefined && before.until.compare(until) >= 0;
  }

  /** Joins a span with those that it overlaps or touches. */
  #addSpan({ from, until }: Span): void {
    let first = this.#countUpTo(from);
    const before = this.#spans[first - 1];
    if (before !== undefined && before.until.compare(from) >= 0) first--;
    const end = this.#countUpTo(until);
    const joined = this.#spans.slice(first, end);
    const start = joined[0]?.from ?? from;
    const last = joined.at(-1)?.until ?? until;
    this.#spans.splice(first, joined.length, {
      from: start.compare(from) < 0 ? start : from,
      until: last.compare(until) > 0 ? last : until,
    });
  }

  /** The number of spans that begin at or before this key. */
  #countUpTo(key: Bytes): number {
    let low = 0;
    let high = this.#spans.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#spans[middle] as Span).from.compare(key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** All keys with `from <= key < until`. */
export interface Span {
  readonly from: Bytes;
  readonly until: Bytes;
}

export function isRange(need: Need): need is NeededRange {
  return !Buffer.isBuffer(need);
}

/** The keys that had to be looked at to find just these entries of a range. */
export function spanOf(
  { from, until }: Span,
  { limit, bytesMax, reverse = false }: RangeOptions,
  entries: readonly Entry[],
): Span {
  if (limit <= 0) return { from, until: from };
  let bytes = 0;
  for (const { key, value } of entries) bytes += key.length + value.length;
  const last = entries.at(-1)?.key;
  const isCut = entries.length >= limit || (bytesMax !== undefined && bytes >= bytesMax);
  if (last === undefined || !isCut) return { from, until };
  return reverse ? { from: last, until } : { from, until: keyBehind(last) };
}
