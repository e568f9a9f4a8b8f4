// Damages records, bytes and log files, one at a time, and counts what is noticed. --rounds 20: how many of each kind; --starts 30: failing calls of a first start
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compileFailures, skipWithoutFailures, startAfterFailure } from "../command/fail-once.ts";
import { LOG_DAMAGES, LOG_NAMES, untilNoted } from "../command/log-damages.ts";
import { LazuliProcess } from "../command/process.ts";
import {
  clientsOf,
  copyData,
  type Filled,
  fillData,
  flipInDatabase,
  flipInExtents,
  OBJECTS,
  startOn,
} from "../command/stored-data.ts";
import { type Figure, report } from "./figure.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    starts: { type: "string", default: "30" },
  },
});
const ROUNDS = Math.min(Number(values.rounds), OBJECTS);
const STARTS = Number(values.starts);
const LOG_OBJECTS = 120;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-damage-"));
const whole = join(scratch, "whole");

/** Counts how many attempts were noticed, with a line for each that was not. */
class Tally {
  tried = 0;
  noticed = 0;

  add(what: string, isNoticed: boolean): void {
    this.tried++;
    if (isNoticed) this.noticed++;
    else console.error(`not noticed: ${what}`);
  }

  figure(promise: string): Figure {
    const { tried, noticed } = this;
    const found = `${noticed} of ${tried}, ${tried - noticed} silent`;
    return { promise, found, bar: "all, 0 silent", met: tried > 0 && noticed === tried };
  }
}

try {
  const figures = [...(await objects()), await logs()];
  if (skipWithoutFailures() === null) figures.push(await firstStarts());
  report(figures);
} finally {
  rmSync(scratch, { recursive: true });
}

async function objects(): Promise<Figure[]> {
  const lazuli = startOn(whole);
  const filled = await fillData(lazuli);
  lazuli.signal("SIGTERM");
  await lazuli.ended();
  const [records, chunks] = [new Tally(), new Tally()];
  for (let at = 0; at < ROUNDS; at++) {
    for (const [name, flip] of recordFlips(filled, at)) {
      records.add(name, await isTold(name, flip));
    }
    const from = Math.floor((at * filled.large.length) / ROUNDS);
    const found = filled.large.subarray(from, from + 32);
    const name = 'blob "devstoreaccount1/box/large 0"';
    chunks.add(`byte ${from}`, await isTold(name, (folder) => flipInExtents(folder, found, 3)));
  }
  return [
    records.figure("`verify` names the object of a record with a flipped byte"),
    chunks.figure("`verify` names the blob of a chunk with a flipped byte"),
  ];
}

function* recordFlips(
  { messageIds }: Filled,
  at: number,
): Iterable<[name: string, flip: (folder: string) => number]> {
  const behind = (text: string, more: number) => (folder: string) =>
    flipInDatabase(folder, text, text.length + more);
  yield [`blob "devstoreaccount1/box/blob-${at}."`, behind(`blob-${at}.`, 11)];
  yield [`entity "devstoreaccount1/things/part/row-${at}."`, behind(`row-${at}.`, 3)];
  yield [`message "devstoreaccount1/jobs/${messageIds[at]}"`, behind(`${messageIds[at]}\0`, 2)];
  const name = Buffer.from(`Paper-${at}.TXT`, "utf16le");
  yield ['file "devstoreaccount1/papers/', (folder) => flipInDatabase(folder, name, 3)];
}

async function isTold(name: string, flip: (folder: string) => number): Promise<boolean> {
  const location = join(scratch, "damaged");
  copyData(whole, location);
  try {
    if (flip(location) === 0) throw new Error(`${name} was not found`);
    const { code, out, err } = await new LazuliProcess(["verify", "--location", location]).ended();
    // A byte may belong to the B-tree's inner pages: then the database itself is named.
    const isNamed =
      out.includes(`damaged: ${name}`) || out.includes("damaged: the database itself");
    const isNoticed = code === 3 && isNamed;
    if (!isNoticed) console.error(`exit code ${code}\n${out}${err}`);
    return isNoticed;
  } finally {
    rmSync(location, { recursive: true });
  }
}

async function logs(): Promise<Figure> {
  const killed = join(scratch, "killed");
  const older = join(scratch, "older");
  const lazuli = startOn(killed);
  const { box } = await clientsOf(lazuli);
  await box.create();
  cpSync(join(killed, "store"), older, { recursive: true });
  for (let at = 0; at < LOG_OBJECTS; at++) {
    await box.getBlockBlobClient(`blob ${at}`).upload("x", 1);
  }
  await untilNoted(killed, () => box.getBlockBlobClient("last").upload("x", 1));
  await lazuli.kill();
  const tally = new Tally();
  for (const [what, , damage] of LOG_DAMAGES) {
    for (const names of [LOG_NAMES, ["log-0"] as const]) {
      const location = join(scratch, "damaged-log");
      copyData(killed, location);
      for (const name of names) damage(join(location, "store", name), name, older);
      const started = startOn(location);
      const isServed = await started.firstLine().then(
        () => true,
        () => false,
      );
      await started.kill();
      tally.add(`${names.join(" and ")} ${what}`, !isServed);
      rmSync(location, { recursive: true });
    }
  }
  return tally.figure(`a start on damaged log files with ${LOG_OBJECTS} objects is refused`);
}

async function firstStarts(): Promise<Figure> {
  const library = compileFailures(scratch);
  let tried = 0;
  let served = 0;
  for (const errno of [5, 28]) {
    for (let at = 1; at <= STARTS; at++) {
      const location = join(scratch, `first-${errno}-${at}`);
      const failure = { path: "/store/", at, errno };
      const { hasFailed, isServed, log } = await startAfterFailure(library, location, failure);
      rmSync(location, { recursive: true });
      if (!hasFailed) break;
      tried++;
      if (isServed) served++;
      else console.error(`call ${at}, error ${errno}: ${log}`);
    }
  }
  const promise =
    "a first start in which one call fails (EIO, ENOSPC) is followed by one that serves";
  return {
    promise,
    found: `${served} of ${tried}`,
    bar: "all",
    met: tried > 0 && served === tried,
  };
}
