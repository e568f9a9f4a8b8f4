// Three front ends over Patroni and Ceph while machines die. Flags: --rounds N, --kinds a,b, --bytes folder|s3.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { FaultBed } from "../cluster/faults/fault-bed.ts";
import { FAULT_KINDS, type FaultKind } from "../cluster/faults/fault-kinds.ts";
import { skipWithoutPatroni } from "../cluster/faults/patroni.ts";
import { type RoundDone, runRound } from "../cluster/faults/run-round.ts";
import { skipWithoutDebianPackage } from "../programs/debian-program.ts";
import { skipWithoutObjectStore } from "../s3/object-store.ts";
import { type Figure, report } from "./figure.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    kinds: { type: "string", default: Object.keys(FAULT_KINDS).join() },
    bytes: { type: "string", default: "s3" },
    seed: { type: "string", default: `${randomInt(1_000_000)}` },
  },
});
const rounds = Number(values.rounds);
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error("--rounds takes a number above 0");
const { bytes } = values;
if (bytes !== "s3" && bytes !== "folder") throw new Error("--bytes is folder or s3");
const kinds = values.kinds.split(",").filter((name) => {
  if (!(name in FAULT_KINDS)) {
    throw new Error(`--kinds: there is no "${name}", but ${Object.keys(FAULT_KINDS).join(", ")}`);
  }
  return bytes === "s3" || !(FAULT_KINDS[name] as FaultKind).needsObjects;
});

const skip =
  skipWithoutPatroni() ??
  skipWithoutDebianPackage("faketime", "faketime libfaketime", "command -v faketime") ??
  (bytes === "s3" ? skipWithoutObjectStore() : null);
if (skip === null) await soak();
else console.log(`skipped: ${skip}`);

async function soak(): Promise<void> {
  console.log(`--seed ${values.seed}`);
  const bed = await FaultBed.start(bytes as "s3" | "folder");
  process.once("SIGINT", () => {
    void bed.remove().finally(() => process.exit(1));
  });
  try {
    const figures: Figure[] = [];
    for (const name of kinds) figures.push(await soakKind(bed, name));
    report(figures);
  } finally {
    await bed.remove();
  }
}

async function soakKind(bed: FaultBed, name: string): Promise<Figure> {
  const kind = FAULT_KINDS[name] as FaultKind;
  const done: RoundDone[] = [];
  for (let at = 0; at < rounds; at++) {
    const seed = Number(values.seed) + at;
    const round = await runRound(bed, kind, `${name}-${at}`, seed);
    done.push(round);
    const { requests, awayMs, objections, undecided } = round;
    const open = undecided === 0 ? "" : `, ${undecided} histories undecided`;
    console.log(`${name} ${at}: ${requests} answers, ${seconds(awayMs)} away${open}`);
    for (const objection of objections) console.log(`  ${objection}`);
  }
  const objections = done.flatMap((round) => round.objections).length;
  const awayMs = done.map((round) => round.awayMs).sort((a, b) => a - b);
  const answers = done.reduce((sum, { requests }) => sum + requests, 0);
  const middle = awayMs[Math.floor(awayMs.length / 2)] as number;
  const away = `${seconds(middle)} away (longest ${seconds(awayMs.at(-1) as number)})`;
  return {
    promise: kind.what,
    found: `${rounds} rounds, ${answers} answers, ${objections} broken promises; ${away}: ${kind.reason}`,
    bar: "0 broken promises",
    met: objections === 0,
  };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
