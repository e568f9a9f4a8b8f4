import { type Finding, lineAt, type SourceFile } from "./finding.ts";

interface Retired {
  readonly word: RegExp;
  readonly instead: string;
}

/** Finds words in sentences and as parts of names: `lender`, `lenderOf`, `isLender`, `LENDER`. */
function retired(words: string, instead: string): Retired {
  const capital = words.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  const forms = [
    `(?<![A-Za-z])(?:${words})(?![a-z])`,
    `(?:${capital})(?![a-z])`,
    `(?<![A-Za-z])(?:${words.toUpperCase()})(?![A-Za-z])`,
  ];
  return { word: new RegExp(forms.join("|"), "g"), instead };
}

/**
 * Words that the vocabulary has retired, with the words that took their place. Each of them once had
 * several meanings here, or means something else elsewhere.
 */
const RETIRED: readonly Retired[] = [
  retired("onlooker|onlookers", "tap"),
  retired(
    "loan|loans|lend|lends|lender|lenders|lending|lent",
    "borrowed buffer, owner, borrow, release",
  ),
  retired("stretch|stretches", "derived range (of keys) or run (of bytes)"),
  retired("overlay|overlays", "memtable"),
  retired("spell|spells|spelled|spelling|spellings", "format, render, write, written as"),
  retired("hand ?clock|hand ?clocks|handClock|handClocks", "manual clock"),
  { word: /\bPASSING_/g, instead: "EPHEMERAL_" },
  {
    word: /[#.]turns?\b|\b(?:const|let|readonly) turns?\b|[a-z]Turns?\b|\bturn[A-Z]|\bTURNS?_/g,
    instead: "slice, round, iteration",
  },
  {
    word: /\bturns? of the event loop\b|\btakes? turns\b/gi,
    instead: "iteration, slice, alternate",
  },
  {
    word: /\b(?:const|let|readonly) kept\b|\bkept[A-Z]|[a-z]Kept\b|_KEPT\b/g,
    instead: "retained, cached, reused, unchanged",
  },
  { word: /[a-z]Bench\b/g, instead: "fixture: a bench measures" },
];

/** Below the services these words have another meaning, or a better name. */
const RETIRED_BELOW: readonly Retired[] = [
  retired("settling|unsettling|unsettled", "checkpoint"),
  retired("tail|tails", "append in place, appended"),
  retired("dying", "dead bytes, to be reclaimed"),
];

const BELOW = /^src\/(?:store|content|engine)\//;

/** The rule itself, and its tests, have to name them. */
const EXEMPT = /^tools\/tidy\//;

const COVERED = /^(?:src|test|bench|tools|examples)\/.*\.ts$|^(?:docs\/.*|[A-Z]+)\.md$/;

export function checkWords(file: SourceFile): Finding[] {
  if (!COVERED.test(file.path) || EXEMPT.test(file.path)) return [];
  const words = BELOW.test(file.path) ? [...RETIRED, ...RETIRED_BELOW] : RETIRED;
  return words.flatMap(({ word, instead }) =>
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
