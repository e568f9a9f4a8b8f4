import { posix } from "node:path";
import { type Finding, lineAt, type SourceFile } from "./finding.ts";

/** `[text](target)`; addresses elsewhere and links within a page are left out. */
const LINK = /\]\((?!\w+:|#)(?<target>[^)#\s]+)(?:#[^)\s]*)?\)/g;

/** A document or picture that code, a test or another document names. */
const DOCUMENT = /(?<![\w/.-])docs\/[\w./-]+\.(?:md|svg)\b/g;

/** A source file in code marks, with some of its path or none: `lease.ts`, `rules/lease.ts`. */
const SOURCE = /`(?<name>[\w.-][\w./-]*\.(?:ts|mjs|cjs))`/g;

/** Documents about the code. Others name files of users, of other projects, or of an earlier day. */
const ABOUT_CODE = /^CONTRIBUTING\.md$|^docs\/ARCHITECTURE\.md$|^docs\/decisions\//;

/** The rule itself, and its tests, name files that are not there. */
const EXEMPT = /^tools\/tidy\//;

/** Links and mentions of files lead somewhere. `paths` are all files of the project. */
export function checkLinks(file: SourceFile, paths: readonly string[]): Finding[] {
  if (EXEMPT.test(file.path)) return [];
  const files = new Set(paths);
  const broken = mentionsOf(file, DOCUMENT).filter(({ name }) => !files.has(name));
  if (file.path.endsWith(".md")) {
    const folders = new Set(paths.flatMap(foldersOf));
    const folder = posix.dirname(file.path);
    broken.push(
      ...mentionsOf(file, LINK).filter(({ name }) => {
        const target = posix.join(folder, name).replace(/\/$/, "");
        return !files.has(target) && !folders.has(target);
      }),
    );
    if (ABOUT_CODE.test(file.path)) {
      broken.push(...mentionsOf(file, SOURCE).filter(({ name }) => !isEndOfAny(name, paths)));
    }
  }
  return broken.map(({ name, line }) => ({
    path: file.path,
    line,
    rule: "link",
    message: `there is no ${name}`,
  }));
}

interface Mention {
  readonly name: string;
  readonly line: number;
}

function mentionsOf({ text }: SourceFile, pattern: RegExp): Mention[] {
  return [...text.matchAll(pattern)].map((match) => ({
    name: match.groups?.target ?? match.groups?.name ?? match[0],
    line: lineAt(text, match.index),
  }));
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

function isEndOfAny(name: string, paths: readonly string[]): boolean {
  return paths.some((path) => path === name || path.endsWith(`/${name}`));
}
