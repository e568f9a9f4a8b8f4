import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileFailures, skipWithoutFailures, startAfterFailure } from "./fail-once.ts";

const EIO = 5;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(scratch, { recursive: true }));

test("a first start that fails while it creates the database does not block the next", {
  skip: skipWithoutFailures() ?? false,
}, async () => {
  const library = compileFailures(scratch);
  let failures = 0;
  for (let at = 1; at < 40; at++) {
    const location = join(scratch, `${at}`);
    const failure = { path: ".mdb", at, errno: EIO };
    const { hasFailed, isServed, log } = await startAfterFailure(library, location, failure);
    assert.ok(isServed, `call ${at}: ${log}`);
    if (!hasFailed) break;
    failures++;
  }
  assert.ok(failures >= 4, `only ${failures} calls failed`);
});
