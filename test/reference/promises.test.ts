import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const PAGE = "docs/reference/promises.md";

test(`every test and every soak mode that ${PAGE} names is there`, () => {
  const rows = readFileSync(PAGE, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| promise |"));
  assert.ok(rows.length > 0, "it has promises");
  for (const row of rows) {
    const cells = row.split("|").slice(1, -1);
    assert.equal(cells.length, 5, `promise, test, soak mode, figure, date: ${row}`);
    const [, tests = "", modes = ""] = cells;
    const files = namesIn(tests).map((file) => `${file}.test.ts`);
    const programs = namesIn(modes).map((mode) => `test/soak/${mode}.ts`);
    assert.ok(files.length + programs.length > 0, `neither a test nor a soak mode: ${row}`);
    for (const file of [...files, ...programs]) assert.ok(existsSync(file), `${file} is missing`);
  }
});

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "");
}
