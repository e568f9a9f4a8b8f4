import { MIB } from "../../base/limits.ts";
import { originOf } from "../../content/extent-origins.ts";
import { ProgressBar } from "../progress-bar.ts";
import { DamageFound, StartError } from "../start-error.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import { BackupPlace, type Manifest } from "./backup-place.ts";
import { readPack, readPackIndex } from "./packs.ts";
import { PieceSet, piecesOf } from "./pieces.ts";
import { decodeRecords } from "./record-frames.ts";

export interface CheckBackupsAsked {
  readonly place: string;
  readonly json: boolean;
}

/**
 * Reads all files of all backups at a place, and compares them with their digests and with each
 * other. Changes nothing. Throws a `DamageFound` that names the first file that is not good.
 */
export async function checkBackups(
  { place: path, json }: CheckBackupsAsked,
  around: CommandSurroundings,
): Promise<void> {
  const place = await BackupPlace.toRead(path);
  const names = await place.names();
  const options = { clock: around.clock, total: null, noun: "files", json };
  const check = new Check(place, new ProgressBar(around.progress, options));
  await check.run(names);
  const { files, bytes, good } = check;
  if (good.length === 0) {
    throw new StartError(`${place.folder} has no backup yet: make one first.`);
  }
  if (json) around.out(JSON.stringify({ good, files, bytes }));
  else {
    const size = `${files} files, ${(bytes / MIB).toFixed(1)} MiB`;
    const which = good.length === 1 ? "The backup" : `All ${good.length} backups`;
    const are = good.length === 1 ? "is" : "are";
    around.out(`${which} in ${place.folder} ${are} good: ${size}.`);
  }
}

class Check {
  readonly #place: BackupPlace;
  readonly #bar: ProgressBar;
  readonly #read = new Set<string>();
  files = 0;
  bytes = 0;
  readonly good: string[] = [];

  constructor(place: BackupPlace, bar: ProgressBar) {
    this.#place = place;
    this.#bar = bar;
  }

  async run(names: readonly string[]): Promise<void> {
    try {
      await this.#estimate(names);
      for (const name of names) await this.#unlessRemoved(name);
    } finally {
      this.#bar.end();
    }
  }

  async #estimate(names: readonly string[]): Promise<void> {
    const files = new Set<string>();
    for (const name of names) {
      // What is damaged or removed meanwhile is found later.
      const found = await this.#place.readManifest(name).catch(() => null);
      for (const file of [...(found?.packs ?? []), ...(found?.passes.flat() ?? [])]) {
        files.add(file);
      }
    }
    this.#bar.expect({ objects: files.size, bytes: 0 });
  }

  /** Another backup may remove this one meanwhile: then it is not there, which is no damage. */
  async #unlessRemoved(name: string): Promise<void> {
    try {
      await this.#backup(await this.#place.readManifest(name));
      this.good.push(name);
    } catch (error) {
      if (!(error instanceof StartError) || (await this.#place.has(name))) throw error;
    }
  }

  async #backup({ name, packs, passes, origins }: Manifest): Promise<void> {
    const there = new PieceSet();
    for (const pack of packs) {
      for (const [origin, extent, offset] of await readPackIndex(this.#place, pack)) {
        there.add(origin, extent, offset);
      }
      await this.#pack(pack);
    }
    for (const chunk of passes.flat()) {
      const bytes = await this.#place.readRecords(chunk);
      this.#count(chunk, bytes.length);
      for (const { extent, offset } of [...decodeRecords(bytes)].flatMap(piecesOf)) {
        if (there.has(originOf(origins, extent, offset), extent, offset)) continue;
        throw new DamageFound(`The backup ${name} lacks bytes: restore another one.`);
      }
    }
  }

  /** Backups share packs: each is read once. */
  async #pack(name: string): Promise<void> {
    if (this.#read.has(name)) return;
    let total = 0;
    await readPack(this.#place, name, async (bytes) => {
      total += bytes.length;
    });
    this.#count(name, total);
  }

  #count(name: string, bytes: number): void {
    if (this.#read.has(name)) return;
    this.#read.add(name);
    this.files++;
    this.bytes += bytes;
    this.#bar.show({ objects: this.files, bytes: this.bytes });
  }
}
