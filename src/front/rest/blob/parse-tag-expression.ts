import type { Fault } from "../../../base/fault.ts";
import {
  TAG_EXPRESSION_DEPTH_MAX,
  TAG_NAME_CHARS_MAX,
  TAG_VALUE_CHARS_MAX,
  TAGS_MAX,
} from "../../../base/limits.ts";
import type {
  TagComparison,
  TagExpression,
  TagOperator,
  TagQuery,
} from "../../../rules/tag-expression.ts";
import { NOT_IN_TAGS } from "../../../rules/tags.ts";

/** Makes a fault from a parse error, which is worded as the service words it. */
export type Invalid = (sentence: string) => Fault;

/** Parses `x-ms-if-tags`: any number of comparisons with AND, OR and parentheses. */
export function parseTagExpression(text: string, invalid: Invalid): TagExpression {
  return new TagParser(text, invalid, CONDITION).expression();
}

/** Parses `where` of Find Blobs by Tags: comparisons without OR and <>, but with `@container`. */
export function parseTagQuery(text: string, invalid: Invalid): TagQuery {
  const all: TagComparison[] = [];
  flatten(new TagParser(text, invalid, QUERY).expression(), all);
  const containers = all.filter(({ tag }) => tag === CONTAINER);
  const comparisons = all.filter(({ tag }) => tag !== CONTAINER);
  const problem = problemOf(containers, comparisons);
  if (problem !== null) throw invalid(`Error parsing query: ${problem}`);
  return { container: containers[0]?.value ?? null, comparisons };
}

/** Checks the rules for a query that the grammar does not cover. */
function problemOf(
  containers: readonly TagComparison[],
  comparisons: readonly TagComparison[],
): string | null {
  if (containers.length > 1 || containers.some(({ operator }) => operator !== "=")) {
    return "@container can be compared once, and with = only";
  }
  if (comparisons.length === 0) return "at least one tag must be compared";
  const byTag = new Map<string, TagOperator[]>();
  for (const { tag, operator } of comparisons) {
    const operators = byTag.get(tag);
    if (operators === undefined) byTag.set(tag, [operator]);
    else operators.push(operator);
  }
  if (byTag.size > TAGS_MAX) return `there can be at most ${TAGS_MAX} unique tags in a query`;
  return [...byTag.values()].every(isRange)
    ? null
    : "can't have multiple conditions for a single tag unless they define a range";
}

/** Whether there is a single comparison, or one lower and one upper bound. */
function isRange(operators: readonly TagOperator[]): boolean {
  if (operators.length === 1) return true;
  const sides = operators.map((operator) => operator[0]).sort();
  return sides.join("") === "<>";
}

function flatten(found: TagExpression, into: TagComparison[]): void {
  if (found.kind === "compare") into.push(found);
  else for (const term of found.terms) flatten(term, into);
}

/** The differences between the grammars of the header and of the query. */
interface Grammar {
  readonly hasOr: boolean;
  readonly operators: readonly TagOperator[];
  readonly hasContainer: boolean;
  /** Whether lengths are checked. A condition on an impossible name is just not met. */
  readonly hasLengths: boolean;
}

const CONDITION: Grammar = {
  hasOr: true,
  operators: ["=", "<>", ">", ">=", "<", "<="],
  hasContainer: false,
  hasLengths: false,
};
const QUERY: Grammar = {
  hasOr: false,
  operators: ["=", ">", ">=", "<", "<="],
  hasContainer: true,
  hasLengths: true,
};

interface Token {
  /** A `word` is an unquoted name, or AND or OR, depending on its position. */
  readonly kind: "bracket" | "operator" | "name" | "value" | "word" | "unknown" | "end";
  /** Without its quotes. */
  readonly text: string;
  /** As it was sent. */
  readonly raw: string;
  /** Where it begins. */
  readonly at: number;
}

const TOKEN =
  /\s*(?:(?<bracket>[()])|(?<operator><>|<=|>=|<|>|=)|"(?<name>[^"]*)"|'(?<value>(?:[^']|'')*)'|(?<word>@?[A-Za-z_][A-Za-z0-9_]*(?![^\s()<>=]))|(?<unknown>[^\s()<>=]+)|$)/y;
const CONTAINER = "@container";

/** any := all ("OR" all)*      all := term ("AND" term)*      term := "(" any ")" | comparison */
class TagParser {
  readonly #text: string;
  readonly #invalid: Invalid;
  readonly #grammar: Grammar;
  #at = 0;
  #token: Token;
  #depth = 0;

  constructor(text: string, invalid: Invalid, grammar: Grammar) {
    this.#text = text;
    this.#invalid = invalid;
    this.#grammar = grammar;
    this.#token = this.#next();
  }

  expression(): TagExpression {
    const found = this.#any();
    if (this.#token.kind !== "end") throw this.#unexpected();
    return found;
  }

  #any(): TagExpression {
    return this.#chain("OR", "any", () => this.#chain("AND", "all", () => this.#term()));
  }

  #chain(word: "AND" | "OR", kind: "any" | "all", term: () => TagExpression): TagExpression {
    const terms = [term()];
    while (this.#token.kind === "word" && this.#token.text.toUpperCase() === word) {
      if (word === "OR" && !this.#grammar.hasOr) throw this.#unexpected();
      this.#advance();
      terms.push(term());
    }
    return terms.length === 1 ? (terms[0] as TagExpression) : { kind, terms };
  }

  #term(): TagExpression {
    if (!this.#is("(")) return this.#comparison();
    if (++this.#depth > TAG_EXPRESSION_DEPTH_MAX) throw this.#unexpected();
    this.#advance();
    const found = this.#any();
    if (!this.#is(")")) throw this.#unexpected();
    this.#advance();
    this.#depth--;
    return found;
  }

  #comparison(): TagComparison {
    const tag = this.#name();
    this.#advance();
    const operator = this.#operator();
    this.#advance();
    const value = this.#value();
    this.#advance();
    return { kind: "compare", tag, operator, value };
  }

  #name(): string {
    const { kind, text } = this.#token;
    if (kind !== "word" && kind !== "name") throw this.#unexpected();
    if (kind === "word" && text.startsWith("@")) {
      if (this.#grammar.hasContainer && text === CONTAINER) return text;
      throw this.#fail(`unsupported parameter '${text}'`);
    }
    const { hasLengths } = this.#grammar;
    if (hasLengths && (text === "" || text.length > TAG_NAME_CHARS_MAX)) {
      throw this.#fail(`tag must be between 1 and ${TAG_NAME_CHARS_MAX} characters in length`);
    }
    this.#requireCharacters(text);
    return text;
  }

  #operator(): TagOperator {
    const { kind, text } = this.#token;
    if (kind !== "operator") throw this.#fail("expected an operator");
    const found = this.#grammar.operators.find((one) => one === text);
    if (found === undefined) throw this.#unexpected();
    return found;
  }

  #value(): string {
    const { kind, text } = this.#token;
    if (kind !== "value") throw this.#fail("expecting tag value");
    if (this.#grammar.hasLengths && text.length > TAG_VALUE_CHARS_MAX) {
      const most = TAG_VALUE_CHARS_MAX;
      throw this.#fail(`tag value must be between 0 and ${most} characters in length`);
    }
    this.#requireCharacters(text);
    return text;
  }

  #requireCharacters(text: string): void {
    const wrong = NOT_IN_TAGS.exec(text);
    if (wrong !== null) throw this.#fail(`'${wrong[0]}' not permitted in tag name or value`);
  }

  #is(bracket: "(" | ")"): boolean {
    return this.#token.kind === "bracket" && this.#token.text === bracket;
  }

  #advance(): void {
    this.#token = this.#next();
  }

  #next(): Token {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    const { 0: whole = "", groups = {} } = found ?? {};
    this.#at += whole.length;
    const raw = whole.trimStart();
    const at = this.#at - raw.length;
    const [kind, text] = Object.entries(groups).find(([, one]) => one !== undefined) ?? ["end", ""];
    return { kind: kind as Token["kind"], text: text.replaceAll("''", "'"), raw, at };
  }

  #unexpected(): Fault {
    const { kind, raw } = this.#token;
    return this.#fail(kind === "end" ? "unexpected end of query" : `unexpected '${raw}'`);
  }

  /** An error at the current token. Positions count from 1. */
  #fail(problem: string): Fault {
    const position = this.#token.at + 1;
    return this.#invalid(
      `Error parsing query at or near character position ${position}: ${problem}`,
    );
  }
}
