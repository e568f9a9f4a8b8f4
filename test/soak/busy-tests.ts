// `npm test` again and again while all cores are busy: runs that pass. Flags: --runs N, --loops N (busy loops; 0 if other work keeps the cores busy), --only "WORDS for npm test", --record FILE (adds each whole run to a JSON file, so that runs in a row are counted over several calls).
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { report } from "./figure.ts";
import { RecordedRuns } from "./recorded-runs.ts";

/** A busy loop ends by itself after this, or when the process that started it is gone. */
const LOOP_MS_MAX = 2 * 3_600_000;
const LOOP = `
const { ppid } = process;
const untilMs = Date.now() + ${LOOP_MS_MAX};
while (Date.now() < untilMs && process.ppid === ppid);
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    loops: { type: "string", default: `${availableParallelism()}` },
    only: { type: "string", default: "" },
    record: { type: "string" },
  },
});
const runs = Number(values.runs);
if (!(Number.isInteger(runs) && runs > 0)) throw new Error("--runs takes a number above 0");
const loopCount = Number(values.loops);
if (!(Number.isInteger(loopCount) && loopCount >= 0)) throw new Error("--loops takes a number");
const words = values.only.split(" ").filter((word) => word !== "");
if (values.record !== undefined && words.length > 0) {
  throw new Error("--record counts whole runs: leave out --only");
}
// Read before the first run, so that a file that cannot be read is noticed at once.
const recorded = values.record === undefined ? null : await RecordedRuns.open(values.record);

let passed = 0;
for (let run = 1; run <= runs; run++) {
  const tested = commit();
  const isPassed = await runTests();
  if (isPassed) passed++;
  const at = new Date().toISOString();
  await recorded?.add({ commit: tested, at, load: loadavg()[0] ?? 0, isPassed });
  console.log(`run ${run} of ${runs}: ${isPassed ? "passed" : "FAILED"}, ${passed} passed so far`);
}
const inARow = recorded === null ? "" : `; ${recorded.inARow} in a row in ${values.record}`;
report([
  {
    promise: "`npm test` passes, however busy the machine is",
    found: `${passed} of ${runs} runs passed, with ${loopCount} busy loops${inARow}`,
    bar: "every run passes",
    met: passed === runs,
  },
]);

/** The id of the tested commit, with a `+` if files differ from it. */
function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  return git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : "+");
}

/** Shows the output of a run only if it fails. */
async function runTests(): Promise<boolean> {
  const loops = Array.from({ length: loopCount }, startLoop);
  try {
    const tests = spawn(process.execPath, ["tools/test.mjs", ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [tests.stdout, tests.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    const [code] = await once(tests, "close");
    if (code !== 0) console.log(printed);
    return code === 0;
  } finally {
    for (const loop of loops) loop.kill();
  }
}

function startLoop(): ChildProcess {
  return spawn(process.execPath, ["-e", LOOP], { stdio: "ignore" });
}
