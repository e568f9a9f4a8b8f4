// Power cuts while all services and SMB are written to: what was acknowledged and is lost. Flags: --cuts N --seed S.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { cutPower, type PowerCuts, type PowerCutsAsked } from "../crash/power-cuts.ts";
import { skipWithoutPowerDisk } from "../crash/power-disk.ts";
import { report } from "./figure.ts";

/** Runs on a disk whose syncs do nothing: each must lose something, or the others prove nothing. */
const CONTROLS = 5;
/** Cuts within which a control must lose something. */
const CONTROL_CUTS_MAX = 3;
const SEED_MAX = 2 ** 40;

const { values } = parseArgs({
  options: { cuts: { type: "string", default: "20" }, seed: { type: "string" } },
});
const cuts = Number(values.cuts);
const seed = Number(values.seed ?? randomInt(SEED_MAX));
if (!(Number.isInteger(cuts) && cuts > 0)) throw new Error("--cuts takes a number above 0");
if (!(Number.isInteger(seed) && seed >= 0)) throw new Error("--seed takes a whole number");

// Ctrl-C ends the server, and with it the run, which must still unmount its disk.
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const missing = skipWithoutPowerDisk();
if (missing === null) await soak().catch(unlessStopped);
else console.log(`Skipped: ${missing}`);

function unlessStopped(error: unknown): void {
  if (!stop.signal.aborted) throw error;
  console.log("Interrupted: there is no result.");
}

async function soak(): Promise<void> {
  const tell: PowerCutsAsked["tell"] = (line) => console.log(line);
  const controls: PowerCuts[] = [];
  for (let control = 0; control < CONTROLS; control++) {
    const asked = { cuts: CONTROL_CUTS_MAX, seed: seed + control, syncs: "ignored" } as const;
    controls.push(
      await cutPower({ ...asked, stop: stop.signal, tell: (line) => tell(`control, ${line}`) }),
    );
  }
  const real = await cutPower({ cuts, seed, syncs: "honest", stop: stop.signal, tell });
  for (const line of [...real.lost, ...real.failedStarts]) console.log(line);
  const noticed = controls.filter((control) => problemsOf(control) > 0).length;
  report([
    {
      promise: "an acknowledged write survives a power cut",
      found: `${real.cuts} cuts, ${real.acknowledged} acknowledged, ${real.lost.length} lost, ${real.failedStarts.length} failed starts`,
      bar: `${cuts} cuts, 0 lost, 0 failed starts`,
      met: real.cuts === cuts && problemsOf(real) === 0,
    },
    {
      promise: "the same disk with syncs that do nothing loses data",
      found: `noticed in ${noticed} of ${CONTROLS} runs`,
      bar: `${CONTROLS} of ${CONTROLS}`,
      met: noticed === CONTROLS,
    },
  ]);
}

function problemsOf({ lost, failedStarts }: PowerCuts): number {
  return lost.length + failedStarts.length;
}
