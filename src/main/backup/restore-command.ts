import { randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { key, keyAfter, keyBehind, SPACE, type Space } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { instantOf } from "../../base/stamp.ts";
import { beginOrigin, originOf } from "../../content/extent-origins.ts";
import type { CopiedRecord } from "../../content/state-copy.ts";
import { beginRestore, endRestore, isHalfRestored } from "../../engine/embedded/data-folder.ts";
import { extentFileName } from "../../engine/embedded/extents.ts";
import { type FolderLock, isLockFile, lockFolder } from "../../engine/embedded/folder-lock.ts";
import { syncFolder } from "../../engine/embedded/sync-folder.ts";
import { EPHEMERAL_SPACES } from "../../service/file/open-records.ts";
import { isDamageError, type Store, type View } from "../../store/store.ts";
import type { DataAsked } from "../command-place.ts";
import { type Data, openData } from "../open-data.ts";
import { ProgressBar } from "../progress-bar.ts";
import { DamageFound, StartError } from "../start-error.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import { Verifier } from "../verifier.ts";
import { BackupPlace, dataOf, type Manifest } from "./backup-place.ts";
import { type PackedPiece, readPack, readPackIndex } from "./packs.ts";
import { PieceSet, piecesOf } from "./pieces.ts";
import { decodeRecords } from "./record-frames.ts";
import { bytesOf, type Restored, stepsOf, write } from "./restored-records.ts";

export interface RestoreAsked extends DataAsked {
  readonly place: string;
  /** The name of a backup; null for the last one. */
  readonly backup: string | null;
  readonly json: boolean;
}

const RECORDS_OF_ENGINE_MAX = 1_000;
const CONTENTS_PER_READ = 2_000;
const CONTENTS_END = keyAfter(key(SPACE.content));
const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_FOLDER_MODE = 0o700;

/**
 * Restores a backup into an empty folder or an empty database, and verifies it there. Throws a
 * `StartError`.
 */
export async function restore(asked: RestoreAsked, around: CommandSurroundings): Promise<void> {
  const place = await BackupPlace.toRead(asked.place);
  const manifest = await chosenManifest(place, asked.backup);
  requireForm(manifest, asked);
  try {
    await restoreChosen(place, manifest, asked, around);
  } catch (error) {
    if (!(error instanceof DamageFound) || (await place.has(manifest.name))) throw error;
    throw new StartError(
      `Backup ${manifest.name} was removed while it was read, by a backup with --keep: restore ` +
        "another one.",
    );
  }
}

async function restoreChosen(
  place: BackupPlace,
  manifest: Manifest,
  asked: RestoreAsked,
  around: CommandSurroundings,
): Promise<void> {
  if (asked.shared !== null) {
    const { restoreShared } = await import("./restore-shared.ts");
    const done = await restoreShared(place, manifest, asked.shared, asked.json, around);
    return tellDone(manifest, asked, done, around);
  }
  const folder = resolve(asked.location);
  const lock = await prepareFolder(folder);
  try {
    const target = { folder, lock, json: asked.json };
    const done = await new Restore(place, manifest, target, around).run();
    await endRestore(folder);
    tellDone(manifest, asked, { ...done, location: folder }, around);
  } catch (error) {
    throw failure(error, folder);
  } finally {
    await lock.release();
  }
}

/** Where a folder is restored to. No other restore, and no server, uses it while we have its lock. */
interface Target {
  readonly folder: string;
  readonly lock: FolderLock;
  readonly json: boolean;
}

function tellDone(
  { name }: Manifest,
  { json }: RestoreAsked,
  { location, records, bytes }: Restored,
  { out }: CommandSurroundings,
): void {
  if (json) {
    out(JSON.stringify({ backup: name, location, records, bytes }));
    return;
  }
  const size = `${records} records, ${(bytes / MIB).toFixed(1)} MiB`;
  out(`Backup ${name} is restored to ${location} and verified: ${size}.`);
}

/** A backup can be restored only to the kind of place that it is of. */
function requireForm({ name, form = "disk" }: Manifest, { shared }: RestoreAsked): void {
  if (form === "disk" && shared !== null) {
    throw new StartError(
      `Backup ${name} is of a data folder: restore it to a new one with --location, then move its ` +
        "data with `lazuli export` and `lazuli import`.",
    );
  }
  if (form === "plain" && shared === null) {
    throw new StartError(
      `Backup ${name} is of shared records: restore it to an empty database with --records and --bytes.`,
    );
  }
}

async function chosenManifest(place: BackupPlace, backup: string | null): Promise<Manifest> {
  const names = await place.names();
  if (backup === null) await requireOneData(place, names);
  const name = backup ?? names.at(-1);
  if (name !== undefined && names.includes(name)) return place.readManifest(name);
  const those = names.length === 0 ? "It has none." : `It has ${names.join(", ")}.`;
  throw new StartError(
    `${place.folder} has no backup${backup === null ? "" : ` ${backup}`}. ${those}`,
  );
}

/** Refuses to choose between backups of different data. */
async function requireOneData(place: BackupPlace, names: readonly string[]): Promise<void> {
  const whose = new Map<string | undefined, string>();
  const lines: string[] = [];
  for (const name of names) {
    const manifest = await place.readManifest(name).catch((error) => {
      // A damaged backup is not chosen, unless it is the last one.
      if (error instanceof StartError) return null;
      throw error;
    });
    if (manifest === null) continue;
    whose.set(dataOf(manifest), name);
    lines.push(`${name}${manifest.location === undefined ? "" : ` of ${manifest.location}`}`);
  }
  if (whose.size < 2) return;
  throw new StartError(
    `${place.folder} has backups of ${whose.size} data folders: choose one with --backup. It has ` +
      `${lines.join(", ")}.`,
  );
}

/**
 * Makes an empty folder that no server starts on, and locks it. What an interrupted restore left is
 * removed.
 */
async function prepareFolder(folder: string): Promise<FolderLock> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await requireRestorable(folder);
  const lock = await lockFolder(folder);
  if (lock === null) {
    throw new StartError(`Another restore to ${folder} is under way: wait until it has ended.`);
  }
  try {
    // Another restore may have ended since we looked.
    await requireRestorable(folder);
    for (const part of ["store", "extents"]) {
      await rm(join(folder, part), { recursive: true, force: true });
    }
    await beginRestore(folder);
    return lock;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Throws unless a folder is empty, or has what an interrupted restore left. */
async function requireRestorable(folder: string): Promise<void> {
  if (await isHalfRestored(folder)) return;
  const others = (await readdir(folder)).filter((name) => !isLockFile(name));
  if (others.length === 0) return;
  throw new StartError(
    `${folder} is not empty: a backup is restored to a new or empty folder only. ` +
      "Name another one with --location.",
  );
}

function failure(error: unknown, folder: string): unknown {
  const half = `${folder} is not complete, and no server starts on it: restore again, or remove it.`;
  if (isDamageError(error)) return new DamageFound(`${error.message}. ${half}`);
  if (error instanceof DamageFound) return new DamageFound(`${error.message} ${half}`);
  if (error instanceof StartError) return new StartError(`${error.message} ${half}`);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  const reason = code === "ENOSPC" || code === "EDQUOT" ? "no space is left" : code;
  return new StartError(`The backup is not restored: ${reason}. ${half}`);
}

/** One restore, into a folder that is prepared for it. */
class Restore {
  readonly #place: BackupPlace;
  readonly #manifest: Manifest;
  readonly #folder: string;
  readonly #lock: FolderLock;
  readonly #around: CommandSurroundings;
  readonly #bar: ProgressBar;
  #records = 0;
  #bytes = 0;
  /** Records that must be there in the end. */
  #lasting = 0;

  constructor(
    place: BackupPlace,
    manifest: Manifest,
    { folder, lock, json }: Target,
    around: CommandSurroundings,
  ) {
    this.#place = place;
    this.#manifest = manifest;
    this.#folder = folder;
    this.#lock = lock;
    this.#around = around;
    const { records, recordBytes, pieceBytes } = manifest;
    // Everything is read once more to verify it.
    const total = { objects: 2 * records, bytes: 2 * (recordBytes + pieceBytes) };
    const options = { clock: around.clock, total, noun: "records", json };
    this.#bar = new ProgressBar(around.progress, options);
  }

  async run(): Promise<{ records: number; bytes: number }> {
    try {
      const wanted = await this.#restoreRecords();
      await this.#restorePieces(wanted);
      return await this.#verify();
    } finally {
      this.#bar.end();
    }
  }

  /** Restores records. Returns the places of the bytes that they name. */
  async #restoreRecords(): Promise<PieceSet> {
    const stamp = BigInt(this.#manifest.stamp);
    const data = await this.#open(clockAfter(this.#around.clock, instantOf(stamp)));
    try {
      const { store } = data;
      for (const chunk of this.#manifest.passes.flat()) {
        for (const some of stepsOf(decodeRecords(await this.#place.readRecords(chunk)))) {
          this.#lasting += await addedBy(store, some);
          await write(store, some);
          this.#show(some.length, bytesOf(some));
        }
      }
      await store.transact((tx) => {
        beginOrigin(tx, randomUUID());
        tx.stamp();
      });
      return await this.#wantedPieces(store);
    } finally {
      await data.close();
    }
  }

  async #wantedPieces(store: Store): Promise<PieceSet> {
    const wanted = new PieceSet();
    for (let from = key(SPACE.content); ; ) {
      const options = { limit: CONTENTS_PER_READ };
      const found = await store.read((view) => view.range(from, CONTENTS_END, options));
      for (const { extent, offset } of found.flatMap(piecesOf)) {
        wanted.add(originOf(this.#manifest.origins, extent, offset), extent, offset);
      }
      const last = found.at(-1);
      if (last === undefined) return wanted;
      from = keyBehind(last.key);
    }
  }

  async #restorePieces(wanted: PieceSet): Promise<void> {
    const folder = join(this.#folder, "extents");
    const files = new ExtentFiles(folder);
    try {
      for (const name of this.#manifest.packs) {
        const pieces = new PiecesInPack(await readPackIndex(this.#place, name), wanted);
        await readPack(this.#place, name, async (bytes, position) => {
          for (const { extent, offset, part } of pieces.in(bytes, position)) {
            await files.write(extent, offset, part);
          }
          this.#show(0, bytes.length);
        });
      }
    } finally {
      await files.close();
    }
    await syncFolder(folder);
    if (wanted.size === 0) return;
    throw new DamageFound(
      `The backup lacks bytes: ${wanted.size} pieces are in none of its packs.`,
    );
  }

  /** Reads everything as `lazuli verify` does. */
  async #verify(): Promise<{ records: number; bytes: number }> {
    const data = await this.#open(this.#around.clock);
    try {
      const onDamage = (name: string, reason: string) => {
        throw new DamageFound(`Restored and not sound: ${name}: ${reason}.`);
      };
      let done = { objects: 0, bytes: 0 };
      for await (done of new Verifier(data, onDamage).run()) {
        this.#bar.show({ objects: this.#records + done.objects, bytes: this.#bytes + done.bytes });
      }
      const records = done.objects - (await data.store.read(recordsOfEngine));
      if (records === this.#lasting) return { records: done.objects, bytes: done.bytes };
      throw new DamageFound(
        `Restored and not complete: ${records} of ${this.#lasting} records are there.`,
      );
    } finally {
      await data.close();
    }
  }

  #open(clock: Clock): Promise<Data> {
    const { failStop, err } = this.#around;
    const place = { location: this.#folder, memoryBytesMax: null, restoreLock: this.#lock };
    return openData(place, clock, failStop, { tell: err });
  }

  #show(records: number, bytes: number): void {
    this.#records += records;
    this.#bytes += bytes;
    this.#bar.show({ objects: this.#records, bytes: this.#bytes });
  }
}

/** By how many records a step adds to the lasting ones. Its keys differ. */
function addedBy(store: Store, step: readonly CopiedRecord[]): Promise<number> {
  const lasting = step.filter(({ key }) => !EPHEMERAL_SPACES.has(key[0] as Space));
  const after = lasting.filter(({ value }) => value !== null).length;
  return store.read(
    (view) => after - lasting.filter(({ key }) => view.get(key) !== undefined).length,
  );
}

/** The engine has a few records of its own, which no backup has. */
function recordsOfEngine(view: View): number {
  const from = key(SPACE.engine);
  return view.range(from, keyAfter(from), { limit: RECORDS_OF_ENGINE_MAX }).length;
}

/** A clock that is never behind an instant, so that new stamps are later than all restored ones. */
function clockAfter(clock: Clock, instant: number): Clock {
  return {
    now: () => Math.max(clock.now(), instant + 1),
    elapsedMs: () => clock.elapsedMs(),
  };
}

/** Finds the wanted pieces of a pack in its bytes, as these arrive. */
class PiecesInPack {
  readonly #pieces: readonly PackedPiece[];
  readonly #isWanted: readonly boolean[];
  /** The first piece that has not ended yet, and where it begins in the pack. */
  #next = 0;
  #start = 0;

  constructor(pieces: readonly PackedPiece[], wanted: PieceSet) {
    this.#pieces = pieces;
    this.#isWanted = pieces.map(([origin, extent, offset]) =>
      wanted.delete(origin, extent, offset),
    );
  }

  *in(bytes: Bytes, position: number): Generator<{ extent: number; offset: number; part: Bytes }> {
    const until = position + bytes.length;
    for (let piece = this.#pieces[this.#next]; piece !== undefined; ) {
      const [, extent, offset, length] = piece;
      const from = Math.max(this.#start, position);
      const end = Math.min(this.#start + length, until);
      if (from < end && this.#isWanted[this.#next]) {
        const part = bytes.subarray(from - position, end - position);
        yield { extent, offset: offset + from - this.#start, part };
      }
      if (this.#start + length > until) return;
      this.#start += length;
      piece = this.#pieces[++this.#next];
    }
  }
}

/** Extent files while they are restored: one is open at a time. */
class ExtentFiles {
  readonly #folder: string;
  #extent: number | null = null;
  #file: FileHandle | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(extent: number, offset: number, bytes: Bytes): Promise<void> {
    const file = await this.#open(extent);
    for (let at = 0; at < bytes.length; ) {
      at += (await file.write(bytes, at, bytes.length - at, offset + at)).bytesWritten;
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #open(extent: number): Promise<FileHandle> {
    if (this.#file !== null && this.#extent === extent) return this.#file;
    await this.close();
    const path = join(this.#folder, extentFileName(extent));
    const isThere = (await readdir(this.#folder)).includes(extentFileName(extent));
    this.#file = await open(path, isThere ? "r+" : "w", PRIVATE_FILE_MODE);
    this.#extent = extent;
    return this.#file;
  }
}
