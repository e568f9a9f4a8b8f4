import { Fault } from "../../../base/fault.ts";
import { ENTITY_KEY_CHARS_MAX, TABLE_RESULTS_MAX } from "../../../base/limits.ts";
import type { Query } from "../http/exchange.ts";

/** OData options that the service does not implement. */
const UNSUPPORTED = ["$orderby", "$skip", "$skiptoken", "$count", "$inlinecount", "$expand"];

export function requireKnownOptions(query: Query): void {
  requireNoOptions(query, UNSUPPORTED);
}

/** An entity addressed by its keys is neither searched for nor counted. */
export function requireNoSearchOptions(query: Query): void {
  requireNoOptions(query, [...UNSUPPORTED, "$filter", "$top"]);
}

function requireNoOptions(query: Query, names: readonly string[]): void {
  for (const name of names) {
    if (query.get(name) !== undefined) {
      throw new Fault("NotImplemented", { QueryParameterName: name });
    }
  }
}

export function resultsMaxOf(query: Query): number {
  const sent = query.get("$top");
  if (sent === undefined) return TABLE_RESULTS_MAX;
  const number = /^\d{1,9}$/.test(sent) ? Number(sent) : 0;
  if (number >= 1 && number <= TABLE_RESULTS_MAX) return number;
  throw new Fault("InvalidInput", {
    QueryParameterName: "$top",
    Reason: `It is a number from 1 to ${TABLE_RESULTS_MAX}.`,
  });
}

/** The names of the selected properties; null for all. */
export function selectOf(query: Query): ReadonlySet<string> | null {
  const sent = query.form("$select");
  if (sent === undefined || sent.trim() === "") return null;
  const names = new Set(sent.split(",").map((name) => name.trim()));
  return names.has("*") ? null : names;
}

/** A table has only its name to select. */
export function requireTableNameOnly(query: Query): void {
  const names = selectOf(query);
  if (names === null || (names.size === 1 && names.has("TableName"))) return;
  throw new Fault("InvalidInput", {
    QueryParameterName: "$select",
    Reason: "Of a table, TableName can be selected.",
  });
}

/**
 * Encodes a key as a continuation token. It is opaque to clients, and has two bytes for each UTF-16
 * unit, so that it can carry any key.
 */
export function writeToken(key: string): string {
  const text = Buffer.from(key, "utf16le").toString("base64url");
  return `1!${text.length}!${text}`;
}

/** Null if it is not sent. */
export function tokenOf(query: Query, name: string): string | null {
  const sent = query.get(name);
  if (sent === undefined || sent === "") return null;
  const text = /^1!\d{1,5}!([\w-]*)$/.exec(sent)?.[1];
  const bytes = Buffer.from(text ?? "", "base64url");
  const key = bytes.toString("utf16le");
  if (text !== undefined && writeToken(key) === sent && key.length <= ENTITY_KEY_CHARS_MAX) {
    return key;
  }
  throw new Fault("InvalidInput", {
    QueryParameterName: name,
    Reason: "Send the continuation token of the page before, unchanged.",
  });
}
