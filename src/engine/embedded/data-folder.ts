import { access, constants, mkdir, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkDatabase } from "./database-file.ts";
import { type FolderLock, lockFolder } from "./folder-lock.ts";
import { makePrivate, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from "./private-folder.ts";
import { syncFolder } from "./sync-folder.ts";

/** The version of a data folder's layout. */
const FORMAT = 9;
/** The format of version 0.1.0, which every later version opens: it never rises. */
const FORMAT_OLDEST = 9;
const FORMAT_FILE = "lazuli.json";
const ELSEWHERE = "choose another folder with --location";

/** A data folder, locked for this process until it is released. */
export interface DataFolder {
  readonly storeFolder: string;
  readonly extentsFolder: string;
  /** Sentences about what other users of this machine can still read or replace. */
  readonly openToOthers: readonly string[];
  release(): Promise<void>;
}

const KEPT_LOCK: FolderLock = { async release() {} };

/** A file that is there while a backup is restored to the folder. */
const RESTORE_FILE = "restore-under-way";

/** Makes sure that no server starts on a folder before `endRestore`. */
export async function beginRestore(folder: string): Promise<void> {
  const file = await open(join(folder, RESTORE_FILE), "w", PRIVATE_FILE_MODE);
  await file.close();
  await syncFolder(folder);
}

/** Makes a restored folder an ordinary one. */
export async function endRestore(folder: string): Promise<void> {
  await unlink(join(folder, RESTORE_FILE));
  await syncFolder(folder);
}

export function isHalfRestored(folder: string): Promise<boolean> {
  return isThere(join(folder, RESTORE_FILE));
}

/**
 * Opens a data folder, or makes one. Errors describe the problem in one line. Refuses a folder to
 * which a backup is being restored, unless it is the restore that opens it: a restore passes its
 * lock of the folder, which it keeps.
 */
export async function openDataFolder(
  folder: string,
  ofRestore: FolderLock | null = null,
): Promise<DataFolder> {
  await makeWritable(folder);
  if (ofRestore === null && (await isHalfRestored(folder))) {
    throw new Error(
      `a backup was being restored to ${folder}, and that did not end: run \`lazuli restore\` ` +
        `again, or ${ELSEWHERE}`,
    );
  }
  const lock = ofRestore === null ? await lockFolder(folder) : KEPT_LOCK;
  if (lock === null) {
    throw new Error(`${folder} is in use by another Lazuli: stop that one, or ${ELSEWHERE}`);
  }
  const parts = { storeFolder: join(folder, "store"), extentsFolder: join(folder, "extents") };
  try {
    const format = await readFormat(folder);
    if (format === null) await claim(folder, Object.values(parts));
    else requireFormat(folder, format);
    for (const part of Object.values(parts)) {
      await mkdir(part, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    }
    const openToOthers = await makePrivate(folder, Object.values(parts));
    await checkDatabase(parts.storeFolder, parts.extentsFolder);
    await syncFolder(folder);
    return { ...parts, openToOthers, release: () => lock.release() };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Whether a folder is marked as a data folder of Lazuli. */
export function isDataFolder(folder: string): Promise<boolean> {
  return isThere(join(folder, FORMAT_FILE));
}

async function makeWritable(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    const problem =
      code === "EEXIST" || code === "ENOTDIR"
        ? "is not a folder"
        : `cannot be written to (${code})`;
    throw new Error(`${folder} ${problem}: ${ELSEWHERE}`, { cause: error });
  }
}

/** Makes a folder and its parents. Node's recursive mkdir never returns for a path below /proc. */
async function makeFolder(folder: string): Promise<void> {
  const make = () => mkdir(folder, { mode: PRIVATE_FOLDER_MODE });
  try {
    await make();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    // Windows answers EPERM for the root of a drive.
    if ((code === "EEXIST" || code === "EPERM") && (await isFolder(folder))) return;
    const parent = dirname(folder);
    if (code !== "ENOENT" || parent === folder) throw error;
    await makeFolder(parent);
    await make();
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** The format of a data folder; null if Lazuli never wrote to it. */
async function readFormat(folder: string): Promise<number | null> {
  const path = join(folder, FORMAT_FILE);
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return null;
  const format = /^\{"format":(\d+)\}\s*$/.exec(text)?.[1];
  if (format === undefined) {
    throw new Error(`${path} is damaged: restore it from a copy of the data folder`);
  }
  return Number(format);
}

function requireFormat(folder: string, format: number): void {
  if (format >= FORMAT_OLDEST && format <= FORMAT) return;
  if (format < FORMAT_OLDEST) {
    throw new Error(
      `${folder} was written before version 0.1.0 (format ${format}), this one reads format ` +
        `${FORMAT_OLDEST} and later: copy the data with a client from the one to the other, or ` +
        ELSEWHERE,
    );
  }
  throw new Error(
    `${folder} was written by a newer Lazuli (format ${format}), ` +
      `this one reads up to ${FORMAT}: install a newer version`,
  );
}

/** Marks a folder as ours, before anything else is written to it. */
async function claim(folder: string, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    if (await isThere(part)) {
      throw new Error(`${part} is there already, and Lazuli did not make it: ${ELSEWHERE}`);
    }
  }
  const draft = join(folder, `.${FORMAT_FILE}`);
  const file = await open(draft, "w", PRIVATE_FILE_MODE);
  try {
    await file.writeFile(`{"format":${FORMAT}}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, FORMAT_FILE));
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
