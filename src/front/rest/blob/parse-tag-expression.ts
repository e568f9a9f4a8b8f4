import type { Fault } from "../../../base/fault.ts";
import { TAG_EXPRESSION_OPERATORS_MAX } from "../../../base/limits.ts";
import type {
  TagComparison,
  TagExpression,
  TagOperator,
  TagQuery,
} from "../../../rules/tag-expression.ts";

/** What is wrong with an expression, in the words of the header or parameter that it stands in. */
export type Invalid = (reason: string) => Fault;

/** `x-ms-if-tags`: comparisons of tags with AND, OR and parentheses. */
export function parseTagExpression(text: string, invalid: Invalid): TagExpression {
  return new TagParser(text, invalid).expression();
}

export function parseTagQuery(text: string, invalid: Invalid): TagQuery {
  return new TagParser(text, invalid).query();
}

type Token =
  | { readonly kind: "open" | "close" | "end" }
  | { readonly kind: "operator"; readonly operator: TagOperator }
  /** A name without quotes, or AND and OR: only its place tells. */
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "name"; readonly text: string }
  | { readonly kind: "value"; readonly text: string };

const TOKEN =
  /\s*(?:([()])|(<>|<=|>=|<|>|=)|"([^"]*)"|'((?:[^']|'')*)'|(@?[A-Za-z_][A-Za-z0-9_]*)|$)/y;
const CONTAINER = "@container";
const DEPTH_MAX = TAG_EXPRESSION_OPERATORS_MAX;

/** any := all ("OR" all)*      all := term ("AND" term)*      term := "(" any ")" | comparison */
class TagParser {
  readonly #text: string;
  readonly #invalid: Invalid;
  #at = 0;
  #token: Token;
  #operators = 0;
  #depth = 0;

  constructor(text: string, invalid: Invalid) {
    this.#text = text;
    this.#invalid = invalid;
    this.#token = this.#next();
  }

  expression(): TagExpression {
    const found = this.#any();
    this.#end();
    return found;
  }

  query(): TagQuery {
    const found: TagComparison[] = [];
    let container: string | null = null;
    do {
      const comparison = this.#comparison();
      if (comparison.operator === "<>") throw this.#invalid("<> cannot be looked up.");
      if (comparison.tag !== CONTAINER) found.push(comparison);
      else if (comparison.operator !== "=" || container !== null) {
        throw this.#invalid("@container can be given once, and with = only.");
      } else container = comparison.value;
    } while (this.#takes("AND"));
    this.#end();
    if (found.length === 0) throw this.#invalid("It must compare at least one tag.");
    return { container, comparisons: found };
  }

  #any(): TagExpression {
    return this.#chain("OR", "any", () => this.#chain("AND", "all", () => this.#term()));
  }

  #chain(word: string, kind: "any" | "all", term: () => TagExpression): TagExpression {
    const terms = [term()];
    while (this.#takes(word)) terms.push(term());
    return terms.length === 1 ? (terms[0] as TagExpression) : { kind, terms };
  }

  #term(): TagExpression {
    if (this.#is("open")) {
      if (++this.#depth > DEPTH_MAX) throw this.#invalid("Its parentheses go too deep.");
      this.#token = this.#next();
      const found = this.#any();
      if (!this.#is("close")) throw this.#unexpected("a )");
      this.#token = this.#next();
      this.#depth--;
      return found;
    }
    const found = this.#comparison();
    if (found.tag === CONTAINER) throw this.#invalid("@container can be looked up only.");
    return found;
  }

  #comparison(): TagComparison {
    const name = this.#token;
    if (name.kind !== "word" && name.kind !== "name") throw this.#unexpected("the name of a tag");
    const operator = this.#next();
    this.#token = operator;
    if (operator.kind !== "operator") throw this.#unexpected("one of = <> > >= < <=");
    const value = this.#next();
    this.#token = value;
    if (value.kind !== "value") throw this.#unexpected("a value in single quotes");
    this.#token = this.#next();
    return { kind: "compare", tag: name.text, operator: operator.operator, value: value.text };
  }

  #takes(word: string): boolean {
    if (this.#token.kind !== "word" || this.#token.text.toUpperCase() !== word) return false;
    if (++this.#operators > TAG_EXPRESSION_OPERATORS_MAX) {
      throw this.#invalid(`It has more than ${TAG_EXPRESSION_OPERATORS_MAX} logical operators.`);
    }
    this.#token = this.#next();
    return true;
  }

  #is(kind: Token["kind"]): boolean {
    return this.#token.kind === kind;
  }

  #end(): void {
    if (!this.#is("end")) throw this.#unexpected("AND or its end");
  }

  #next(): Token {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    if (found === null) {
      throw this.#invalid(`It makes no sense from character ${this.#at + 1} on.`);
    }
    this.#at += found[0].length;
    const [, bracket, operator, name, value, word] = found;
    if (bracket !== undefined) return { kind: bracket === "(" ? "open" : "close" };
    if (operator !== undefined) return { kind: "operator", operator: operator as TagOperator };
    if (name !== undefined) return { kind: "name", text: name };
    if (value !== undefined) return { kind: "value", text: value.replaceAll("''", "'") };
    return word === undefined ? { kind: "end" } : { kind: "word", text: word };
  }

  #unexpected(wanted: string): Fault {
    return this.#invalid(`It needs ${wanted} before character ${this.#at + 1}.`);
  }
}
