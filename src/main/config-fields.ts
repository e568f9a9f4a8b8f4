import {
  JsonError,
  type JsonNode,
  type JsonObject,
  parseJson,
  plainValue,
  positionOf,
} from "./json-text.ts";
import { UsageError } from "./start-error.ts";

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type Values = Readonly<Record<string, unknown>>;

/** A name in an object, or an index in a list. */
type Step = string | number;

/** The text of a configuration file, which knows its own lines. */
export class ConfigText {
  readonly #file: string;
  readonly #text: string;
  readonly #parse: (text: string) => JsonNode;
  readonly #language: string;

  /** `parse` throws a `JsonError` for a text that is not in this language. */
  constructor(file: string, text: string, parse = parseJson, language = "JSON") {
    this.#file = file;
    this.#text = text;
    this.#parse = parse;
    this.#language = language;
  }

  /** Parses the text. Throws a `UsageError` that says where it is wrong, without a part of it. */
  fields(): Fields {
    try {
      return new Fields(this, "", this.#parse(this.#text));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw this.wrong(error.offset, `this is not valid ${this.#language}: ${error.message}.`);
    }
  }

  /** What is written at a place, such as all digits of a number. */
  between(start: number, end: number): string {
    return this.#text.slice(start, end);
  }

  /** An error at an offset: `lazuli.json:3:14: …`. */
  wrong(offset: number, message: string): UsageError {
    const { line, column } = positionOf(this.#text, offset);
    return new UsageError(`${this.#file}:${line}:${column}: ${message}`);
  }
}

/** The fields of one object in the file. Fields that are never read are refused as unknown. */
export class Fields {
  readonly #source: ConfigText;
  readonly #path: string;
  readonly #object: JsonObject;
  readonly #known = new Set<string>();

  constructor(source: ConfigText, path: string, node: JsonNode) {
    this.#source = source;
    this.#path = path;
    if (node.kind !== "object") {
      const what = path === "" ? "the file" : `"${path}"`;
      throw source.wrong(node.start, `${what} must be an object.`);
    }
    this.#object = node;
    this.#requireNoneTwice();
  }

  mayHave(name: string): boolean {
    this.#known.add(name);
    return this.#find(name) !== undefined;
  }

  text(name: string): string {
    const value = plainValue(this.#take(name));
    if (typeof value === "string" && value !== "") return value;
    throw this.wrong([name], "must be a text.");
  }

  texts(name: string): string[] {
    const values = this.#list(name).map(plainValue);
    if (values.every((value) => typeof value === "string")) return values as string[];
    throw this.wrong([name], "must be a list of texts.");
  }

  flag(name: string): boolean {
    const value = plainValue(this.#take(name));
    if (typeof value === "boolean") return value;
    throw this.wrong([name], "must be true or false.");
  }

  number(name: string, min: number, max: number): number {
    const value = plainValue(this.#take(name));
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) {
      return Number(value);
    }
    throw this.wrong([name], `must be a whole number from ${min} to ${max}.`);
  }

  object(name: string): Fields {
    return new Fields(this.#source, this.#at([name]), this.#take(name));
  }

  objects(name: string): Fields[] {
    return this.#list(name).map(
      (node, index) => new Fields(this.#source, this.#at([name, index]), node),
    );
  }

  all(): Values {
    return plainValue(this.#object) as Values;
  }

  /**
   * The object as JSON, with numbers as they are written: they may have more digits than a number of
   * JavaScript, and 1.0 is not 1.
   */
  json(): string {
    const members = this.#object.members.map(({ name, value }) => {
      const text = this.#numberOf(name, value) ?? JSON.stringify(plainValue(value));
      return `${JSON.stringify(name)}:${text}`;
    });
    return `{${members.join(",")}}`;
  }

  /** A number as JSON; null for another value. Throws if it would become another number. */
  #numberOf(name: string, node: JsonNode): string | null {
    if (node.kind !== "scalar" || typeof node.value !== "number") return null;
    const written = this.#source.between(node.start, node.end);
    if (JSON_NUMBER.test(written)) return written;
    const { value } = node;
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) {
      return String(value);
    }
    throw this.wrong([name], "is a number that JSON does not have: put it in quotes.");
  }

  requireNoOthers(): void {
    const other = this.#object.members.find(({ name }) => !this.#known.has(name));
    if (other === undefined) return;
    const known = [...this.#known].join(", ");
    const what = `"${this.#at([other.name])}" is not known here. There is: ${known}.`;
    throw this.#source.wrong(other.start, what);
  }

  /** Runs a check of a field. What it throws becomes an error about that field. */
  require(name: string, check: () => unknown): void {
    try {
      check();
    } catch (error) {
      throw this.problem([name], (error as Error).message);
    }
  }

  /** An error of the form `"accounts[0].name" must be a text.`; the steps lead to the field. */
  wrong(steps: readonly Step[], predicate: string): UsageError {
    return this.#errorAt(steps, ` ${predicate}`);
  }

  /** An error that a whole sentence describes. */
  problem(steps: readonly Step[], sentence: string): UsageError {
    return this.#errorAt(steps, `: ${sentence}`);
  }

  #errorAt(steps: readonly Step[], what: string): UsageError {
    // What is missing is placed where the object around it begins.
    let node: JsonNode = this.#object;
    for (const step of steps) node = partOf(node, step) ?? node;
    return this.#source.wrong(node.start, `"${this.#at(steps)}"${what}`);
  }

  #requireNoneTwice(): void {
    const seen = new Set<string>();
    for (const { name, start } of this.#object.members) {
      if (seen.has(name)) throw this.#source.wrong(start, `"${this.#at([name])}" is given twice.`);
      seen.add(name);
    }
  }

  #find(name: string): JsonNode | undefined {
    return partOf(this.#object, name);
  }

  #take(name: string): JsonNode {
    this.#known.add(name);
    const node = this.#find(name);
    if (node === undefined) throw this.wrong([name], "is missing.");
    return node;
  }

  #list(name: string): readonly JsonNode[] {
    const node = this.#take(name);
    if (node.kind === "list") return node.items;
    throw this.wrong([name], "must be a list.");
  }

  /** Formats a path: `accounts[0].name`. */
  #at(steps: readonly Step[]): string {
    return steps.reduce<string>((path, step) => {
      if (typeof step === "number") return `${path}[${step}]`;
      return path === "" ? step : `${path}.${step}`;
    }, this.#path);
  }
}

function partOf(node: JsonNode, step: Step): JsonNode | undefined {
  if (node.kind === "list") return node.items[Number(step)];
  if (node.kind === "object") return node.members.find(({ name }) => name === step)?.value;
  return undefined;
}
