import type { Finding, SourceFile } from "./finding.ts";

const AWAIT = /^ *(?:(?:const|let) [^=]*= )?await /;
const TEST = /^ *(?:test|describe)\w*\(/;

/**
 * Finds what a test file awaits after its first test, or in a loop that has tests. When all tests
 * known so far are over, the runner calls the hooks of the file: on a busy machine it closes
 * servers that the next tests are about to use.
 */
export function checkLateAwaits({ path, text }: SourceFile): Finding[] {
  if (!path.endsWith(".test.ts")) return [];
  const late: number[] = [];
  let hasTest = false;
  /** Where the loop that is being read awaits something; null outside of loops. */
  let loop: number[] | null = null;
  for (const { line, at } of topLevelLines(text)) {
    if (!line.startsWith(" ")) loop = line.startsWith("for ") ? [] : null;
    else if (loop === null) continue;
    if (AWAIT.test(line)) {
      if (hasTest) late.push(at);
      else loop?.push(at);
    }
    if (TEST.test(line)) {
      hasTest = true;
      late.push(...(loop ?? []));
      loop = loop && [];
    }
  }
  const message = "start servers before the first test of a file, or in before() of a describe";
  return late.map((line) => ({ path, line, rule: "await", message }));
}

/** The lines that are indented once at most, without those of template texts. */
function* topLevelLines(text: string): Generator<{ line: string; at: number }> {
  let isTemplate = false;
  for (const [at, line] of text.split("\n").entries()) {
    if (!isTemplate && /^(?: {2})?[a-z]/.test(line)) yield { line, at: at + 1 };
    if ((line.split("`").length - 1) % 2 === 1) isTemplate = !isTemplate;
  }
}
