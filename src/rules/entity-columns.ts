import {
  type Comparable,
  type Comparison,
  type Filter,
  relationOf,
  relationOfNumbers,
  relationsBetween,
  TRUE_OF,
} from "./entity-filter.ts";

/**
 * Applies a filter to many entities at once: it tests one property of all of them before the next.
 * The result is that of `matches` on each.
 */

/** One property of many entities, in their order. */
export interface Column {
  /** Null where an entity does not have the property. */
  readonly kinds: readonly (Comparable["kind"] | null)[];
  readonly values: readonly Comparable["value"][];
  /** The values again, if all of them are plain numbers. */
  readonly numbers: Float64Array | null;
  /** The least and the greatest of these numbers; null if one is NaN, or there are none. */
  readonly bounds: readonly [least: number, most: number] | null;
}

export interface Columns {
  column(name: string): Column;
}

/** For each of some neighbouring rows, 1 if it may still match and 0 if not. */
export type Rows = Uint8Array;

export function columnOf(found: readonly (Comparable | null)[]): Column {
  const kinds = found.map((one) => one?.kind ?? null);
  const values = found.map((one) => one?.value ?? 0);
  const isPlain = found.every((one) => typeof one?.value === "number");
  const numbers = isPlain ? Float64Array.from(values as number[]) : null;
  return { kinds, values, numbers, bounds: boundsOf(numbers) };
}

function boundsOf(numbers: Float64Array | null): Column["bounds"] {
  if (numbers === null || numbers.length === 0) return null;
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of numbers) {
    if (Number.isNaN(number)) return null;
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return [least, most];
}

/** False only if no row can match, according to the bounds of the columns. */
export function mayMatch(filter: Filter, columns: Columns): boolean {
  switch (filter.kind) {
    case "all":
      return filter.terms.every((term) => mayMatch(term, columns));
    case "any":
      return filter.terms.some((term) => mayMatch(term, columns));
    case "not":
      return true;
    case "constant":
      return filter.value;
    case "compare":
      return mayCompare(filter, columns.column(filter.name));
  }
}

function mayCompare({ operator, value }: Comparison, { bounds }: Column): boolean {
  const wanted = asNumber(value.value);
  if (bounds === null || typeof wanted !== "number") return true;
  return (relationsBetween(bounds[0], bounds[1], wanted) & TRUE_OF[operator]) !== 0;
}

/** Retains only the rows that match. `first` is the number of the first row in the columns. */
export function narrow(filter: Filter, columns: Columns, rows: Rows, first: number): void {
  switch (filter.kind) {
    case "all":
      for (const term of filter.terms) narrow(term, columns, rows, first);
      return;
    case "any":
      narrowToAny(filter.terms, columns, rows, first);
      return;
    case "not":
      narrowToOthers(filter.term, columns, rows, first);
      return;
    case "constant":
      if (!filter.value) rows.fill(0);
      return;
    case "compare":
      narrowByComparison(filter, columns.column(filter.name), rows, first);
  }
}

function narrowToAny(terms: readonly Filter[], columns: Columns, rows: Rows, first: number): void {
  const found = new Uint8Array(rows.length);
  for (const term of terms) {
    const matching = rows.slice();
    narrow(term, columns, matching, first);
    for (let row = 0; row < rows.length; row++) if (matching[row] === 1) found[row] = 1;
  }
  rows.set(found);
}

function narrowToOthers(term: Filter, columns: Columns, rows: Rows, first: number): void {
  const matching = rows.slice();
  narrow(term, columns, matching, first);
  for (let row = 0; row < rows.length; row++) if (matching[row] === 1) rows[row] = 0;
}

function narrowByComparison(
  { operator, value }: Comparison,
  { numbers, kinds, values }: Column,
  rows: Rows,
  first: number,
): void {
  const trueOf = TRUE_OF[operator];
  const wanted = asNumber(value.value);
  if (numbers !== null && typeof wanted === "number") {
    for (let row = 0; row < rows.length; row++) {
      if ((relationOfNumbers(numbers[first + row] as number, wanted) & trueOf) === 0) rows[row] = 0;
    }
    return;
  }
  for (let row = 0; row < rows.length; row++) {
    if (rows[row] === 0) continue;
    const isMatch =
      kinds[first + row] === value.kind &&
      (relationOf(values[first + row] as Comparable["value"], wanted) & trueOf) !== 0;
    if (!isMatch) rows[row] = 0;
  }
}

/** Converts to a plain number, if it is one. */
function asNumber(value: Comparable["value"]): Comparable["value"] {
  const number = Number(value);
  return typeof value === "bigint" && Number.isSafeInteger(number) ? number : value;
}
