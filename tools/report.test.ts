import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const FAST_CHECK = pathToFileURL(resolve("node_modules/fast-check/lib/fast-check.js"));

const FAILING = `
import { test } from "node:test";
import fc from "${FAST_CHECK}";

test("a property fails", () => {
  const bottom = new TypeError("the disk said no");
  const middle = Object.assign(new Error("cannot sync"), { cause: bottom });
  const fail = () => { throw new Error("a commit failed", { cause: middle }); };
  fc.assert(fc.property(fc.nat(), fail), { seed: 1, endOnFailure: true });
});

test("several things fail at once", () => {
  throw new AggregateError([new Error("one", { cause: "a text" }), new Error("other")], "both");
});
`;

test("the report of a failed test has the whole chain of causes, each with its stack once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-report-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "failing.test.mjs");
  await writeFile(file, FAILING);
  const reporter = `--test-reporter=${resolve("tools/report.mjs")}`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ["--test", reporter, "--test-reporter-destination=stdout", file];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  assert.match(
    stdout,
    /failed: \S+: a property fails\nfailed: \S+: several things fail at once\n0 passed, 2 failed/,
  );
  const stacks = [
    ["Error: Property failed after 1 tests", "Error: a commit failed"],
    ["Error: cannot sync", "TypeError: the disk said no"],
    ["AggregateError: both", "Error: one", "'a text'", "Error: other"],
  ].flat();
  let from = 0;
  for (const stack of stacks) {
    const at = stdout.indexOf(stack, from);
    assert.ok(at >= from, `${stack} is not told, or too early: ${stdout}`);
    assert.equal(stdout.indexOf(stack, at + 1), -1, `${stack} is told twice`);
    from = at;
  }
});
