import { Fault } from "../../../base/fault.ts";
import { FILTER_COMPARISONS_MAX, FILTER_DEPTH_MAX } from "../../../base/limits.ts";
import type { Filter, Operator } from "../../../rules/entity-filter.ts";
import { type FilterToken, FilterTokens, invalidFilter } from "./filter-tokens.ts";

/** `$filter`, as a tree; null if it is not sent. */
export function parseFilter(text: string | undefined): Filter | null {
  if (text === undefined || text.trim() === "") return null;
  return new FilterParser(text).filter();
}

/** The operator of the mirrored comparison, for a constant on the left. */
const MIRRORED: Readonly<Record<Operator, Operator>> = {
  eq: "eq",
  ne: "ne",
  gt: "lt",
  ge: "le",
  lt: "gt",
  le: "ge",
};

/** OData operators that the service does not implement. */
const ARITHMETIC: ReadonlySet<string> = new Set(["add", "sub", "mul", "div", "mod"]);
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.keys(MIRRORED),
  ...ARITHMETIC,
  "and",
  "or",
  "not",
  "null",
]);

type Operand = Extract<FilterToken, { kind: "word" | "literal" }>;

/**
 * or := and ("or" and)*      and := unary ("and" unary)*      unary := "not" unary | primary
 * primary := "(" or ")" | operand [operator operand]
 */
class FilterParser {
  readonly #tokens: FilterTokens;
  #token: FilterToken;
  #depth = 0;
  #comparisons = 0;

  constructor(text: string) {
    this.#tokens = new FilterTokens(text);
    this.#token = this.#tokens.next();
  }

  filter(): Filter {
    const found = this.#or();
    if (this.#token.kind !== "end") throw unexpected(this.#token);
    return found;
  }

  #or(): Filter {
    return this.#chain("or", "any", () => this.#chain("and", "all", () => this.#unary()));
  }

  #chain(word: string, kind: "any" | "all", term: () => Filter): Filter {
    const terms = [term()];
    while (this.#takeWord(word)) terms.push(term());
    return terms.length === 1 ? (terms[0] as Filter) : { kind, terms };
  }

  #unary(): Filter {
    if (this.#takeWord("not")) {
      return this.#nested(() => ({ kind: "not", term: this.#unary() }));
    }
    if (this.#token.kind !== "open") return this.#comparison();
    return this.#nested(() => {
      this.#advance();
      const inner = this.#or();
      if (this.#token.kind !== "close") throw unexpected(this.#token);
      this.#advance();
      return inner;
    });
  }

  #nested(inner: () => Filter): Filter {
    if (++this.#depth > FILTER_DEPTH_MAX) {
      throw invalidFilter(`It is nested more than ${FILTER_DEPTH_MAX} deep.`);
    }
    const found = inner();
    this.#depth--;
    return found;
  }

  #comparison(): Filter {
    if (++this.#comparisons > FILTER_COMPARISONS_MAX) {
      throw invalidFilter(`It has more than ${FILTER_COMPARISONS_MAX} comparisons.`);
    }
    const left = this.#operand();
    const operator = this.#operator();
    return operator === null ? alone(left) : comparison(left, operator, this.#operand());
  }

  #operand(): Operand {
    const token = this.#token;
    if (token.kind !== "word" && token.kind !== "literal") throw unexpected(token);
    if (token.kind === "word" && RESERVED.has(token.word)) throw unexpected(token);
    this.#advance();
    if (token.kind === "word" && this.#token.kind === "open") {
      throw new Fault("NotImplemented", { Reason: `There is no function ${token.word}.` });
    }
    return token;
  }

  #operator(): Operator | null {
    if (this.#token.kind !== "word") return null;
    const { word } = this.#token;
    if (ARITHMETIC.has(word)) {
      throw new Fault("NotImplemented", { Reason: `There is no operator ${word}.` });
    }
    if (!Object.hasOwn(MIRRORED, word)) return null;
    this.#advance();
    return word as Operator;
  }

  #takeWord(word: string): boolean {
    if (this.#token.kind !== "word" || this.#token.word !== word) return false;
    this.#advance();
    return true;
  }

  #advance(): void {
    this.#token = this.#tokens.next();
  }
}

function comparison(left: Operand, operator: Operator, right: Operand): Filter {
  if (left.kind === "word" && right.kind === "literal") {
    return { kind: "compare", name: left.word, operator, value: right.value };
  }
  if (left.kind === "literal" && right.kind === "word") {
    const mirrored = MIRRORED[operator];
    return { kind: "compare", name: right.word, operator: mirrored, value: left.value };
  }
  throw invalidFilter("A comparison has a property on one side and a constant on the other.");
}

/** A condition without an operator: a constant, or a property that must be true. */
function alone(operand: Operand): Filter {
  if (operand.kind === "word") {
    const value = { kind: "boolean", value: true } as const;
    return { kind: "compare", name: operand.word, operator: "eq", value };
  }
  if (operand.value.kind !== "boolean") throw invalidFilter("A value alone is no condition.");
  return { kind: "constant", value: operand.value.value };
}

function unexpected(token: FilterToken): Fault {
  const what = token.kind === "word" ? `'${token.word}'` : NAMES[token.kind];
  return invalidFilter(`${what} stands where something else must.`);
}

const NAMES = { open: "'('", close: "')'", end: "The end", literal: "A constant" } as const;
