import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCycles } from "./cycles.ts";

/** Files of `src/base`, each with its imports. */
function findingsIn(files: Readonly<Record<string, readonly string[]>>): string[] {
  const sources = Object.entries(files).map(([name, lines]) => ({
    path: `src/base/${name}`,
    text: lines.join("\n"),
  }));
  return checkCycles(sources).map(({ path, line, rule }) => `${path}:${line} ${rule}`);
}

test("files that import each other are refused, also for types and through others", () => {
  const toA = 'import type { A } from "./a.ts";';
  const toB = 'import { b } from "./b.ts";';
  const toC = 'const c = await import("../base/c.ts");';
  assert.deepEqual(findingsIn({ "a.ts": ["", toB], "b.ts": [toA] }), ["src/base/a.ts:2 cycle"]);
  assert.deepEqual(findingsIn({ "a.ts": [toB], "b.ts": [toC], "c.ts": [toA] }), [
    "src/base/a.ts:1 cycle",
  ]);
  assert.deepEqual(findingsIn({ "a.ts": [toA] }), ["src/base/a.ts:1 cycle"]);
});

test("a cycle is found behind files that are not part of it", () => {
  const toB = 'import { b } from "./b.ts";';
  const toC = 'import { c } from "./c.ts";';
  const toD = 'import { d } from "./d.ts";';
  const files = { "a.ts": [toB, toC], "b.ts": [], "c.ts": [toB, toD], "d.ts": ["", "", toC] };
  assert.deepEqual(findingsIn(files), ["src/base/c.ts:2 cycle"]);
});

test("every cycle is named, also if one file leads to several", () => {
  const toA = 'import { a } from "./a.ts";';
  const toB = 'import { b } from "./b.ts";';
  const toC = 'import { c } from "./c.ts";';
  const toD = 'import { d } from "./d.ts";';
  const files = { "x.ts": [toA, toC], "a.ts": [toB], "b.ts": [toA], "c.ts": [toD], "d.ts": [toC] };
  assert.deepEqual(findingsIn(files), ["src/base/a.ts:1 cycle", "src/base/c.ts:1 cycle"]);
});

test("two files may import a third, and a file may import what is not there", () => {
  const toC = 'import { c } from "./c.ts";';
  const files = { "a.ts": ['import { b } from "./b.ts";', toC], "b.ts": [toC], "c.ts": [] };
  assert.deepEqual(findingsIn(files), []);
  assert.deepEqual(findingsIn({ "a.ts": ['import "./data.json";', 'import "node:fs";'] }), []);
});
