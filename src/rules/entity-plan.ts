import type { KeyRange } from "./access.ts";
import type { Comparison, Filter } from "./entity-filter.ts";

/** Keys from `from` on and before `until`; null is an open end. */
export interface KeySpan {
  readonly from: EntityPlace;
  readonly until: EntityPlace | null;
}

/** A place among the entities of a table, which lie in the order of their keys. */
export interface EntityPlace {
  readonly partition: string;
  readonly row: string;
}

export interface Plan {
  /** Where matches can lie: in order, apart from each other. */
  readonly spans: readonly KeySpan[];
  /** Whether everything there matches, so that nothing needs to be compared. */
  readonly exact: boolean;
}

export const START: EntityPlace = { partition: "", row: "" };

/** More boxes than this, and their keys are looked at one by one instead. */
const BOXES_MAX = 256;

/** The keys that a filter leaves possible, as far as its terms on the two keys tell. */
export function planQuery(filter: Filter | null): Plan {
  if (filter === null) return { spans: [{ from: START, until: null }], exact: true };
  const { boxes, exact } = boxesOf(filter);
  return {
    spans: joined(boxes.map(spanOf)),
    exact: exact && boxes.every((box) => isOne(box.partition) || isAll(box.row)),
  };
}

/** What of a span lies within another. */
export function clip(spans: readonly KeySpan[], to: KeySpan): KeySpan[] {
  return spans.flatMap(({ from, until }) => {
    const clipped = {
      from: comparePlaces(from, to.from) < 0 ? to.from : from,
      until: compareEnds(until, to.until) < 0 ? until : to.until,
    };
    return isEmptySpan(clipped) ? [] : [clipped];
  });
}

/** The entities that a SAS opens, of which both ends belong to the range. */
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

/** Texts from `from` on and before `until`; null is an open end. */
interface TextSpan {
  readonly from: string;
  readonly until: string | null;
}

/** A partition span and a row span: what `and` can say of the two keys. */
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
  // A key is a text, and compares to nothing else.
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

/** By UTF-16 units. */
function ordinally(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Of several partitions, the first begins with the first row; what lies between is compared. */
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

/** The same places, in order, without any of them twice. */
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

/** The text that follows this one: no other lies between them. */
function after(text: string): string {
  return `${text}\0`;
}
