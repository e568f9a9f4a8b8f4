import { type Finding, isCode, type SourceFile } from "./finding.ts";

const LINES_MAX = 500;

/** Tables and codecs: long, but with nothing to understand between their lines. */
const LONG_TABLES = ["src/front/rest/fault-status.ts", "src/main/flags.ts"];

export function checkSize({ path, text }: SourceFile): Finding[] {
  if (!isCode(path) || LONG_TABLES.includes(path)) return [];
  const lines = text.split("\n").length - 1;
  if (lines <= LINES_MAX) return [];
  const message = `${lines} lines; split it (${LINES_MAX} at most)`;
  return [{ path, line: LINES_MAX + 1, rule: "size", message }];
}
