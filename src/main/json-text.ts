/** A value of a JSON text, with the offsets of its first character and of the one behind it. */
export type JsonNode = JsonObject | JsonList | JsonScalar;

interface Placed {
  readonly start: number;
  readonly end: number;
}

export interface JsonObject extends Placed {
  readonly kind: "object";
  readonly members: readonly JsonMember[];
}

export interface JsonMember {
  readonly name: string;
  /** Where its name begins. */
  readonly start: number;
  readonly value: JsonNode;
}

export interface JsonList extends Placed {
  readonly kind: "list";
  readonly items: readonly JsonNode[];
}

export interface JsonScalar extends Placed {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}

/** A text that is not JSON. The message repeats nothing of the text, which may hold keys. */
export class JsonError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Parses exactly what `JSON.parse` does, down to this depth, and keeps the positions. */
export const JSON_DEPTH_MAX = 64;

export function parseJson(text: string): JsonNode {
  const parser = new Parser(text);
  return parser.whole();
}

/** The plain value, as `JSON.parse` returns it. */
export function plainValue(node: JsonNode): unknown {
  switch (node.kind) {
    case "object":
      return Object.fromEntries(node.members.map(({ name, value }) => [name, plainValue(value)]));
    case "list":
      return node.items.map(plainValue);
    case "scalar":
      return node.value;
  }
}

/** The line and column of an offset, both from 1 on. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

class Parser {
  readonly #text: string;
  // Sticky expressions keep their place, so each parser has its own.
  readonly #blanks = /[ \t\n\r]*/y;
  /** A string, a number or a word. `JSON.parse` checks what is inside of it. */
  readonly #scalars = /"(?:[^"\\]|\\[\s\S])*"|[-+.\w]+/y;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): JsonNode {
    const node = this.#value(0);
    if (this.#peek() !== "") throw this.#wrong("there is something behind the end");
    return node;
  }

  #value(depth: number): JsonNode {
    const next = this.#peek();
    if (depth > JSON_DEPTH_MAX) throw this.#wrong("it is nested too deeply");
    if (next === "{") return this.#object(depth);
    if (next === "[") return this.#list(depth);
    const start = this.#at;
    const value = this.#scalar("a value");
    return { kind: "scalar", value, start, end: this.#at };
  }

  #object(depth: number): JsonObject {
    const start = this.#at;
    const members: JsonMember[] = [];
    this.#each("}", () => {
      if (this.#peek() !== '"') throw this.#wrong("a name in quotes is missing");
      const member = { start: this.#at, name: String(this.#scalar("a name")) };
      if (this.#peek() !== ":") throw this.#wrong('":" is missing');
      this.#at++;
      members.push({ ...member, value: this.#value(depth + 1) });
    });
    return { kind: "object", members, start, end: this.#at };
  }

  #list(depth: number): JsonList {
    const start = this.#at;
    const items: JsonNode[] = [];
    this.#each("]", () => void items.push(this.#value(depth + 1)));
    return { kind: "list", items, start, end: this.#at };
  }

  /** Reads what stands between an opening bracket and its closing one, separated by commas. */
  #each(closing: "}" | "]", read: () => void): void {
    this.#at++;
    if (this.#peek() !== closing) {
      read();
      while (this.#peek() === ",") {
        this.#at++;
        read();
      }
    }
    if (this.#peek() !== closing) throw this.#wrong(`"," or "${closing}" is missing`);
    this.#at++;
  }

  #scalar(what: string): JsonScalar["value"] {
    this.#scalars.lastIndex = this.#at;
    const [token] = this.#scalars.exec(this.#text) ?? [];
    if (token === undefined) {
      throw this.#wrong(
        this.#text[this.#at] === '"' ? "a quote is not closed" : `${what} is missing`,
      );
    }
    try {
      const value = JSON.parse(token);
      this.#at += token.length;
      return value;
    } catch {
      throw this.#wrong(token.startsWith('"') ? "a text is malformed" : `${what} is malformed`);
    }
  }

  /** Skips blanks. Returns the next character, "" at the end. */
  #peek(): string {
    this.#blanks.lastIndex = this.#at;
    this.#blanks.test(this.#text);
    this.#at = this.#blanks.lastIndex;
    return this.#text[this.#at] ?? "";
  }

  #wrong(message: string): JsonError {
    return new JsonError(message, this.#at);
  }
}
