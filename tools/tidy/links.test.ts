import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLinks } from "./links.ts";

const PATHS = ["README.md", "docs/guides/start.md", "docs/bars.svg", "src/rules/lease.ts"];

function broken(path: string, text: string): string[] {
  return checkLinks({ path, text }, PATHS).map(({ message }) => message);
}

test("a relative link leads to a file or a folder", () => {
  assert.deepEqual(broken("docs/a.md", "[a](guides/start.md#first) ![b](bars.svg)"), []);
  assert.deepEqual(broken("docs/guides/a.md", "[a](../bars.svg) [b](../guides/) [c](..)"), []);
  assert.deepEqual(broken("docs/a.md", "[a](start.md)"), ["there is no start.md"]);
  assert.deepEqual(broken("docs/a.md", "[a](../README.md) [b](../../README.md)"), [
    "there is no ../../README.md",
  ]);
});

test("links to other places and within a page are not looked at", () => {
  assert.deepEqual(broken("docs/a.md", "[a](https://example.com/x.md) [b](#part)"), []);
});

test("a document that a file names is there", () => {
  assert.deepEqual(broken("src/base/a.ts", "// see docs/guides/start.md and docs/bars.svg"), []);
  assert.deepEqual(broken("src/base/a.ts", "// see docs/guides/stop.md."), [
    "there is no docs/guides/stop.md",
  ]);
});

test("a source file that a document about the code names is there", () => {
  const path = "docs/ARCHITECTURE.md";
  assert.deepEqual(broken(path, "`lease.ts`, `rules/lease.ts`, `src/rules/lease.ts`"), []);
  assert.deepEqual(broken(path, "`<operation>.ts` and lease.js"), []);
  assert.deepEqual(broken(path, "`rules/leases.ts`"), ["there is no rules/leases.ts"]);
  assert.deepEqual(broken(path, "`ease.ts`"), ["there is no ease.ts"]);
});

test("history and guides may name other files", () => {
  for (const path of ["docs/measurements/a.md", "CHANGELOG.md", "docs/guides/a.md"]) {
    assert.deepEqual(broken(path, "`gone.ts`"), []);
  }
});
