// Random concurrent histories and damaged SMB frames with new seeds, and kills. Flag: --minutes N.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { report } from "./figure.ts";

/** Operations of each client, and kills, in one run. */
const OPERATIONS = 400;
const KILLS = 25;
/** Runs of the random tests for each run of the kills, which take longer. */
const RUNS_PER_KILLS = 10;
/** Far more than a run needs: it ends one that hangs. */
const RUN_MS_MAX = 10 * 60_000;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error("--minutes takes a number above 0");

soak();

/** Prints a failing seed, to be tried again with `LAZULI_SEED=… npm test -- history damaged`. */
function soak(): void {
  const histories = [
    ...testFiles("dist/test/sim", "-history.test.js"),
    ...testFiles("dist/test/smb", "damaged-frames.test.js"),
  ];
  const kills = testFiles("dist/test/crash", ".test.js");
  const untilMs = Date.now() + minutes * 60_000;
  const failed: string[] = [];
  let runs = 0;
  for (let seed = randomInt(1_000_000); Date.now() < untilMs; seed++, runs++) {
    const isKills = runs % (RUNS_PER_KILLS + 1) === 0;
    const name = isKills ? `${KILLS} kills` : `LAZULI_SEED=${seed}`;
    const passed = isKills
      ? runTests(kills, { LAZULI_KILL_ROUNDS: KILLS })
      : runTests(histories, { LAZULI_SEED: seed, LAZULI_SIM_OPERATIONS: OPERATIONS });
    console.log(`${name}: ${passed ? "passed" : "FAILED"}`);
    if (!passed) failed.push(name);
  }
  const found = failed.length === 0 ? `${runs} of ${runs} runs` : `failed: ${failed.join(", ")}`;
  const promise = "one order explains all answers; kills lose nothing";
  report([{ promise, found, bar: "every run passes", met: failed.length === 0 }]);
}

function testFiles(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

/** Shows the output of a run only if it fails. */
function runTests(files: readonly string[], settings: Record<string, number>): boolean {
  const env = { ...process.env };
  for (const [name, value] of Object.entries(settings)) env[name] = String(value);
  const args = ["--enable-source-maps", "--test", "--test-concurrency=1", ...files];
  const done = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: RUN_MS_MAX });
  if (done.status !== 0) console.log(done.stdout, done.stderr);
  return done.status === 0;
}
