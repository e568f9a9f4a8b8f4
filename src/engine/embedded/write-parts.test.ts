import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { behind, writeParts } from "./write-parts.ts";

const PARTS = ["abc", "d", "efgh"].map((text) => Buffer.from(text));

for (const [bytes, left] of [
  [0, ["abc", "d", "efgh"]],
  [1, ["bc", "d", "efgh"]],
  [3, ["d", "efgh"]],
  [4, ["efgh"]],
  [7, ["h"]],
  [8, []],
] as const) {
  test(`after ${bytes} of 8 bytes are written, the others are left`, () => {
    assert.deepEqual(behind(PARTS, bytes).map(String), left);
  });
}

test("parts are written one behind the other", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-write-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = await open(join(folder, "file"), "w+");
  await writeParts(file.fd, PARTS, 3);
  const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
  await file.close();
  assert.equal(buffer.toString("latin1"), "\0\0\0abcdefgh".padEnd(20, "\0"));
});

test("a write error is reported", async () => {
  await assert.rejects(writeParts(1_000_000, PARTS, 0), { code: "EBADF" });
});

test("a disk that takes nothing without an error is not retried for ever", async (t) => {
  const nothing = (...called: unknown[]) =>
    (called.at(-1) as (error: null, bytes: number) => void)(null, 0);
  t.mock.method(fs, "writev", nothing);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  await assert.rejects(writeParts(0, PARTS, 0), /takes nothing/);
});
