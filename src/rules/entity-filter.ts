import { findProperty, type Property } from "../base/edm.ts";
import { isoOfStamp, type Stamp } from "../base/stamp.ts";

/** A query's condition on entities or tables, as a tree. */
export type Filter =
  | { readonly kind: "all" | "any"; readonly terms: readonly Filter[] }
  | { readonly kind: "not"; readonly term: Filter }
  | { readonly kind: "constant"; readonly value: boolean }
  | Comparison;

export interface Comparison {
  readonly kind: "compare";
  readonly name: string;
  readonly operator: Operator;
  readonly value: Comparable;
}

export type Operator = "eq" | "ne" | "gt" | "ge" | "lt" | "le";

/**
 * A value to compare with JavaScript's own operators. Numbers of all types compare by value; values
 * of different kinds do not compare at all.
 */
export type Comparable =
  | { readonly kind: "number"; readonly value: number | bigint }
  | { readonly kind: "boolean"; readonly value: boolean }
  /**
   * Strings compare by UTF-16 units. A datetime is in UTC and without its Z, a GUID in lower case,
   * binary in hexadecimal: written so, each has the order of its values.
   */
  | { readonly kind: "string" | "datetime" | "guid" | "binary"; readonly value: string };

/** The cost of a filter for each entity. */
export interface FilterSize {
  /** Conditions and their connectives. */
  readonly nodes: number;
  /** Different properties that it names. */
  readonly names: number;
}

export function sizeOfFilter(filter: Filter): FilterSize {
  const names = new Set<string>();
  const count = (part: Filter): number => {
    if (part.kind === "compare") names.add(part.name);
    if (part.kind === "not") return 1 + count(part.term);
    if (part.kind !== "all" && part.kind !== "any") return 1;
    return part.terms.reduce((nodes, term) => nodes + count(term), 1);
  };
  return { nodes: count(filter), names: names.size };
}

/** The entity or table that a filter tests. */
export interface Filtered {
  /** Null if it has no such property. */
  find(name: string): Comparable | null;
}

/** A missing property compares to nothing: every comparison with it is false, even `ne`. */
export function matches(filter: Filter, found: Filtered): boolean {
  switch (filter.kind) {
    case "all":
      for (const term of filter.terms) if (!matches(term, found)) return false;
      return true;
    case "any":
      for (const term of filter.terms) if (matches(term, found)) return true;
      return false;
    case "not":
      return !matches(filter.term, found);
    case "constant":
      return filter.value;
    case "compare": {
      const value = found.find(filter.name);
      if (value === null || value.kind !== filter.value.kind) return false;
      return (relationOf(value.value, filter.value.value) & TRUE_OF[filter.operator]) !== 0;
    }
  }
}

/** The relations between two values; NaN has none. */
const [BELOW, EQUAL, ABOVE, APART] = [1, 2, 4, 8] as const;

/** The relations, added up, for which an operator is true. */
export const TRUE_OF: Readonly<Record<Operator, number>> = {
  eq: EQUAL,
  ne: BELOW | ABOVE | APART,
  gt: ABOVE,
  ge: ABOVE | EQUAL,
  lt: BELOW,
  le: BELOW | EQUAL,
};

export function relationOf(left: Comparable["value"], right: Comparable["value"]): number {
  if (left < right) return BELOW;
  if (left > right) return ABOVE;
  // biome-ignore lint/suspicious/noDoubleEquals: 1 and 1n are equal numbers of different types.
  return left == right ? EQUAL : APART;
}

/** Compares numbers only, in a function of its own, so that the engine compiles it for numbers. */
export function relationOfNumbers(left: number, right: number): number {
  if (left < right) return BELOW;
  if (left > right) return ABOVE;
  return left === right ? EQUAL : APART;
}

/** The relations, added up, that numbers from `least` to `most` can have to another. */
export function relationsBetween(least: number, most: number, right: number): number {
  const [first, last] = [relationOfNumbers(least, right), relationOfNumbers(most, right)];
  return first === last ? first : first | EQUAL | last;
}

/** An entity as stored. */
export interface EntityParts {
  readonly partition: string;
  readonly row: string;
  readonly stamp: Stamp;
  /** As `formatProperties` wrote it. */
  readonly properties: string;
}

export function findInEntity(entity: EntityParts, name: string): Comparable | null {
  switch (name) {
    case "PartitionKey":
      return { kind: "string", value: entity.partition };
    case "RowKey":
      return { kind: "string", value: entity.row };
    case "Timestamp":
      return { kind: "datetime", value: isoOfStamp(entity.stamp).replace(/\.?0*Z$/, "") };
    default: {
      const property = findProperty(entity.properties, name);
      return property === null ? null : comparableOf(property);
    }
  }
}

export function comparableOf({ type, json }: Property): Comparable {
  const text = json.startsWith('"') ? json.slice(1, -1) : json;
  switch (type) {
    case "Edm.String":
      return { kind: "string", value: text.includes("\\") ? JSON.parse(json) : text };
    case "Edm.Boolean":
      return { kind: "boolean", value: text === "true" };
    case "Edm.Int32":
    case "Edm.Double":
      return { kind: "number", value: Number(text) };
    case "Edm.Int64":
      // Up to 15 digits a number is exact, and compares much faster.
      return { kind: "number", value: text.length <= 15 ? Number(text) : BigInt(text) };
    case "Edm.DateTime":
      return { kind: "datetime", value: text.slice(0, -1) };
    case "Edm.Guid":
      return { kind: "guid", value: text };
    case "Edm.Binary":
      return { kind: "binary", value: Buffer.from(text, "base64").toString("hex") };
  }
}
