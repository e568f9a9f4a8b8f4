import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb, type TestSmbOptions } from "./server.ts";
import { TORTURE } from "./torture-list.ts";
import { SKIPS_ON_FETCHING_ENGINES, TORTURE_SKIPS } from "./torture-skips.ts";

/** Far more than a suite needs on a busy machine: it ends one that hangs. */
const SUITE_MS_MAX = 30 * 60_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
const skip = skipWithoutDebianProgram("smbtorture", "samba-testsuite") ?? false;

/** Memory that has all records at hand, or what `LAZULI_TEST_ENGINE` names. */
const OPTIONS: TestSmbOptions =
  process.env.LAZULI_TEST_ENGINE === undefined ? { engine: "plain memory" } : {};
const FETCHES = process.env.LAZULI_TEST_ENGINE === "postgres";

function reasonFor(suite: string, name: string): string | undefined {
  const onFetching = FETCHES ? SKIPS_ON_FETCHING_ENGINES[name] : undefined;
  return onFetching ?? TORTURE_SKIPS[name] ?? TORTURE_SKIPS[suite];
}

/** The names of the tests that passed, without `smb2.`. */
function torture(port: number, suite: string): Promise<{ passed: Set<string>; text: string }> {
  const target = ["//127.0.0.1/box", "-p", String(port), "-U", `${ACCOUNT}%${KEY}`];
  const args = [...target, "--fullname", `smb2.${suite}`];
  const options = { timeout: SUITE_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX };
  return new Promise((resolve) => {
    execFile("smbtorture", args, options, (_error, stdout, stderr) => {
      const found = stdout.matchAll(/^success: smb2\.(.+)$/gm);
      const passed = new Set([...found].map(([, name]) => name as string));
      resolve({ passed, text: `${stdout}${stderr}` });
    });
  });
}

// Suites mostly wait for oplocks and notices to time out, each on its own server.
describe("smbtorture", { skip, concurrency: 4 }, () => {
  for (const [suite, names] of Object.entries(TORTURE)) {
    const all = names.map((name) => (name === "" ? suite : `${suite}.${name}`));
    const expected = all.filter((name) => reasonFor(suite, name) === undefined);
    if (expected.length === 0) continue;
    test(`${suite}: ${expected.length} of the ${all.length} that must pass`, async () => {
      const smb = await startSmb(OPTIONS);
      // A suite with few expected tests is not run as a whole: the others may wait for ever.
      const runs = expected.length < all.length / 2 ? expected : [suite];
      const passed = new Set<string>();
      let text = "";
      for (const run of runs) {
        const done = await torture(smb.port, run);
        for (const name of done.passed) passed.add(name);
        text += done.text;
      }
      await smb.close();
      const missing = expected.filter((name) => !passed.has(name));
      assert.deepEqual(missing, [], text.slice(-4_000));
      assert.deepEqual(smb.failures, []);
    });
  }
});

test("every skip names an existing test, and a reason", () => {
  const all = Object.entries(TORTURE).flatMap(([suite, names]) => [
    suite,
    ...names.map((name) => `${suite}.${name}`),
  ]);
  for (const [name, reason] of Object.entries({ ...TORTURE_SKIPS, ...SKIPS_ON_FETCHING_ENGINES })) {
    assert.ok(all.includes(name), name);
    assert.ok(reason.length > 10, name);
  }
});
