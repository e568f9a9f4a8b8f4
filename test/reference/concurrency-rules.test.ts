import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const PAGE = "docs/reference/concurrency-rules.md";
const ROW = /^\| (.+) \| `(test\/[\w/-]+)` \| (.+) \|$/;

test(`every test that ${PAGE} names is there`, () => {
  const rows = readFileSync(PAGE, "utf8")
    .split("\n")
    .filter((line) => line.includes("`test/"));
  assert.ok(rows.length > 50, `it has ${rows.length} rules`);
  for (const row of rows) {
    const [, rule, file, name] = ROW.exec(row) ?? [];
    assert.ok(file !== undefined && name !== undefined, `a rule, a file and a test: ${row}`);
    assert.ok(namesIn(textOf(file)).has(name), `${rule} There is no test "${name}" in ${file}.`);
  }
});

/** Some tests are made by a module that several files share. */
function textOf(file: string): string {
  const path = `${file}.test.ts`;
  return readFileSync(existsSync(path) ? path : `${file}.ts`, "utf8");
}

/** What is filled into a name stands as … in it. */
function namesIn(text: string): ReadonlySet<string> {
  const found = text.matchAll(/\btest\(\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g);
  const names = [...found].map(([, plain, template]) => plain ?? template ?? "");
  return new Set(names.map((name) => name.replace(/\$\{[^}]*\}/g, "…")));
}
