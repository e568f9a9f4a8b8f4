import { Fault } from "../../../base/fault.ts";
import type { Query } from "./exchange.ts";

type Entry = readonly [name: string, value: string];

const NO_QUERY: Query = { get: () => undefined, form: () => undefined, entries: [] };

/**
 * Reads what stands behind the `?`. A `+` is a plus: clients of the service spell a space `%20`,
 * sign a plus as itself, and often forget to encode the one in a signature. Only the client for tables
 * spells a space so: what it may stand in is read with `form`.
 */
export function parseQuery(raw: string): Query {
  if (raw === "") return NO_QUERY;
  const parts = raw.split("&").filter((part) => part !== "");
  const entries = parts.map(parsePart);
  return {
    entries,
    get(name) {
      for (const entry of entries) if (entry[0] === name) return entry[1];
      return undefined;
    },
    form(name) {
      const at = entries.findIndex((entry) => entry[0] === name);
      const value = entries[at]?.[1];
      if (value?.includes("+") !== true) return value;
      return parsePart((parts[at] as string).replaceAll("+", "%20"))[1];
    },
  };
}

function parsePart(part: string): Entry {
  const equals = part.indexOf("=");
  const rawName = equals < 0 ? part : part.slice(0, equals);
  const rawValue = equals < 0 ? "" : part.slice(equals + 1);
  const name = decode(rawName);
  if (name === null) throw new Fault("InvalidUri");
  const value = decode(rawValue);
  if (value === null) {
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: name,
      QueryParameterValue: rawValue,
      Reason: "The value is not percent-encoded UTF-8.",
    });
  }
  return [name.toLowerCase(), value];
}

/** Null where the text is not percent-encoded UTF-8. */
function decode(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
