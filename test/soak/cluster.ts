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

/** A service that was away for longer is explained by what happened to the database. */
const AWAY_MS_TO_EXPLAIN = 10_000;

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
  const done = new Map(kinds.map((name) => [name, [] as RoundDone[]]));
  const tell = () => {
    report(kinds.map((name) => figureOf(FAULT_KINDS[name] as FaultKind, done.get(name) ?? [])));
  };
  process.once("SIGINT", () => {
    tell();
    void bed.remove().finally(() => process.exit(1));
  });
  try {
    // One round of each kind after the other, so that a run that is ended early has as many of each.
    for (let at = 0; at < rounds; at++) {
      for (const name of kinds) done.get(name)?.push(await soakRound(bed, name, at));
    }
    tell();
  } finally {
    await bed.remove();
  }
}

async function soakRound(bed: FaultBed, name: string, at: number): Promise<RoundDone> {
  const beganMs = performance.now();
  const seed = Number(values.seed) + at;
  const round = await runRound(bed, FAULT_KINDS[name] as FaultKind, `${name}-${at}`, seed);
  const { answers, awayMs, lostMs, objections, database, undecided } = round;
  const open = undecided === 0 ? "" : `, ${undecided} histories undecided`;
  const lost = lostMs === 0 ? "" : `, a lost SMB handle for ${seconds(lostMs)}`;
  const answered = `${answers.REST} REST and ${answers.SMB} SMB answers`;
  const took = seconds(performance.now() - beganMs);
  console.log(`${name} ${at}: ${answered}, ${seconds(awayMs)} away${lost}${open}; took ${took}`);
  for (const objection of objections) console.log(`  ${objection}`);
  const logs = objections.length === 0 ? [] : bed.frontEnds.flatMap(({ log }) => log);
  for (const line of logs) console.log(`    ${line}`);
  const isToExplain = awayMs >= AWAY_MS_TO_EXPLAIN || objections.length > 0;
  for (const line of isToExplain ? database : []) console.log(`    database ${line}`);
  return round;
}

function figureOf(kind: FaultKind, done: readonly RoundDone[]): Figure {
  const sum = (of: (round: RoundDone) => number) => done.reduce((all, one) => all + of(one), 0);
  const objections = sum((round) => round.objections.length);
  const undecided = sum((round) => round.undecided);
  const answers = `${sum(({ answers }) => answers.REST)} REST and ${sum(({ answers }) => answers.SMB)} SMB answers`;
  const away = medianAndLongest(done.map(({ awayMs }) => awayMs));
  const lost = medianAndLongest(done.map(({ lostMs }) => lostMs).filter((ms) => ms > 0));
  return {
    promise: kind.what,
    found:
      `${done.length} rounds, ${answers}, ${objections} broken promises, ${undecided} undecided; ` +
      `away ${away}: ${kind.reason}; lost SMB handles ${lost}`,
    bar: "0 broken promises",
    met: objections === 0,
  };
}

function medianAndLongest(all: readonly number[]): string {
  const sorted = [...all].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) return "none";
  return `${seconds(middle)} (longest ${seconds(sorted.at(-1) as number)}, of ${sorted.length})`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
