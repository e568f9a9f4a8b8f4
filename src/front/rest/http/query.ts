import { Fault } from "../../../base/fault.ts";
import type { Query } from "./exchange.ts";

type Entry = readonly [name: string, value: string];

const NO_QUERY: Query = { get: () => undefined, entries: [] };

/**
 * Reads what stands behind the `?`. A `+` is a plus: clients of the service spell a space `%20`,
 * sign a plus as itself, and often forget to encode the one in a signature.
 */
export function parseQuery(raw: string): Query {
  if (raw === "") return NO_QUERY;
  const entries: Entry[] = [];
  for (const part of raw.split("&")) {
    if (part !== "") entries.push(parsePart(part));
  }
  return {
    entries,
    get(name) {
      for (const entry of entries) if (entry[0] === name) return entry[1];
      return undefined;
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
