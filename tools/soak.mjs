// `npm run soak -- --minutes 60`: the random tests of `test/sim` and the damaged frames of `test/smb` with
// one seed after the other, and the kills of `test/crash`, until the time is up. A seed that fails is
// printed, to be tried again with `LAZULI_SEED=… npm test -- history damaged`.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import prepare from "./prepare.cjs";

const { build, filesUnder, install, root } = prepare;

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

process.chdir(root);
process.exitCode = install() && build() && soak() ? 0 : 1;

function soak() {
  const histories = [
    ...testFiles("dist/test/sim", "-history.test.js"),
    ...testFiles("dist/test/smb", "damaged-frames.test.js"),
  ];
  const kills = testFiles("dist/test/crash", ".test.js");
  const untilMs = Date.now() + minutes * 60_000;
  const failed = [];
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
  console.log(failed.length === 0 ? `All ${runs} runs passed.` : `Failed: ${failed.join(", ")}`);
  return failed.length === 0;
}

function testFiles(folder, ending) {
  return filesUnder(folder).filter((file) => file.endsWith(ending));
}

/** What a run prints is shown only if it fails. */
function runTests(files, settings) {
  const env = { ...process.env };
  for (const [name, value] of Object.entries(settings)) env[name] = String(value);
  const args = ["--enable-source-maps", "--test", "--test-concurrency=1", ...files];
  const done = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: RUN_MS_MAX });
  if (done.status !== 0) console.log(done.stdout, done.stderr);
  return done.status === 0;
}
