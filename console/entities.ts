import { useRef } from "preact/hooks";
import { literalOf, type SeenProperty } from "./filter-completion.ts";

/** An entity with all of OData's metadata. */
export type Entity = Readonly<Record<string, unknown>>;

/** Values of a property that completion offers. */
const VALUES_MAX = 5;
/** A longer value is no help in a list. */
const VALUE_CHARS_MAX = 40;

/** The type of a property, without `Edm.`. JSON tells some types by itself, others are named. */
export function typeOf(entity: Entity, name: string): string {
  const named = entity[`${name}@odata.type`];
  if (named !== undefined) return String(named).replace("Edm.", "");
  const value = entity[name];
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "Int32" : "Double";
  return "String";
}

interface Collected {
  readonly types: Map<string, string>;
  readonly values: Map<string, Set<string>>;
}

/** Properties of all entities that were loaded, in the order in which they were first seen. */
export function useSeenProperties(rows: readonly Entity[]): ReadonlyMap<string, SeenProperty> {
  const seen = useRef({ rows, count: -1, found: new Map<string, SeenProperty>() });
  const { found, count } = seen.current;
  const isLonger = seen.current.rows[0] === rows[0] && count >= 0;
  if (!isLonger || count !== rows.length) {
    // Only new rows are looked at: there may be 100,000.
    const news = isLonger ? rows.slice(count) : rows;
    seen.current = { rows, count: rows.length, found: merged(found, news) };
  }
  return seen.current.found;
}

function merged(
  known: ReadonlyMap<string, SeenProperty>,
  rows: readonly Entity[],
): Map<string, SeenProperty> {
  const types = new Map([...known].map(([name, { type }]) => [name, type]));
  const values = new Map([...known].map(([name, one]) => [name, new Set(one.values)]));
  for (const name of ["PartitionKey", "RowKey"]) if (!types.has(name)) types.set(name, "String");
  for (const row of rows) collect({ types, values }, row);
  return new Map(
    [...types].map(([name, type]) => [name, { type, values: [...(values.get(name) ?? [])] }]),
  );
}

function collect({ types, values }: Collected, row: Entity): void {
  for (const name of Object.keys(row)) {
    if (name.includes("odata.")) continue;
    const type = typeOf(row, name);
    const known = types.get(name);
    if (known === undefined) types.set(name, type);
    else if (known !== type && known !== MIXED) types.set(name, MIXED);
    const some = values.get(name) ?? new Set();
    // JSON has bytes in Base64, a filter in hexadecimal.
    if (some.size >= VALUES_MAX || type === "Binary") continue;
    const literal = literalOf(row[name], type);
    if (literal.length <= VALUE_CHARS_MAX) values.set(name, some.add(literal));
  }
}

const MIXED = "mixed";
