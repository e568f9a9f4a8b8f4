import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";
import { isDataFolder } from "../engine/embedded/data-folder.ts";
import type { FailStop } from "../store/store.ts";
import { choosePlace, type DataAsked, type SharedAsked } from "./command-place.ts";
import { DamageReports } from "./damage-reports.ts";
import { type DataPlace, openData } from "./open-data.ts";
import { chooseBucket } from "./places.ts";
import { ProgressBar, type ProgressOutput } from "./progress-bar.ts";
import { DAMAGED_EXIT_CODE, StartError } from "./start-error.ts";
import { Verifier } from "./verifier.ts";

export interface VerifySurroundings {
  readonly clock: Clock;
  readonly failStop: FailStop;
  readonly out: (line: string) => void;
  /** The output for progress; a terminal shows it in one line. */
  readonly progress: ProgressOutput;
}

export interface VerifyAsked extends DataAsked {
  /** The bucket that the data folder has its large bodies in. */
  readonly bucket?: Pick<SharedAsked, "bytes" | "s3">;
}

/**
 * Reads everything in a data folder that no server uses, or in shared records and their bytes, while
 * front ends go on. Returns the exit code: 0 if all is sound, `DAMAGED_EXIT_CODE` if something is
 * damaged.
 */
export async function verify(asked: VerifyAsked, around: VerifySurroundings): Promise<number> {
  const place = await placeOf(asked);
  let damaged = 0;
  const tell = (name: string, reason: string) => {
    damaged++;
    around.out(`damaged: ${name}: ${reason}`);
  };
  const reports = new DamageReports((name) => tell(name, "its record is not what was written"));
  const { onDamage } = reports;
  const note = (line: string) => around.out(`note: ${line}`);
  const options = { tell: note, onDamage, guest: "lazuli verify" };
  const data = await openData(place, around.clock, around.failStop, options);
  const { location } = place;
  const total = location === null ? null : { objects: 0, bytes: await bytesIn(location) };
  const bar = new ProgressBar(around.progress, { clock: around.clock, total, noun: "records" });
  try {
    reports.lookIn(data.store);
    let done = { objects: 0, bytes: 0 };
    for await (done of new Verifier(data, tell).run()) bar.show(done);
    await reports.finish();
    bar.end();
    const what = `${done.objects} records, ${(done.bytes / MIB).toFixed(1)} MiB`;
    around.out(damaged === 0 ? `All is well: ${what}.` : `${damaged} damaged, of ${what}.`);
    return damaged === 0 ? 0 : DAMAGED_EXIT_CODE;
  } finally {
    await data.close();
  }
}

async function placeOf({ location, shared, bucket }: VerifyAsked): Promise<DataPlace> {
  if (shared !== null) return choosePlace(shared);
  const folder = resolve(location);
  await requireFolder(folder);
  if (bucket === undefined) return { location: folder, memoryBytesMax: null };
  const chosen = chooseBucket(bucket.bytes, { ...bucket, location, configFile: null });
  return { location: folder, memoryBytesMax: null, bucket: chosen };
}

/** Throws if the folder is missing, because opening it would make it. */
export async function requireFolder(folder: string): Promise<void> {
  if (await isDataFolder(folder)) return;
  throw new StartError(`${folder} is not a data folder. Say where the data lives with --location.`);
}

/** An estimate of the bytes to read. */
async function bytesIn(folder: string): Promise<number> {
  const extents = join(folder, "extents");
  const names = (await readdir(extents)).map((name) => join(extents, name));
  let bytes = 0;
  for (const path of [join(folder, "store", "data.mdb"), ...names]) {
    bytes += (await stat(path).catch(() => null))?.size ?? 0;
  }
  return bytes;
}
