import { Fault } from "../../../base/fault.ts";
import { percentDecode } from "../../../base/percent-text.ts";
import type { Query } from "./exchange.ts";

type Entry = readonly [name: string, value: string];

const NO_QUERY: Query = { get: () => undefined, form: () => undefined, entries: [] };

/**
 * Parses the part of a target behind the `?`. A `+` is a plus: storage clients encode a space as
 * `%20`, sign a plus as itself, and often forget to encode the one in a signature. Only the table
 * client encodes a space as `+`; read its parameters with `form`.
 */
export function parseQuery(raw: string): Query {
  return raw === "" ? NO_QUERY : new ParsedQuery(raw);
}

class ParsedQuery implements Query {
  readonly entries: Entry[] = [];
  /** The pairs as they were sent. */
  readonly #parts: string[] = [];

  constructor(raw: string) {
    for (let at = 0; at < raw.length; ) {
      const and = raw.indexOf("&", at);
      const end = and < 0 ? raw.length : and;
      if (end > at) this.#add(raw.slice(at, end));
      at = end + 1;
    }
  }

  get(name: string): string | undefined {
    for (const entry of this.entries) if (entry[0] === name) return entry[1];
    return undefined;
  }

  form(name: string): string | undefined {
    const at = this.entries.findIndex((entry) => entry[0] === name);
    const value = this.entries[at]?.[1];
    if (value?.includes("+") !== true) return value;
    return parsePart((this.#parts[at] as string).replaceAll("+", "%20"))[1];
  }

  #add(part: string): void {
    this.#parts.push(part);
    this.entries.push(parsePart(part));
  }
}

function parsePart(part: string): Entry {
  const equals = part.indexOf("=");
  const rawName = equals < 0 ? part : part.slice(0, equals);
  const rawValue = equals < 0 ? "" : part.slice(equals + 1);
  const name = percentDecode(rawName);
  if (name === null) throw new Fault("InvalidUri");
  const value = percentDecode(rawValue);
  if (value === null) {
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: name,
      QueryParameterValue: rawValue,
      Reason: "The value is not percent-encoded UTF-8.",
    });
  }
  return [name.toLowerCase(), value];
}
