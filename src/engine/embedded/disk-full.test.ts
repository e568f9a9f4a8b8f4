import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { isDiskFull } from "./disk-full.ts";

function lmdbError(code: number): Error {
  return Object.assign(new Error("a commit failed"), { code });
}

test("missing space or quota means a full disk; an I/O error with free space does not", async () => {
  const answers = [28, 122, 5, 30, -30_782].map((code) => isDiskFull(lmdbError(code), tmpdir()));
  assert.deepEqual(await Promise.all(answers), [true, true, false, false, false]);
  assert.equal(await isDiskFull(new Error("no code"), tmpdir()), false);
});
