// kill -9 while all services and SMB are written to: what was acknowledged and is lost. Flag: --rounds N.
import { parseArgs } from "node:util";
import { killAll } from "../crash/kill-all.ts";
import { report } from "./figure.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "1000" } } });
const rounds = Number(values.rounds);
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error("--rounds takes a number above 0");

const { kills, acknowledged, lost, failedStarts } = await killAll(rounds, console.log);
for (const line of [...lost, ...failedStarts]) console.log(line);
report([
  {
    promise: "an acknowledged write survives kill -9",
    found: `${kills} kills, ${acknowledged} acknowledged, ${lost.length} lost, ${failedStarts.length} failed starts`,
    bar: `${rounds} kills, 0 lost, 0 failed starts`,
    met: kills === rounds && lost.length + failedStarts.length === 0,
  },
]);
