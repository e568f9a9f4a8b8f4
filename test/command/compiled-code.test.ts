import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

interface Loaded {
  readonly exports: { readonly word: () => string; readonly read: () => Promise<unknown> };
  readonly isCached: boolean;
  store(): void;
}
const require = createRequire(import.meta.url);
const load: (file: string, folder: string) => Loaded = require(
  fileURLToPath(new URL("../../../bin/compiled-code.cjs", import.meta.url)),
);

const scratch = mkdtempSync(join(tmpdir(), "lazuli-code-"));
after(() => rmSync(scratch, { recursive: true }));

/** A program that says a word, in a folder of its own, with a folder for its code. */
function program(word: string): { file: string; folder: string } {
  const root = mkdtempSync(join(scratch, "program-"));
  const file = join(root, "program.cjs");
  writeProgram(file, word);
  return { file, folder: join(root, "cache", "code") };
}

function writeProgram(file: string, word: string): void {
  const lines = [
    '"use strict";',
    'const path = require("node:path");',
    `module.exports.word = () => "${word} in " + path.basename(__filename);`,
    'module.exports.read = () => import("node:fs");',
  ];
  writeFileSync(file, lines.join("\n"));
}

function storedIn(folder: string): string {
  const [name = "", ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  return join(folder, name);
}

test("a program is loaded as by require, with the code that an earlier load stored", async () => {
  const { file, folder } = program("one");
  const first = load(file, folder);
  assert.equal(first.isCached, false);
  assert.equal(first.exports.word(), "one in program.cjs");
  first.store();
  const second = load(file, folder);
  assert.equal(second.isCached, true);
  assert.equal(second.exports.word(), "one in program.cjs");
  assert.ok(await second.exports.read());
});

test("functions that were called are part of the stored code", () => {
  const { file, folder } = program("one");
  load(file, folder).store();
  const { size } = statSync(storedIn(folder));
  const { exports, store } = load(file, folder);
  exports.word();
  store();
  assert.ok(statSync(storedIn(folder)).size > size);
  const { mtimeMs } = statSync(storedIn(folder));
  load(file, folder).store();
  assert.equal(statSync(storedIn(folder)).mtimeMs, mtimeMs, "nothing more to store");
});

test("code of another source is not used, not even of one with the same length", () => {
  const { file, folder } = program("one");
  load(file, folder).store();
  writeProgram(file, "two");
  const { exports, isCached, store } = load(file, folder);
  assert.equal(isCached, false);
  assert.equal(exports.word(), "two in program.cjs");
  store();
  assert.equal(load(file, folder).isCached, true);
});

test("damaged code is not used, and replaced", () => {
  const { file, folder } = program("one");
  load(file, folder).store();
  const stored = storedIn(folder);
  const whole = readFileSync(stored);
  const flipped = Buffer.from(whole);
  flipped[whole.length - 9] = (flipped[whole.length - 9] ?? 0) ^ 1;
  for (const damaged of [flipped, whole.subarray(0, -5), whole.subarray(0, 4), Buffer.alloc(0)]) {
    writeFileSync(stored, damaged);
    const { exports, isCached, store } = load(file, folder);
    assert.equal(isCached, false);
    assert.equal(exports.word(), "one in program.cjs");
    store();
    assert.equal(load(file, folder).isCached, true);
  }
});

test("only the user can read or replace the code", {
  skip: process.platform === "win32" ? "Windows has no such modes" : false,
}, () => {
  const { file, folder } = program("one");
  load(file, folder).store();
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(storedIn(folder)).mode & 0o777, 0o600);
});

test("a folder that cannot be written is no error", () => {
  const { file } = program("one");
  const { exports, store } = load(file, join(file, "below-a-file"));
  store();
  assert.equal(exports.word(), "one in program.cjs");
});
