import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";
import { isDataFolder } from "../engine/embedded/data-folder.ts";
import type { S3Place } from "../engine/s3/s3-place.ts";
import type { FailStop } from "../store/store.ts";
import { DamageReports } from "./damage-reports.ts";
import { openData } from "./open-data.ts";
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

/**
 * Opens a data folder that no server uses, as a start does, and reads everything in it. Returns the
 * exit code: 0 if all is sound, `DAMAGED_EXIT_CODE` if something is damaged.
 */
export async function verify(
  location: string,
  around: VerifySurroundings,
  bucket: S3Place | null = null,
): Promise<number> {
  const folder = resolve(location);
  await requireFolder(folder);
  let damaged = 0;
  const tell = (name: string, reason: string) => {
    damaged++;
    around.out(`damaged: ${name}: ${reason}`);
  };
  const reports = new DamageReports((name) => tell(name, "its record is not what was written"));
  const place = { location: folder, memoryBytesMax: null, bucket };
  const { onDamage } = reports;
  const options = { tell: (line: string) => around.out(`note: ${line}`), onDamage };
  const data = await openData(place, around.clock, around.failStop, options);
  const total = { objects: 0, bytes: await bytesIn(folder) };
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
