import { type Finding, isCode, lineRule, type Rule, type SourceFile } from "./finding.ts";

/** Words that say nothing about what is in a file. */
const EMPTY_WORDS = ["common", "helper", "helpers", "index", "manager", "misc", "util", "utils"];

const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|contract|fixture))?\.[a-z]+$/;

/** Files are kebab-case and named after what they do. (Biome refuses default exports.) */
export function checkFileName({ path }: SourceFile): Finding[] {
  if (!isCode(path)) return [];
  const name = path.slice(path.lastIndexOf("/") + 1);
  const finding = (message: string) => [{ path, line: 1, rule: "name", message }];
  if (!KEBAB.test(name)) return finding("file names are kebab-case");
  const empty = name.split(/[-.]/).find((word) => EMPTY_WORDS.includes(word));
  return empty === undefined ? [] : finding(`"${empty}" does not say what the file does`);
}

export const checkDeclaredNames: Rule = lineRule({
  rule: "name",
  pattern:
    /\b(?:class|interface|type)\s+(?:I[A-Z][a-z]\w*|\w+(?:Impl|Manager|Helper|Utils?))\b(?!\s*[,}])/,
  message: "no I…, …Impl, …Manager, …Helper or …Util: name the thing",
  covers: isCode,
});

export const checkBarrels: Rule = lineRule({
  rule: "barrel",
  pattern: /^\s*export\s+(?:type\s+)?(?:\*|\{[^}]*\})\s*.*\bfrom\s*["']/,
  message: "import from where it is declared; nothing is exported twice",
  covers: isCode,
});
