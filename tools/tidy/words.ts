import { type Finding, lineAt, type SourceFile } from "./finding.ts";

/**
 * Words that the vocabulary has retired, with the words that took their place. Each of them once had
 * several meanings here, or means something else elsewhere.
 */
const RETIRED: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bonlookers?\b/gi, "tap"],
  [/\b(?:loans?|lend(?:s|er|ers|ing)?|lent)\b/gi, "borrowed buffer, owner, borrow, release"],
  [/\bstretch(?:es)?\b/gi, "derived range (of keys) or run (of bytes)"],
  [/\boverlays?\b/gi, "memtable"],
  [/\bspell(?:s|ed|ing|ings)?\b/gi, "format, render, write, written as"],
  [/\b[Hh]and ?[Cc]locks?\b/g, "manual clock"],
  [/\bPASSING_/g, "EPHEMERAL_"],
];

/** Below the services these words have another meaning, or a better name. */
const RETIRED_BELOW: typeof RETIRED = [
  [/\b(?:un)?settling\b/gi, "checkpoint"],
  [/\btails?\b/gi, "append in place, appended"],
  [/\bdying\b/gi, "dead bytes, to be reclaimed"],
];

const BELOW = /^src\/(?:store|content|engine)\//;

/** The rule itself, and its tests, have to name them. */
const EXEMPT = /^tools\/tidy\//;

const COVERED = /^(?:src|test|bench|tools|examples)\/.*\.ts$|^(?:docs\/.*|[A-Z]+)\.md$/;

export function checkWords(file: SourceFile): Finding[] {
  if (!COVERED.test(file.path) || EXEMPT.test(file.path)) return [];
  const retired = BELOW.test(file.path) ? [...RETIRED, ...RETIRED_BELOW] : RETIRED;
  return retired.flatMap(([word, instead]) =>
    [...file.text.matchAll(word)].map((match) => ({
      path: file.path,
      line: lineAt(file.text, match.index),
      rule: "word",
      message: `"${match[0]}" is a retired word: say ${instead}`,
    })),
  );
}

/** `judgeX(…)` as a statement of its own: the verdict is not looked at. */
const UNUSED_VERDICT = /(?<=(?:^|[;{}])\s*)judge[A-Z]\w*\(/g;

/** A verdict that nobody uses refuses nothing: `refuse(judgeX(…))` throws it. */
export function checkVerdicts(file: SourceFile): Finding[] {
  if (!/^src\/.*\.ts$/.test(file.path)) return [];
  return [...file.text.matchAll(UNUSED_VERDICT)].map((match) => ({
    path: file.path,
    line: lineAt(file.text, match.index),
    rule: "verdict",
    message: "a verdict that nobody uses: wrap it in refuse(…)",
  }));
}

const REFUSING = /\bfunction refuse[A-Z]\w*/g;

/** `refuse` alone throws a verdict. One verb has one meaning, so no other function is called so. */
export function checkRefusing(file: SourceFile): Finding[] {
  if (!/^src\/.*\.ts$/.test(file.path)) return [];
  return [...file.text.matchAll(REFUSING)].map((match) => ({
    path: file.path,
    line: lineAt(file.text, match.index),
    rule: "verb",
    message: "judgeX returns a verdict, requireX throws: use one of these names",
  }));
}
