import { JsonError, type JsonMember, type JsonNode } from "../json-text.ts";
import { StartError } from "../start-error.ts";

/** The part of the package `yaml` that we use. */
interface Yaml {
  parseDocument(text: string, options: object): YamlDocument;
  isMap(node: YamlNode): node is YamlNode & { readonly items: readonly YamlPair[] };
  isSeq(node: YamlNode): node is YamlNode & { readonly items: readonly (YamlNode | null)[] };
  isScalar(node: YamlNode): node is YamlNode & { readonly value: unknown };
}

interface YamlDocument {
  readonly contents: YamlNode | null;
  readonly errors: readonly { readonly message: string; readonly pos: readonly [number, number] }[];
}

interface YamlNode {
  readonly range?: readonly [start: number, valueEnd: number, nodeEnd: number];
}

interface YamlPair {
  readonly key: YamlNode;
  readonly value: YamlNode | null;
}

/** As for JSON. */
const DEPTH_MAX = 64;

/** Not a literal, so that the bundle and the compiler do not need an optional package. */
const PACKAGE: string = "yaml";

/** A parser of YAML whose nodes are those of JSON. Throws a `StartError` without the package. */
export async function loadYaml(): Promise<(text: string) => JsonNode> {
  const yaml = await loadPackage();
  return (text) => {
    const options = { schema: "core", uniqueKeys: false, merge: false, logLevel: "silent" };
    const { contents, errors } = yaml.parseDocument(text, options);
    const [error] = errors;
    // What follows in the message repeats the text.
    if (error !== undefined) throw new JsonError(firstWords(error.message), error.pos[0]);
    return new Converter(yaml).node(contents, 0, 0);
  };
}

async function loadPackage(): Promise<Yaml> {
  try {
    return await import(PACKAGE);
  } catch {
    throw new StartError(
      "The package yaml is not installed: run `npm install yaml`, or write the seed as JSON.",
    );
  }
}

function firstWords(message: string): string {
  return message.split(" at line ")[0] ?? message;
}

/** Converts nodes. Aliases are refused: with them a short text can become a huge document. */
class Converter {
  readonly #yaml: Yaml;

  constructor(yaml: Yaml) {
    this.#yaml = yaml;
  }

  node(node: YamlNode | null, at: number, depth: number): JsonNode {
    const [start, end] = node?.range ?? [at, at];
    if (depth > DEPTH_MAX) throw new JsonError("it is nested too deeply", start);
    if (node === null) return { kind: "scalar", value: null, start, end };
    if (this.#yaml.isMap(node)) {
      const members = node.items.map((pair) => this.#member(pair, start, depth));
      return { kind: "object", members, start, end };
    }
    if (this.#yaml.isSeq(node)) {
      const items = node.items.map((item) => this.node(item, start, depth + 1));
      return { kind: "list", items, start, end };
    }
    if (!this.#yaml.isScalar(node)) throw new JsonError("aliases are not possible here", start);
    return { kind: "scalar", value: scalarOf(node.value, start), start, end };
  }

  #member({ key, value }: YamlPair, at: number, depth: number): JsonMember {
    const start = key.range?.[0] ?? at;
    if (!this.#yaml.isScalar(key)) throw new JsonError("a name must be a text", start);
    return { name: String(key.value), start, value: this.node(value, start, depth + 1) };
  }
}

function scalarOf(value: unknown, start: number): string | number | boolean | null {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
      return value;
    default:
      if (value === null) return null;
      throw new JsonError("a value of this kind is not possible here", start);
  }
}
