import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import type { Origin } from "../../content/extent-origins.ts";
import { type FolderLock, isLockFile, lockFolder } from "../../engine/embedded/folder-lock.ts";
import { syncFolder } from "../../engine/embedded/sync-folder.ts";
import { DamageFound, StartError } from "../start-error.ts";

/** The version of the layout, in the file that marks the folder as a place of backups. */
const FORMAT = 1;
const MARK = "lazuli-backups.json";
const FOLDERS = ["backups", "records", "packs"] as const;
const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;
/** A file with such a name is not whole, and nothing names it. */
const DRAFT = ".draft";

/** What a backup consists of. Files are named after the SHA-256 of their bytes. */
export interface Manifest {
  readonly name: string;
  /** The version of Lazuli that wrote it. */
  readonly version: string;
  readonly startedMs: number;
  readonly endedMs: number;
  /** Later than all stamps in the records. */
  readonly stamp: string;
  readonly origins: readonly Origin[];
  /** Files of records. Those of a later pass replace records of an earlier one. */
  readonly passes: readonly (readonly string[])[];
  readonly packs: readonly string[];
  /** Where its data was; absent in backups of early versions. */
  readonly location?: string;
  /** What packs have of a piece; absent for "disk". */
  readonly form?: "disk" | "plain";
  readonly records: number;
  readonly recordBytes: number;
  /** Bytes of large bodies. */
  readonly pieces: number;
  readonly pieceBytes: number;
}

/** The data that a backup is of: that of a data folder, until it is restored elsewhere. */
export function dataOf({ origins }: Manifest): string | undefined {
  return origins.at(-1)?.id;
}

/** A folder with backups. Files in it never change; a backup counts once its manifest is there. */
export class BackupPlace {
  readonly folder: string;
  readonly #lock: FolderLock | null;

  private constructor(folder: string, lock: FolderLock | null) {
    this.folder = folder;
    this.#lock = lock;
  }

  /** Opens a place to write to, and makes it if it is missing. Throws a `StartError`. */
  static async toWrite(path: string): Promise<BackupPlace> {
    const folder = resolve(path);
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE }).catch((error) => {
      throw new StartError(`${folder} cannot be made (${error.code}): choose another place.`);
    });
    await access(folder, constants.W_OK).catch((error) => {
      throw new StartError(`${folder} cannot be written to (${error.code}): choose another place.`);
    });
    await new BackupPlace(folder, null).#requireOwn();
    const lock = await lockFolder(folder);
    if (lock === null) {
      throw new StartError(`Another backup to ${folder} is under way: wait until it has ended.`);
    }
    const place = new BackupPlace(folder, lock);
    try {
      if (!(await place.#hasMark())) await place.#claim();
      for (const part of FOLDERS) {
        await mkdir(join(folder, part), { recursive: true, mode: PRIVATE_FOLDER_MODE });
      }
      await syncFolder(folder);
      return place;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Opens a place that has backups. Throws a `StartError`. */
  static async toRead(path: string): Promise<BackupPlace> {
    const place = new BackupPlace(resolve(path), null);
    if (await place.#hasMark()) return place;
    throw new StartError(`${place.folder} has no backups of Lazuli: name the place of a backup.`);
  }

  async close(): Promise<void> {
    await this.#lock?.release();
  }

  /** The names of all complete backups, oldest first. */
  async names(): Promise<string[]> {
    const files = await readdir(join(this.folder, "backups"));
    const isOne = (file: string) => file.endsWith(".json");
    return files
      .filter(isOne)
      .map((file) => file.slice(0, -".json".length))
      .sort();
  }

  /** False once a backup has been removed. Its manifest goes first, and its files after that. */
  async has(name: string): Promise<boolean> {
    return (await this.names()).includes(name);
  }

  async readManifest(name: string): Promise<Manifest> {
    const path = this.#pathOf("backups", `${name}.json`);
    const text = await readFile(path, "utf8").catch(() => {
      throw new StartError(`${this.folder} has no backup ${name}.`);
    });
    const [body = "", sum = ""] = text.split("\n");
    if (digestOf(Buffer.from(body)) !== sum) {
      throw new DamageFound(`${path} is damaged: restore another backup.`);
    }
    return JSON.parse(body);
  }

  /** Makes a backup count, as the last step of it. */
  async writeManifest(manifest: Manifest): Promise<void> {
    const body = JSON.stringify(manifest);
    const text = Buffer.from(`${body}\n${digestOf(Buffer.from(body))}\n`);
    await this.#write("backups", `${manifest.name}.json`, text);
    await syncFolder(join(this.folder, "backups"));
  }

  async removeManifest(name: string): Promise<void> {
    await rm(this.#pathOf("backups", `${name}.json`), { force: true });
    await syncFolder(join(this.folder, "backups"));
  }

  /**
   * Writes bytes unless they are there already. What is there is read: a damaged file of an earlier
   * backup is written again, which mends that backup, too. Returns the name, and whether it wrote.
   */
  async writeOnce(bytes: Bytes): Promise<{ name: string; isNew: boolean }> {
    const name = digestOf(bytes);
    const found = await readFile(this.#pathOf("records", name)).catch(() => null);
    const isNew = found?.equals(bytes) !== true;
    if (isNew) await this.#write("records", name, bytes);
    return { name, isNew };
  }

  /** Reads a file of records. Throws if it is damaged. */
  async readRecords(name: string): Promise<Bytes> {
    const path = this.#pathOf("records", name);
    const bytes = await readFile(path).catch((error) => {
      throw unreadable(path, error);
    });
    if (digestOf(bytes) !== name) throw damaged(path);
    return bytes;
  }

  /** The path of a pack; of its draft while it has no name. */
  packPath(name: string | null): string {
    return this.#pathOf("packs", name ?? DRAFT);
  }

  /** Makes all files durable by their names, before a manifest names them. */
  async sync(): Promise<void> {
    for (const part of FOLDERS) await syncFolder(join(this.folder, part));
  }

  /** Removes the files that no backup of these names: those of interrupted and removed ones. */
  async removeAllBut(manifests: readonly Manifest[]): Promise<void> {
    const named = new Set(manifests.flatMap(({ passes, packs }) => [...passes.flat(), ...packs]));
    for (const part of ["records", "packs"]) {
      for (const file of await readdir(join(this.folder, part))) {
        if (!named.has(file)) await rm(join(this.folder, part, file), { force: true });
      }
    }
    const drafts = (await readdir(join(this.folder, "backups"))).filter((at) => at.endsWith(DRAFT));
    for (const file of drafts) await rm(join(this.folder, "backups", file), { force: true });
  }

  async #write(part: (typeof FOLDERS)[number], name: string, bytes: Bytes): Promise<void> {
    const path = this.#pathOf(part, name);
    const file = await open(path + DRAFT, "w", PRIVATE_FILE_MODE);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(path + DRAFT, path);
  }

  async #hasMark(): Promise<boolean> {
    const text = await readFile(join(this.folder, MARK), "utf8").catch(() => null);
    if (text === null) return false;
    if (text.trim() === JSON.stringify({ format: FORMAT })) return true;
    throw new StartError(`${this.folder} was written by a newer Lazuli: install a newer version.`);
  }

  /** Throws unless the folder is empty, or has backups. */
  async #requireOwn(): Promise<void> {
    if (await this.#hasMark()) return;
    const others = (await readdir(this.folder)).filter((name) => !isLockFile(name));
    if (others.length === 0) return;
    throw new StartError(
      `${this.folder} is not empty, and has no backups: choose a folder for backups alone.`,
    );
  }

  async #claim(): Promise<void> {
    const file = await open(join(this.folder, MARK), "w", PRIVATE_FILE_MODE);
    try {
      await file.writeFile(`${JSON.stringify({ format: FORMAT })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #pathOf(part: (typeof FOLDERS)[number], name: string): string {
    return join(this.folder, part, name);
  }
}

export function damaged(path: string): DamageFound {
  return new DamageFound(
    `${path} is damaged or missing: restore an earlier backup, or from a copy.`,
  );
}

/** Why a file of a backup cannot be read: a missing one is damage, another error may pass. */
export function unreadable(path: string, { code }: NodeJS.ErrnoException): StartError {
  if (code === "ENOENT") return damaged(path);
  return new StartError(`${path} cannot be read (${code}): make it readable, then try again.`);
}

export function digestOf(bytes: Bytes): string {
  return createHash("sha256").update(bytes).digest("hex");
}
