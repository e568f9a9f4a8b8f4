import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { ENTITY_PROPERTIES_MAX } from "../../../base/limits.ts";

/**
 * A JSON object without anything nested in it. `JSON.parse` would not do: it takes a name twice,
 * and it cannot tell 1.0, a Double, from 1, an Int32.
 */
export type FlatObject = ReadonlyMap<string, JsonValue>;

export type JsonValue =
  | { readonly kind: "text" | "number"; readonly text: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" };

/** Each property may come with an annotation, and a client may send back what it was sent. */
const MEMBERS_MAX = 2 * ENTITY_PROPERTIES_MAX + 20;

export function readFlatObject(bytes: Bytes): FlatObject {
  if (!isUtf8(bytes)) throw invalid("The body is not UTF-8.");
  const reader = new FlatReader(bytes.toString("utf8"));
  return reader.object();
}

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

class FlatReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  object(): FlatObject {
    const members = new Map<string, JsonValue>();
    this.#expect("{");
    if (!this.#take("}")) {
      do {
        const name = this.#string();
        if (members.has(name)) throw new Fault("DuplicatePropertiesSpecified");
        if (members.size >= MEMBERS_MAX) throw new Fault("TooManyProperties");
        this.#expect(":");
        members.set(name, this.#value());
      } while (this.#take(","));
      this.#expect("}");
    }
    this.#match(BLANKS);
    if (this.#at < this.#text.length) throw invalid("Something follows the JSON object.");
    return members;
  }

  #value(): JsonValue {
    this.#match(BLANKS);
    if (this.#text[this.#at] === '"') return { kind: "text", text: this.#string() };
    const number = this.#match(NUMBER);
    if (number !== "") return { kind: "number", text: number };
    const word = this.#match(WORD);
    if (word === "null") return { kind: "null" };
    if (word !== "") return { kind: "boolean", value: word === "true" };
    throw invalid("A value must be a text, a number, true, false or null.");
  }

  #string(): string {
    this.#match(BLANKS);
    const start = this.#at;
    if (this.#text[start] !== '"') throw invalid("A text in quotes is missing.");
    const end = this.#endOfString(start);
    this.#at = end;
    try {
      return JSON.parse(this.#text.slice(start, end));
    } catch {
      throw invalid("A text is not valid JSON.");
    }
  }

  #endOfString(start: number): number {
    let at = start + 1;
    for (;;) {
      const quote = this.#text.indexOf('"', at);
      if (quote < 0) throw invalid("A text has no end.");
      const slash = this.#text.indexOf("\\", at);
      if (slash < 0 || slash > quote) return quote + 1;
      at = slash + 2;
    }
  }

  #expect(mark: string): void {
    if (!this.#take(mark)) throw invalid(`There is no ${mark} where one must stand.`);
  }

  #take(mark: string): boolean {
    this.#match(BLANKS);
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

function invalid(reason: string): Fault {
  return new Fault("InvalidInput", { Reason: reason });
}
