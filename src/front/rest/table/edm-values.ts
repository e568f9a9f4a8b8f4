import { EDM_TYPES, type EdmType, type Property } from "../../../base/edm.ts";
import { Fault } from "../../../base/fault.ts";
import { parseGuid } from "../../../base/ids.ts";
import { parseIsoTime } from "../../../base/time-text.ts";
import type { JsonValue } from "./flat-json.ts";

/** Converts property values from what clients send to the one form that is stored. */

const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;
const INTEGER = /^-?\d{1,19}$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NOT_FINITE: ReadonlyMap<string, string> = new Map([
  ["NaN", '"NaN"'],
  ["INF", '"Infinity"'],
  ["Infinity", '"Infinity"'],
  ["-INF", '"-Infinity"'],
  ["-Infinity", '"-Infinity"'],
]);

/** Null for a null, which is not stored. `annotation` is the type that the client names. */
export function propertyOf(
  name: string,
  value: JsonValue,
  annotation: string | null,
): Property | null {
  if (value.kind === "null") return null;
  const type = annotation === null ? inferredType(value) : typeNamed(name, annotation);
  const json = jsonOf(type, value.kind === "boolean" ? String(value.value) : value.text);
  const fits = type === "Edm.String" ? value.kind === "text" : json !== null;
  if (json === null || !fits) throw new Fault("InvalidValueType", { Property: name, Type: type });
  return { name, type, json };
}

/** The type that a JSON value has by itself. */
function inferredType(value: JsonValue): EdmType {
  if (value.kind === "text") return "Edm.String";
  if (value.kind !== "number") return "Edm.Boolean";
  return formatInt32(value.text) === null ? "Edm.Double" : "Edm.Int32";
}

function typeNamed(name: string, annotation: string): EdmType {
  const type = EDM_TYPES.find((known) => known === annotation);
  if (type === undefined) throw new Fault("InvalidValueType", { Property: name, Type: annotation });
  return type;
}

function jsonOf(type: EdmType, text: string): string | null {
  switch (type) {
    case "Edm.String":
      return JSON.stringify(text);
    case "Edm.Boolean":
      return formatBoolean(text);
    case "Edm.Int32":
      return formatInt32(text);
    case "Edm.Int64":
      return quoted(formatInt64(text));
    case "Edm.Double":
      return formatDouble(text);
    case "Edm.DateTime":
      return quoted(formatDateTime(text));
    case "Edm.Guid":
      return quoted(parseGuid(text));
    case "Edm.Binary":
      return quoted(formatBase64(text));
  }
}

/** In any case: clients of some languages send `True`. */
function formatBoolean(text: string): string | null {
  const lower = text.length > "false".length ? "" : text.toLowerCase();
  return lower === "true" || lower === "false" ? lower : null;
}

function quoted(text: string | null): string | null {
  return text === null ? null : `"${text}"`;
}

function formatInt32(text: string): string | null {
  if (!INTEGER.test(text)) return null;
  const number = Number(text);
  return number <= INT32_MAX && number >= -INT32_MAX - 1 ? String(number) : null;
}

export function formatInt64(text: string): string | null {
  if (!INTEGER.test(text)) return null;
  const number = BigInt(text);
  return number <= INT64_MAX && number >= -INT64_MAX - 1n ? String(number) : null;
}

/** A Double always shows that it is one: 1 is written as 1.0. */
function formatDouble(text: string): string | null {
  const special = NOT_FINITE.get(text);
  if (special !== undefined) return special;
  const number = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number)) return null;
  const written = Object.is(number, -0) ? "-0" : String(number);
  return /[.e]/.test(written) ? written : `${written}.0`;
}

const DATE_TIME =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,16}))?)?(?:Z|([+-])(\d\d):(\d\d))?$/;
const FIRST_MS = Date.UTC(1601, 0, 1);
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);
const TICK_DIGITS = 7;

/** In UTC, down to 100 ns, without trailing zeros in the fraction. */
export function formatDateTime(text: string): string | null {
  const parts = DATE_TIME.exec(text);
  if (parts === null) return null;
  const [, minute = "", second = "00", fraction = "", sign, hours, minutes] = parts;
  const local = parseIsoTime(`${minute}:${second}Z`);
  if (local === null) return null;
  const offsetMs = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  const utc = sign === "+" ? local - offsetMs : local + offsetMs;
  if (utc < FIRST_MS || utc > LAST_MS) return null;
  const ticks = fraction.slice(0, TICK_DIGITS).replace(/0+$/, "");
  const whole = new Date(utc).toISOString().slice(0, "2026-11-16T00:17:23".length);
  return ticks === "" ? `${whole}Z` : `${whole}.${ticks}Z`;
}

function formatBase64(text: string): string | null {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? text : null;
}
