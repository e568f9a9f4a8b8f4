import { Fault } from "../../../base/fault.ts";
import { parseGuid } from "../../../base/ids.ts";
import type { Comparable } from "../../../rules/entity-filter.ts";
import { formatDateTime, formatInt64 } from "./edm-values.ts";

export type FilterToken =
  | { readonly kind: "open" | "close" | "end" }
  /** A property or an operator, depending on its position. */
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "literal"; readonly value: Comparable };

/** `'text'`, or with one of these words before it; a quote inside is written twice. */
const QUOTED = /(datetime|guid|binary|X)?'((?:[^']|'')*)'/y;
const NUMBER = /(-?\d+)(\.\d+)?([eE][+-]?\d+)?([LlDdFfMm])?(?![\p{L}\p{N}_.])/uy;
const WORD = /-?[\p{L}_][\p{L}\p{N}_]*/uy;
const BLANKS = /[ \t\r\n]*/y;

const WORDS: ReadonlyMap<string, Comparable> = new Map([
  ["NaN", { kind: "number", value: Number.NaN }],
  ["INF", { kind: "number", value: Number.POSITIVE_INFINITY }],
  ["-INF", { kind: "number", value: Number.NEGATIVE_INFINITY }],
]);

/** Splits a filter into tokens. */
export class FilterTokens {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): FilterToken {
    this.#match(BLANKS);
    if (this.#at >= this.#text.length) return { kind: "end" };
    const mark = this.#text[this.#at];
    if (mark === "(" || mark === ")") {
      this.#at++;
      return { kind: mark === "(" ? "open" : "close" };
    }
    const quoted = this.#match(QUOTED);
    if (quoted !== null) return { kind: "literal", value: quotedValue(quoted[1], quoted[2] ?? "") };
    const number = this.#match(NUMBER);
    if (number !== null) return { kind: "literal", value: numberValue(number) };
    const word = this.#match(WORD)?.[0];
    if (word === undefined) throw invalidFilter(`'${mark}' makes no sense where it stands.`);
    const value = WORDS.get(word) ?? booleanValue(word);
    return value === undefined ? { kind: "word", word } : { kind: "literal", value };
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}

/** `true` and `false` in any case: clients of some languages write `True`. */
function booleanValue(word: string): Comparable | undefined {
  const text = word.length > "false".length ? "" : word.toLowerCase();
  return text === "true" || text === "false"
    ? { kind: "boolean", value: text === "true" }
    : undefined;
}

export function invalidFilter(reason: string): Fault {
  return new Fault("InvalidInput", { QueryParameterName: "$filter", Reason: reason });
}

function quotedValue(prefix: string | undefined, inner: string): Comparable {
  switch (prefix) {
    case "datetime": {
      const time = formatDateTime(inner);
      if (time === null) throw invalidFilter(`datetime'${inner}' is no date and time.`);
      return { kind: "datetime", value: time.slice(0, -1) };
    }
    case "guid": {
      const guid = parseGuid(inner);
      if (guid === null) throw invalidFilter(`guid'${inner}' is no GUID.`);
      return { kind: "guid", value: guid };
    }
    case "binary":
    case "X":
      if (!/^(?:[0-9a-fA-F]{2})*$/.test(inner)) {
        throw invalidFilter(`${prefix}'${inner}' is not in hexadecimal.`);
      }
      return { kind: "binary", value: inner.toLowerCase() };
    default:
      return { kind: "string", value: inner.replaceAll("''", "'") };
  }
}

function numberValue([
  whole,
  integer = "",
  fraction,
  exponent,
  suffix,
]: RegExpExecArray): Comparable {
  const isWhole = fraction === undefined && exponent === undefined;
  if (suffix === "L" || suffix === "l") {
    const number = isWhole ? formatInt64(integer) : null;
    if (number === null) throw invalidFilter(`${whole} is no Int64.`);
    return { kind: "number", value: BigInt(number) };
  }
  const digits = suffix === undefined ? whole : whole.slice(0, -1);
  // An integer without a suffix is tried as an Int64: as a Double it would not be exact.
  const exact = isWhole && suffix === undefined ? formatInt64(integer) : null;
  return { kind: "number", value: exact === null ? Number(digits) : BigInt(exact) };
}
