import { Fault } from "../../base/fault.ts";
import { BLOB_NAME_CHARS_MAX, LIST_RESULTS_MAX } from "../../base/limits.ts";
import type { Query } from "./http/exchange.ts";

/** Parses query parameters that several services share. */

export function invalidQuery(name: string, value: string, reason?: string): Fault {
  const detail = { QueryParameterName: name, QueryParameterValue: value };
  return new Fault(
    "InvalidQueryParameterValue",
    reason === undefined ? detail : { ...detail, Reason: reason },
  );
}

function outOfRange(name: string, value: string, min: number, max: number): Fault {
  return new Fault("OutOfRangeQueryParameterValue", {
    QueryParameterName: name,
    QueryParameterValue: value,
    MinimumAllowed: String(min),
    MaximumAllowed: String(max),
  });
}

/**
 * Returns how many results a list may have: what the client asks for, up to the service's maximum.
 */
export function resultsMaxOf(query: Query): number {
  const value = query.get("maxresults");
  if (value === undefined || value === "") return LIST_RESULTS_MAX;
  if (!/^[+-]?\d{1,10}$/.test(value)) throw invalidQuery("maxresults", value);
  const asked = Number(value);
  if (asked < 1) throw outOfRange("maxresults", value, 1, LIST_RESULTS_MAX);
  return Math.min(asked, LIST_RESULTS_MAX);
}

/** Reads an integer within bounds; null if the parameter is not sent. */
export function numberFromQuery(
  query: Query,
  name: string,
  min: number,
  max: number,
): number | null {
  const value = query.get(name);
  if (value === undefined || value === "") return null;
  if (!/^[+-]?\d{1,15}$/.test(value)) throw invalidQuery(name, value, "It is a whole number.");
  const number = Number(value);
  if (number < min || number > max) throw outOfRange(name, value, min, max);
  return number;
}

export function requireFromQuery(query: Query, name: string): string {
  const value = query.get(name);
  if (value === undefined || value === "") {
    throw new Fault("MissingRequiredQueryParameter", { QueryParameterName: name });
  }
  return value;
}

/** Reads the words of `include`. Unknown words are refused. */
export function includesOf(query: Query, known: readonly string[]): ReadonlySet<string> {
  const value = query.get("include");
  if (value === undefined || value === "") return new Set();
  const words = value.split(",").map((word) => word.trim().toLowerCase());
  for (const word of words) {
    if (!known.includes(word)) {
      throw invalidQuery("include", value, `It may hold: ${known.join(", ")}.`);
    }
  }
  return new Set(words);
}

/** Reads a name or a prefix; "" if it is not sent. */
export function nameFromQuery(query: Query, name: string): string {
  const value = query.get(name) ?? "";
  if (value.length > BLOB_NAME_CHARS_MAX) {
    throw invalidQuery(name, value, `No name is longer than ${BLOB_NAME_CHARS_MAX} characters.`);
  }
  return value;
}

const TIMEOUT = /^\d{1,9}$/;

/** Refuses a malformed timeout, even where no operation runs long enough to use it. */
export function requireValidTimeout(query: Query): void {
  const value = query.get("timeout");
  if (value !== undefined && value !== "" && !TIMEOUT.test(value)) {
    throw invalidQuery("timeout", value, "It is a number of seconds.");
  }
}

/** Returns the client's timeout; null if it is not sent. */
export function timeoutMsOf(query: Query): number | null {
  const value = query.get("timeout");
  return value === undefined || value === "" ? null : Number(value) * 1_000;
}
