import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { checkCycles } from "./cycles.ts";
import { checkDecision } from "./decisions.ts";
import { type Finding, isCode, type Rule, type SourceFile } from "./finding.ts";
import { checkLateAwaits } from "./late-awaits.ts";
import { checkLayers } from "./layers.ts";
import {
  checkConflicts,
  checkLockFile,
  checkMacCompare,
  checkMachinePaths,
  checkSkips,
  checkSleeps,
  checkUnfinished,
} from "./lines.ts";
import { checkLinks } from "./links.ts";
import { checkBarrels, checkDeclaredNames, checkFileName } from "./names.ts";
import { checkSize } from "./sizes.ts";
import { checkState } from "./state.ts";
import { checkRefusing, checkVerdicts, checkWords } from "./words.ts";

const RULES: readonly Rule[] = [
  checkLayers,
  checkSize,
  checkFileName,
  checkDeclaredNames,
  checkBarrels,
  checkUnfinished,
  checkConflicts,
  checkSkips,
  checkSleeps,
  checkLateAwaits,
  checkMacCompare,
  checkMachinePaths,
  checkLockFile,
  checkDecision,
  checkWords,
  checkVerdicts,
  checkRefusing,
  checkState,
];

const FOLDERS = [
  ...["bin", "src", "console", "test", "bench", "examples", "tools"],
  ...["docs", "deploy", ".ci"],
];
const TEXT = /\.(tsx?|mjs|cjs|json|md|ya?ml|service|sh)$|^\.ci\/run$/;

/** Where a rule makes the code worse, a comment on the line or above it says why it is broken. */
const ALLOWED = /tidy-allow (?<rule>[a-z]+): \S.{9,}/;

/** What breaks a rule in one file. */
export function tidy(file: SourceFile): Finding[] {
  const lines = file.text.split("\n");
  const allows = (line: string | undefined, rule: string) =>
    ALLOWED.exec(line ?? "")?.groups?.rule === rule;
  return RULES.flatMap((rule) => rule(file)).filter(
    ({ line, rule }) => !allows(lines[line - 1], rule) && !allows(lines[line - 2], rule),
  );
}

/** All files of the project, relative to its root. */
function pathsOf(root: string): string[] {
  const top = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
  const below = FOLDERS.flatMap((folder) => entriesUnder(join(root, folder)));
  return [...top, ...below].map((entry) =>
    relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/"),
  );
}

function entriesUnder(folder: string) {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile());
  } catch {
    return [];
  }
}

if (import.meta.filename === process.argv[1]) {
  const root = process.cwd();
  const paths = pathsOf(root);
  const files = paths
    .filter((path) => TEXT.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const findings = [
    ...files.flatMap((file) => [...tidy(file), ...checkLinks(file, paths)]),
    ...checkCycles(files.filter(({ path }) => isCode(path))),
  ];
  for (const { path, line, rule, message } of findings) {
    console.log(`${path}:${line}: ${rule}: ${message}`);
  }
  process.exitCode = findings.length === 0 ? 0 : 1;
}
