import type { KeyRange } from "./access.ts";
import type { Comparison, Filter } from "./entity-filter.ts";

/** Keys with `from <= key < until`; null is an open end. */
export interface KeySpan {
  readonly from: EntityPlace;
  readonly until: EntityPlace | null;
}

/** The keys of an entity. A table is ordered by them. */
export interface EntityPlace {
  readonly partition: string;
  readonly row: string;
}

export interface Plan {
  /** The key spans that can contain matches, in order and disjoint. */
  readonly spans: readonly KeySpan[];
  /** Whether everything in the spans matches, so that nothing needs to be compared. */
  readonly exact: boolean;
}

export const START: EntityPlace = { partition: "", row: "" };

/** With more boxes than this, the filter tests entities one by one instead. */
const BOXES_MAX = 256;

/** The keys that can match a filter, according to its conditions on the two keys. */
export function planQuery(filter: Filter | null): Plan {
  if (filter === null) return { spans: [{ from: START, until: null }], exact: true };
  const { boxes, exact } = boxesOf(filter);
  return {
    spans: joined(boxes.map(spanOf)),
    exact: exact && boxes.every((box) => isOne(box.partition) || isAll(box.row)),
  };
}

/** The parts of the spans that lie within another. */
export function clip(spans: readonly KeySpan[], to: KeySpan): KeySpan[] {
  return spans.flatMap(({ from, until }) => {
    const clipped = {
      from: comparePlaces(from, to.from) < 0 ? to.from : from,
      until: compareEnds(until, to.until) < 0 ? until : to.until,
    };
    return isEmptySpan(clipped) ? [] : [clipped];
  });
}

/** The span of the entities that a SAS permits. Both ends of the range belong to it. */
export function spanOfRange({ startPartition, startRow, endPartition, endRow }: KeyRange): KeySpan {
  const from = { partition: startPartition ?? "", row: startRow ?? "" };
  if (endPartition === null) return { from, until: null };
  const until =
    endRow === null
      ? { partition: after(endPartition), row: "" }
      : { partition: endPartition, row: after(endRow) };
  return { from, until };
}

export function comparePlaces(left: EntityPlace, right: EntityPlace): number {
  return ordinally(left.partition, right.partition) || ordinally(left.row, right.row);
}

/** Texts with `from <= text < until`; null is an open end. */
interface TextSpan {
  readonly from: string;
  readonly until: string | null;
}

/** A partition span and a row span: what `and` can say about the two keys. */
interface Box {
  readonly partition: TextSpan;
  readonly row: TextSpan;
}

interface Boxes {
  readonly boxes: readonly Box[];
  readonly exact: boolean;
}

const ALL: TextSpan = { from: "", until: null };
const EVERYWHERE: Boxes = { boxes: [{ partition: ALL, row: ALL }], exact: false };

function boxesOf(filter: Filter): Boxes {
  switch (filter.kind) {
    case "constant":
      return filter.value ? { ...EVERYWHERE, exact: true } : { boxes: [], exact: true };
    case "compare":
      return boxesOfComparison(filter);
    case "not":
      return EVERYWHERE;
    case "any":
      return limited(filter.terms.map(boxesOf).reduce(union));
    case "all":
      return filter.terms.map(boxesOf).reduce((left, right) => limited(intersection(left, right)));
  }
}

function boxesOfComparison({ name, operator, value }: Comparison): Boxes {
  const isKey = name === "PartitionKey" || name === "RowKey";
  if (!isKey) return EVERYWHERE;
  // A key is a string, and compares to nothing else.
  if (value.kind !== "string") return { boxes: [], exact: true };
  const spans = spansOf(operator, value.value);
  const boxes = spans.map((span) =>
    name === "PartitionKey" ? { partition: span, row: ALL } : { partition: ALL, row: span },
  );
  return { boxes, exact: true };
}

function spansOf(operator: Comparison["operator"], text: string): TextSpan[] {
  switch (operator) {
    case "eq":
      return [{ from: text, until: after(text) }];
    case "ne":
      return [
        { from: "", until: text },
        { from: after(text), until: null },
      ].filter((span) => !isEmpty(span));
    case "ge":
      return [{ from: text, until: null }];
    case "gt":
      return [{ from: after(text), until: null }];
    case "lt":
      return text === "" ? [] : [{ from: "", until: text }];
    case "le":
      return [{ from: "", until: after(text) }];
  }
}

function union(left: Boxes, right: Boxes): Boxes {
  return { boxes: [...left.boxes, ...right.boxes], exact: left.exact && right.exact };
}

function intersection(left: Boxes, right: Boxes): Boxes {
  const boxes: Box[] = [];
  for (const one of left.boxes) {
    for (const other of right.boxes) {
      const partition = common(one.partition, other.partition);
      const row = common(one.row, other.row);
      if (!isEmpty(partition) && !isEmpty(row)) boxes.push({ partition, row });
    }
    if (boxes.length > BOXES_MAX) break;
  }
  const exact = left.exact && right.exact;
  return boxes.length > BOXES_MAX ? EVERYWHERE : { boxes, exact };
}

function limited(found: Boxes): Boxes {
  return found.boxes.length > BOXES_MAX ? EVERYWHERE : found;
}

function common(left: TextSpan, right: TextSpan): TextSpan {
  const from = ordinally(left.from, right.from) < 0 ? right.from : left.from;
  return { from, until: earlier(left.until, right.until) };
}

function earlier(left: string | null, right: string | null): string | null {
  if (left === null || right === null) return left ?? right;
  return ordinally(left, right) < 0 ? left : right;
}

/** Compares by UTF-16 units. */
function ordinally(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * The span from the first partition's first row to the last partition's last row. Rows between are
 * tested by the filter.
 */
function spanOf({ partition, row }: Box): KeySpan {
  const from = { partition: partition.from, row: row.from };
  if (isOne(partition)) {
    const until =
      row.until === null
        ? { partition: after(partition.from), row: "" }
        : { partition: partition.from, row: row.until };
    return { from, until };
  }
  const until = partition.until === null ? null : { partition: partition.until, row: "" };
  return { from, until };
}

/** Merges overlapping spans, in order. */
function joined(spans: readonly KeySpan[]): KeySpan[] {
  const sorted = spans.toSorted((left, right) => comparePlaces(left.from, right.from));
  const found: KeySpan[] = [];
  for (const span of sorted) {
    const last = found.at(-1);
    if (last !== undefined && compareEnds(span.from, last.until) <= 0) {
      const until = compareEnds(span.until, last.until) > 0 ? span.until : last.until;
      found[found.length - 1] = { from: last.from, until };
    } else {
      found.push(span);
    }
  }
  return found;
}

function compareEnds(left: EntityPlace | null, right: EntityPlace | null): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  return comparePlaces(left, right);
}

function isEmptySpan({ from, until }: KeySpan): boolean {
  return until !== null && comparePlaces(from, until) >= 0;
}

function isEmpty({ from, until }: TextSpan): boolean {
  return until !== null && from >= until;
}

function isOne({ from, until }: TextSpan): boolean {
  return until === after(from);
}

function isAll({ from, until }: TextSpan): boolean {
  return from === "" && until === null;
}

/** The next text in order: none lies between the two. */
function after(text: string): string {
  return `${text}\0`;
}
