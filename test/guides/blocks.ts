import { readFileSync } from "node:fs";

/**
 * A fenced block of a page. After the language, its opening line says what the test does with it:
 *
 *     sh                 runs it, in the folder where all blocks of the page run
 *     sh serves          leaves it running until the next block that serves
 *     sh serves beside   leaves it running beside that one
 *     sh fails: WORD     runs it, and expects it to fail with this word
 *     js                 runs the program
 *     json NAME, js NAME saves it as this file; nginx, yaml and text, too
 *     text, yaml, sql    ignores it
 *     text printed       expects it in the output of the server started last
 *     … not run: REASON  skips it: it is for another machine or another person
 */
export interface Block {
  /** Such as `docs/guides/copying.md:11`. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  readonly action: Action;
}

export type Action =
  | { readonly kind: "run"; readonly fails: string | null }
  | { readonly kind: "serve"; readonly isBeside: boolean }
  | { readonly kind: "save"; readonly name: string }
  | { readonly kind: "printed" }
  | { readonly kind: "look" }
  | { readonly kind: "skip"; readonly reason: string };

const FENCE = /^```(.*)\n([\s\S]*?)^```$/gm;

/** Reads all fenced blocks of a page, in order. Throws if one does not say what it is. */
export function readBlocks(page: string): Block[] {
  const text = readFileSync(page, "utf8");
  return [...text.matchAll(FENCE)].map((found) => {
    const [, opening = "", body = ""] = found;
    const at = `${page}:${text.slice(0, found.index).split("\n").length}`;
    const [language = ""] = opening.split(" ");
    const action = readAction(language, opening.slice(language.length).trim());
    if (action === null) throw new Error(`${at}: "${opening}" does not say what to do with it.`);
    return { at, language, text: body, action };
  });
}

function readAction(language: string, said: string): Action | null {
  const reason = /^not run: (.+)$/.exec(said)?.[1];
  if (reason !== undefined && language !== "") return { kind: "skip", reason };
  const [name] = /^[\w-]+\.\w+$/.exec(said) ?? [];
  switch (language) {
    case "sh":
      if (said === "serves") return { kind: "serve", isBeside: false };
      if (said === "serves beside") return { kind: "serve", isBeside: true };
      return readRun(said);
    case "js":
      return name === undefined ? readRun(said) : { kind: "save", name };
    case "json":
    case "nginx":
      return name === undefined ? null : { kind: "save", name };
    case "yaml":
      if (name !== undefined) return { kind: "save", name };
      return said === "" ? { kind: "look" } : null;
    case "sql":
      return said === "" ? { kind: "look" } : null;
    case "text":
      if (said === "printed") return { kind: "printed" };
      if (name !== undefined) return { kind: "save", name };
      return said === "" ? { kind: "look" } : null;
    default:
      return null;
  }
}

function readRun(said: string): Action | null {
  if (said === "") return { kind: "run", fails: null };
  const fails = /^fails: (\S+)$/.exec(said)?.[1];
  return fails === undefined ? null : { kind: "run", fails };
}
