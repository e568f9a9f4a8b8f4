import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FLAGS, type Flag } from "./flags.ts";

const REFERENCE = new URL("../../../docs/reference/command-line.md", import.meta.url);

function usageOf({ name, value, short }: Flag): string {
  const behind = value === null ? "" : ` <${value}>`;
  return `\`--${name}${behind}\`${short === undefined ? "" : `, \`-${short}\``}`;
}

test("the reference lists exactly the existing flags, with their values and letters", () => {
  const rows = readFileSync(REFERENCE, "utf8").matchAll(/^\| (`--[^|]*?) \|/gm);
  const listed = [...rows].map((row) => row[1] ?? "");
  assert.deepEqual(listed.toSorted(), FLAGS.map(usageOf).toSorted());
});

test("no two flags share a name or a letter", () => {
  const names = FLAGS.flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]));
  assert.equal(new Set(names).size, names.length);
});
