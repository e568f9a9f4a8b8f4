/** What is known of a property of a table's entities. */
export interface SeenProperty {
  /** As OData names it, without `Edm.`: `String`, `Int64`. */
  readonly type: string;
  /** Some values, as a filter writes them: `'a'`, `3L`. */
  readonly values: readonly string[];
}

export interface Suggestion {
  readonly text: string;
  /** Explains the text. */
  readonly note: string;
  /** How far from the end of the text the cursor goes: between quotes, for example. */
  readonly back: number;
}

export interface Completion {
  /** Where the text begins that a suggestion replaces; it ends at the cursor. */
  readonly from: number;
  readonly suggestions: readonly Suggestion[];
}

const OPERATORS: readonly (readonly [string, string])[] = [
  ["eq", "equal"],
  ["ne", "not equal"],
  ["gt", "greater than"],
  ["ge", "greater than or equal"],
  ["lt", "less than"],
  ["le", "less than or equal"],
];

/** How a value of each type is written, with the cursor inside of quotes. */
const LITERALS: Readonly<Record<string, readonly Suggestion[]>> = {
  String: [{ text: "''", note: "String", back: 1 }],
  Boolean: [suggestion("true", "Boolean"), suggestion("false", "Boolean")],
  DateTime: [{ text: "datetime'2026-01-31T00:00:00Z'", note: "DateTime", back: 1 }],
  Guid: [{ text: "guid''", note: "Guid", back: 1 }],
  Binary: [{ text: "X''", note: "Binary, in hexadecimal", back: 1 }],
  Int32: [suggestion("0", "Int32")],
  Int64: [suggestion("0L", "Int64")],
  Double: [suggestion("0.0", "Double")],
};

const SUGGESTIONS_MAX = 12;

/** One word of a filter: a literal with quotes (maybe not closed yet), a name, or a parenthesis. */
const TOKEN = /(?:datetime|guid|binary|X)?'(?:[^']|'')*'?|[()]|[^\s()']+/gi;

type Expected = "name" | "operator" | "value" | "joint";

/** Suggests how a filter goes on at the cursor. */
export function completeFilter(
  text: string,
  cursor: number,
  properties: ReadonlyMap<string, SeenProperty>,
): Completion {
  const before = text.slice(0, cursor);
  const tokens = [...before.matchAll(TOKEN)].map(([word]) => word);
  const last = tokens.at(-1) ?? "";
  // The last token is still being written unless a space or a parenthesis ended it.
  const isOpen = last !== "" && !/[()]/.test(last) && before.endsWith(last) && !isClosed(last);
  const done = isOpen ? tokens.slice(0, -1) : tokens;
  const typed = isOpen ? last : "";
  const suggestions = suggestionsFor(done, properties)
    .filter((one) => one.text.toLowerCase().startsWith(typed.toLowerCase()))
    .filter((one) => one.text.trim() !== typed)
    .slice(0, SUGGESTIONS_MAX);
  return { from: cursor - typed.length, suggestions };
}

function isClosed(token: string): boolean {
  return token.includes("'") && (token.split("'").length - 1) % 2 === 0;
}

function suggestionsFor(
  done: readonly string[],
  properties: ReadonlyMap<string, SeenProperty>,
): readonly Suggestion[] {
  switch (expectedAfter(done)) {
    case "name":
      return [
        ...[...properties].map(([name, { type }]) => suggestion(`${name} `, type)),
        suggestion("not ", "the opposite"),
      ];
    case "operator":
      return OPERATORS.map(([word, note]) => suggestion(`${word} `, note));
    case "value": {
      const known = properties.get(done.at(-2) ?? "");
      if (known === undefined) return Object.values(LITERALS).flat();
      const seen = known.values.map((value) => suggestion(`${value} `, "seen in the table"));
      return [...seen, ...(LITERALS[known.type] ?? [])];
    }
    case "joint":
      return [suggestion("and ", "both"), suggestion("or ", "at least one")];
  }
}

function expectedAfter(tokens: readonly string[]): Expected {
  let expected: Expected = "name";
  for (const token of tokens) {
    if (token === ")") expected = "joint";
    else if (token === "(" || /^(and|or|not)$/.test(token)) expected = "name";
    else if (expected === "name") expected = "operator";
    else if (expected === "operator") expected = "value";
    else expected = "joint";
  }
  return expected;
}

function suggestion(text: string, note: string): Suggestion {
  return { text, note, back: 0 };
}

/** A value as a filter writes it. */
export function literalOf(value: unknown, type: string): string {
  switch (type) {
    case "String":
      return `'${String(value).replaceAll("'", "''")}'`;
    case "DateTime":
      return `datetime'${value}'`;
    case "Guid":
      return `guid'${value}'`;
    case "Int64":
      return `${value}L`;
    case "Double":
      return Number.isInteger(value) ? `${value}.0` : String(value);
    default:
      return String(value);
  }
}
