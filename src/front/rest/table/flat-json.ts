import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../../base/bytes.ts";
import { atOnce, PIECE_BYTES, type Steps } from "../../../base/fair-queue.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { ENTITY_PROPERTIES_MAX, PROPERTY_BYTES_MAX } from "../../../base/limits.ts";
import { textInSteps } from "../../../base/utf8-text.ts";

/**
 * A JSON object without nesting. `JSON.parse` does not suffice: it accepts a name twice, and cannot
 * tell 1.0, a Double, from 1, an Int32.
 */
export type FlatObject = ReadonlyMap<string, JsonValue>;

export type JsonValue =
  | { readonly kind: "text" | "number"; readonly text: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "null" };

/**
 * Each property may have an annotation, and a client may send back the annotations of an answer.
 */
const MEMBERS_MAX = 2 * ENTITY_PROPERTIES_MAX + 20;

/** Longest text in JSON: the longest value of a property, with every unit escaped. */
const TEXT_CHARS_MAX = 6 * PROPERTY_BYTES_MAX;
/** Longest number: far more digits than clients write. */
const WORD_CHARS_MAX = 1_024;

export function readFlatObject(bytes: Bytes): FlatObject {
  return atOnce(readFlatObjectInSteps(bytes));
}

/** Reads a flat object in slices, so that other requests can run between them. */
export function* readFlatObjectInSteps(bytes: Bytes): Steps<FlatObject> {
  if (!isUtf8(bytes)) throw invalid("The body is not UTF-8.");
  const reader = new FlatReader(yield* textInSteps(bytes));
  return yield* reader.object();
}

const SURROGATE = /\p{Surrogate}/u;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const [TAB, LF, CR, SPACE, QUOTE, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x5c] as const;
const [COMMA, COLON, OPEN, CLOSE] = [0x2c, 0x3a, 0x7b, 0x7d] as const;

class FlatReader {
  readonly #text: string;
  #at = 0;
  /** Where the next slice begins. */
  #pauseAt = PIECE_BYTES;

  constructor(text: string) {
    this.#text = text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  *object(): Steps<FlatObject> {
    const members = new Map<string, JsonValue>();
    this.#expect(OPEN);
    if (!this.#take(CLOSE)) {
      do {
        const name = this.#string("PropertyNameTooLong");
        if (members.has(name)) throw new Fault("DuplicatePropertiesSpecified");
        if (members.size >= MEMBERS_MAX) throw new Fault("TooManyProperties");
        this.#expect(COLON);
        members.set(name, this.#value());
        if (this.#at >= this.#pauseAt) {
          this.#pauseAt = this.#at + PIECE_BYTES;
          yield;
        }
      } while (this.#take(COMMA));
      this.#expect(CLOSE);
    }
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw invalid("Something follows the JSON object.");
    return members;
  }

  #value(): JsonValue {
    this.#skipBlanks();
    if (this.#text.charCodeAt(this.#at) === QUOTE) {
      return { kind: "text", text: this.#string("PropertyValueTooLarge") };
    }
    const word = this.#word();
    switch (word) {
      case "true":
        return { kind: "boolean", value: true };
      case "false":
        return { kind: "boolean", value: false };
      case "null":
        return { kind: "null" };
      default:
        if (NUMBER.test(word)) return { kind: "number", text: word };
        throw invalid("A value must be a text, a number, true, false or null.");
    }
  }

  /** Reads up to the next blank, comma or bracket. */
  #word(): string {
    const start = this.#at;
    let at = start;
    for (let char = this.#text.charCodeAt(at); !endsWord(char); ) {
      char = this.#text.charCodeAt(++at);
      if (at - start > WORD_CHARS_MAX) throw invalid("A value is too long.");
    }
    this.#at = at;
    return this.#text.slice(start, at);
  }

  #string(tooLong: FaultCode): string {
    this.#skipBlanks();
    const start = this.#at;
    if (this.#text.charCodeAt(start) !== QUOTE) throw invalid("A text in quotes is missing.");
    let at = start + 1;
    let isPlain = true;
    for (let char = this.#charAt(at); char !== QUOTE; char = this.#charAt(++at)) {
      if (char === BACKSLASH) at++;
      if (char === BACKSLASH || char < SPACE) isPlain = false;
      if (at - start > TEXT_CHARS_MAX) throw new Fault(tooLong);
    }
    this.#at = at + 1;
    if (isPlain) return this.#text.slice(start + 1, at);
    const text = this.#unescaped(start);
    // Escapes may contain half a surrogate pair, which UTF-8 cannot encode.
    if (SURROGATE.test(text)) throw invalid("A text is not Unicode: it has half a surrogate pair.");
    return text;
  }

  #unescaped(start: number): string {
    try {
      return JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      throw invalid("A text is not valid JSON.");
    }
  }

  #charAt(at: number): number {
    if (at >= this.#text.length) throw invalid("A text has no end.");
    return this.#text.charCodeAt(at);
  }

  #skipBlanks(): void {
    for (;;) {
      const char = this.#text.charCodeAt(this.#at);
      if (char !== SPACE && char !== TAB && char !== LF && char !== CR) return;
      this.#at++;
    }
  }

  #expect(mark: number): void {
    if (this.#take(mark)) return;
    throw invalid(`There is no ${String.fromCharCode(mark)} where one must stand.`);
  }

  #take(mark: number): boolean {
    this.#skipBlanks();
    if (this.#text.charCodeAt(this.#at) !== mark) return false;
    this.#at++;
    return true;
  }
}

/** After the end of a text, characters are NaN. */
function endsWord(char: number): boolean {
  return char === COMMA || char === CLOSE || char <= SPACE || Number.isNaN(char);
}

function invalid(reason: string): Fault {
  return new Fault("InvalidInput", { Reason: reason });
}
