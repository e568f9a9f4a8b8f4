import type { Finding, SourceFile } from "./finding.ts";

const WORDS_MAX = 600;
const PARTS = ["## Context", "## Choice", "## What we gave up", "## When to revisit"];

/** A decision is one page, with these parts. Figures belong into docs/measurements. */
export function checkDecision({ path, text }: SourceFile): Finding[] {
  if (!/^docs\/decisions\/\d{4}-[\w-]+\.md$/.test(path)) return [];
  const lines = text.split("\n");
  const messages = PARTS.filter((part) => !lines.includes(part)).map(
    (part) => `a decision has a part "${part}"`,
  );
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  if (words > WORDS_MAX) messages.push(`${words} words; shorten it (${WORDS_MAX} at most)`);
  return messages.map((message) => ({ path, line: 1, rule: "decision", message }));
}
