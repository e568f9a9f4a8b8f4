import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { MIB } from "../../base/limits.ts";
import { type Origin, originOf } from "../../content/extent-origins.ts";
import { isDamageError, StoreError } from "../../store/store.ts";
import type { DataAsked } from "../command-place.ts";
import { ProgressBar } from "../progress-bar.ts";
import { DamageFound, StartError, Stopped } from "../start-error.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import { requireFolder } from "../verify-command.ts";
import { version } from "../version.ts";
import { BackupPlace, dataOf, type Manifest } from "./backup-place.ts";
import { type CopiedState, openState } from "./copied-state.ts";
import { PackWriter, readPack, readPackIndex } from "./packs.ts";
import { AddressList, PieceSet, piecesOf } from "./pieces.ts";
import { RecordChunks } from "./record-chunks.ts";

export interface BackupAsked extends DataAsked {
  readonly place: string;
  /** How many backups stay, this one included; null for all. */
  readonly keep: number | null;
  readonly json: boolean;
}

function requireGoingOn({ signal }: CommandSurroundings): void {
  if (signal?.aborted !== true) return;
  throw new Stopped("Stopped: this backup does not count. Backups that were there are as before.");
}

/**
 * Writes a backup of a data folder or of shared records, whether servers run on them or not. Throws
 * a `StartError`.
 */
export async function backUp(asked: BackupAsked, around: CommandSurroundings): Promise<void> {
  if (asked.shared === null) await requireFolder(resolve(asked.location));
  const place = await BackupPlace.toWrite(asked.place);
  try {
    const { before, manifest, newBytes } = await writeBackup(place, asked, around);
    const removed = await removeOld(place, before, manifest, asked.keep);
    tellDone(manifest, newBytes, removed, asked, around);
  } finally {
    await place.close();
  }
}

async function writeBackup(
  place: BackupPlace,
  asked: BackupAsked,
  around: CommandSurroundings,
): Promise<{ before: readonly Manifest[]; manifest: Manifest; newBytes: number }> {
  try {
    const before = await readManifests(place);
    const state = await openAsked(asked, around);
    const backup = new Backup(place, before, around, asked.json);
    const written = backup.write(state).finally(() => state.close());
    const manifest = await written.then(() => backup.finish()).finally(() => backup.close());
    return { before, manifest, newBytes: backup.newBytes };
  } catch (error) {
    throw failure(error, place.folder);
  }
}

async function openAsked(
  { location, shared }: BackupAsked,
  around: CommandSurroundings,
): Promise<CopiedState> {
  if (shared === null) return openState(location, around);
  const { openSharedState } = await import("./shared-state.ts");
  return openSharedState(shared, around);
}

/** All complete backups. Files that none of them names are removed: they are of interrupted ones. */
async function readManifests(place: BackupPlace): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const name of await place.names()) manifests.push(await place.readManifest(name));
  await place.removeAllBut(manifests);
  return manifests;
}

/** Removes old backups of the same data. Those of other data at this place stay. */
async function removeOld(
  place: BackupPlace,
  before: readonly Manifest[],
  manifest: Manifest,
  keep: number | null,
): Promise<number> {
  if (keep === null) return 0;
  const own = [...before, manifest].filter((one) => dataOf(one) === dataOf(manifest));
  const old = new Set(own.slice(0, -keep));
  try {
    for (const { name } of old) await place.removeManifest(name);
    const others = [...before, manifest].filter((one) => !old.has(one));
    if (old.size > 0) await place.removeAllBut(others);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StartError(
      `Backup ${manifest.name} is written and good, but older ones cannot be removed ` +
        `(${code ?? message}): the next backup with --keep tries it again.`,
    );
  }
  return old.size;
}

function tellDone(
  manifest: Manifest,
  newBytes: number,
  removed: number,
  { json }: BackupAsked,
  { out }: CommandSurroundings,
): void {
  const { name, records, recordBytes, pieceBytes } = manifest;
  const bytes = recordBytes + pieceBytes;
  if (json) {
    out(JSON.stringify({ backup: name, records, bytes, newBytes, removed }));
    return;
  }
  out(`Backup ${name}: ${records} records, ${mib(bytes)}, of which ${mib(newBytes)} are new.`);
  if (removed === 1) out("1 older backup is removed.");
  else if (removed > 1) out(`${removed} older backups are removed.`);
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}

function failure(error: unknown, folder: string): unknown {
  if (isDamageError(error)) return new DamageFound(error.message);
  if (error instanceof StoreError) {
    return new StartError(
      `The backup to ${folder} is not written: ${error.message}. Run it again; backups that were ` +
        "there are as before.",
    );
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || error instanceof StartError) return error;
  const reason = code === "ENOSPC" || code === "EDQUOT" ? "no space is left" : `${code}`;
  return new StartError(
    `The backup to ${folder} is not written: ${reason}. Backups that were there are as before.`,
  );
}

/** One backup while it is written. */
class Backup {
  readonly #place: BackupPlace;
  readonly #before: readonly Manifest[];
  readonly #around: CommandSurroundings;
  readonly #bar: ProgressBar;
  readonly #chunks: RecordChunks;
  readonly #packs: PackWriter;
  readonly #startedMs: number;
  /** The places of bytes that earlier backups have, and those that this one adds. */
  readonly #there = new PieceSet();
  readonly #wanted = new PieceSet();
  readonly #toCopy = new AddressList();
  /** Packs of earlier backups whose pieces are known. */
  readonly #readable: string[] = [];
  #origins: readonly Origin[] = [];
  #form: CopiedState["form"] = "disk";
  #location = "";
  #stamp = 0n;
  #pieceBytes = 0;
  #doneBytes = 0;
  #passes: Manifest["passes"] = [];

  constructor(
    place: BackupPlace,
    before: readonly Manifest[],
    around: CommandSurroundings,
    json: boolean,
  ) {
    this.#place = place;
    this.#before = before;
    this.#around = around;
    this.#startedMs = around.clock.now();
    this.#chunks = new RecordChunks(place);
    this.#packs = new PackWriter(place);
    const options = { clock: around.clock, total: null, noun: "records", json };
    this.#bar = new ProgressBar(around.progress, options);
  }

  get newBytes(): number {
    return this.#chunks.newBytes + this.#packs.newBytes;
  }

  async write(state: CopiedState): Promise<void> {
    this.#form = state.form;
    this.#location = state.location;
    for (const name of this.#packsBefore()) await this.#notePack(name);
    try {
      await this.#estimate(state);
      await this.#copyRecords(state);
      await this.#copyPieces(state);
    } finally {
      await this.#packs.close();
    }
  }

  /** Clears the progress. */
  close(): void {
    this.#bar.end();
  }

  /** Verifies what was written, then makes the backup count. */
  async finish(): Promise<Manifest> {
    await this.#place.sync();
    for (const name of this.#chunks.written) {
      this.#show((await this.#place.readRecords(name)).length);
    }
    for (const name of this.#packs.written) {
      await readPack(this.#place, name, async ({ length }) => {
        this.#show(length);
        requireGoingOn(this.#around);
      });
    }
    const { clock } = this.#around;
    const manifest: Manifest = {
      name: await this.#newName(),
      version: version(),
      startedMs: this.#startedMs,
      endedMs: clock.now(),
      stamp: String(this.#stamp),
      origins: this.#origins,
      passes: this.#passes,
      packs: await this.#packsNeeded(),
      form: this.#form,
      location: this.#location,
      records: this.#chunks.records,
      recordBytes: this.#chunks.recordBytes,
      pieces: this.#wanted.size,
      pieceBytes: this.#pieceBytes,
    };
    await this.#place.writeManifest(manifest);
    return manifest;
  }

  /** Notes the pieces of a pack of earlier backups. Those of an unreadable pack are copied again. */
  async #notePack(name: string): Promise<void> {
    try {
      const index = await readPackIndex(this.#place, name);
      for (const [origin, extent, offset] of index) this.#there.add(origin, extent, offset);
      this.#readable.push(name);
    } catch (error) {
      if (!(error instanceof DamageFound)) throw error;
      this.#around.err(
        `${this.#place.packPath(name)} is damaged or missing: earlier backups lack the bytes in ` +
          "it. This one copies them again.",
      );
    }
  }

  async #copyRecords(state: CopiedState): Promise<void> {
    for await (const part of state.parts()) {
      switch (part.is) {
        case "begin":
          this.#origins = part.origins;
          break;
        case "pass":
          await this.#chunks.nextPass();
          break;
        case "end":
          this.#stamp = part.stamp;
          break;
        case "records":
          for (const record of part.records) {
            const bytesBefore = this.#chunks.recordBytes;
            await this.#chunks.add(record);
            this.#doneBytes += this.#chunks.recordBytes - bytesBefore;
            for (const address of piecesOf(record)) this.#want(address);
          }
          this.#show(0);
      }
      requireGoingOn(this.#around);
    }
    this.#passes = await this.#chunks.finish();
  }

  /** Estimates the whole work before the records are known: as the last time, or from the files. */
  async #estimate(state: CopiedState): Promise<void> {
    const last = this.#before.filter(({ location }) => location === state.location).at(-1);
    if (last !== undefined) return this.#expect(last.recordBytes);
    const size = await state.estimate();
    if (size !== null) this.#expect(2 * (size.records + size.pieces));
  }

  #expect(bytes: number): void {
    this.#bar.expect({ objects: 0, bytes: Math.max(bytes, 1) });
  }

  #show(moreBytes: number): void {
    this.#doneBytes += moreBytes;
    this.#bar.show({ objects: this.#chunks.records, bytes: this.#doneBytes });
  }

  #want(address: Parameters<AddressList["push"]>[0]): void {
    const { extent, offset, bytesOnDisk } = address;
    const origin = originOf(this.#origins, extent, offset);
    if (!this.#wanted.add(origin, extent, offset)) return;
    this.#pieceBytes += bytesOnDisk;
    if (!this.#there.has(origin, extent, offset)) this.#toCopy.push(address);
  }

  async #copyPieces(state: CopiedState): Promise<void> {
    const source = state.pieces();
    // What is new is read once more to verify it.
    const { newBytes, recordBytes } = this.#chunks;
    this.#expect(recordBytes + newBytes + 2 * this.#toCopy.bytesOnDisk);
    try {
      for (const address of this.#toCopy) {
        const { extent, offset } = address;
        const origin = originOf(this.#origins, extent, offset);
        await this.#packs.begin([origin, extent, offset, source.bytesOf(address)]);
        await source.read(address, (part) => this.#packs.write(part));
        this.#show(source.bytesOf(address));
        requireGoingOn(this.#around);
      }
      await this.#packs.finish();
    } finally {
      await source.close();
    }
  }

  #packsBefore(): string[] {
    return [...new Set(this.#before.flatMap(({ packs }) => packs))];
  }

  /** Packs with at least one piece of this backup. */
  async #packsNeeded(): Promise<string[]> {
    const needed: string[] = [];
    for (const name of this.#readable) {
      const pieces = await readPackIndex(this.#place, name);
      if (pieces.some((piece) => this.#wanted.has(piece[0], piece[1], piece[2]))) needed.push(name);
    }
    return [...new Set([...needed, ...this.#packs.written])];
  }

  /** Names sort by time. */
  async #newName(): Promise<string> {
    const time = new Date(this.#startedMs).toISOString().replaceAll(":", "-");
    const taken = new Set(await readdir(`${this.#place.folder}/backups`));
    for (let count = 1; ; count++) {
      const name = count === 1 ? time : `${time}.${count}`;
      if (!taken.has(`${name}.json`)) return name;
    }
  }
}
