import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { compileFailures, skipWithoutFailures } from "./fail-once.ts";
import { clientsOf, fillData, startOn } from "./stored-data.ts";

const EINVAL = "22";
/** The log is tried first, then the extents. */
const TRIAL_OF_EXTENTS = "2";

test("without direct I/O the server says so in a line, and stores large bodies", {
  skip: skipWithoutFailures() ?? false,
}, async (t) => {
  const scratch = mkdtempSync(join(tmpdir(), "lazuli-direct-"));
  t.after(() => rmSync(scratch, { recursive: true }));
  const mark = join(scratch, "failed");
  const lazuli = startOn(join(scratch, "data"), {
    LD_PRELOAD: compileFailures(scratch),
    FAIL_PATH: ".direct-io",
    FAIL_AT: TRIAL_OF_EXTENTS,
    FAIL_ERRNO: EINVAL,
    FAIL_MARK: mark,
  });
  t.after(() => lazuli.kill());
  const { large } = await fillData(lazuli);
  const { box } = await clientsOf(lazuli);
  assert.deepEqual(await box.getBlockBlobClient("large 0").downloadToBuffer(), large);
  await lazuli.kill();
  const { err } = await lazuli.ended();
  assert.ok(existsSync(mark), "the trial was made to fail");
  assert.match(err, /extents has no direct I\/O: .*page cache.*--location/);
});
