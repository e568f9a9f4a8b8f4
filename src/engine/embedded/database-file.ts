import { type FileHandle, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { readMeta } from "./meta-pages.ts";
import { LOG_FILE_NAMES } from "./wal-file.ts";

/** Where LMDB keeps its records. */
export const DATABASE_FILE = "data.mdb";
/** Keys of `KEY_BYTES_MAX` need pages of at least this size. It cannot be changed later. */
export const DATABASE_PAGE_BYTES = 8_192;
/** What is no longer has no record in it. */
const FIRST_BYTES = 2 * DATABASE_PAGE_BYTES;

/**
 * LMDB takes a file that is missing or empty for a new database, and what is wrong in one brings the
 * process down without a word: hence this look before it. Throws if records are lost, with what to do.
 */
export async function checkDatabase(storeFolder: string, extentsFolder: string): Promise<void> {
  const path = join(storeFolder, DATABASE_FILE);
  const size = await sizeOf(path);
  const problem = size === null ? "is missing" : await problemOf(path, size);
  if (problem === null) return;
  // Log and extents are made when the database is on the disk. Before that nothing can be lost.
  const isUsed = (await hasLog(storeFolder)) || (await namesIn(extentsFolder)).length > 0;
  if (isUsed || (size ?? 0) > FIRST_BYTES) throw lostRecords(path, problem);
  if (size !== null) await unlink(path);
}

export function lostRecords(path: string, problem: string): Error {
  const advice = "restore the data folder from a backup, or choose another one with --location";
  return new Error(`${path} ${problem}: ${advice}`);
}

async function problemOf(path: string, size: number): Promise<string | null> {
  if (size === 0) return "is empty";
  const file = await open(path, "r+");
  try {
    return await problemIn(file, size);
  } finally {
    await file.close();
  }
}

async function problemIn(file: FileHandle, size: number): Promise<string | null> {
  const meta = await readMeta(file);
  if (meta === null) return "is damaged";
  const wholeBytes = (meta.lastPage + 1) * meta.pageBytes;
  if (size >= wholeBytes) return null;
  if (size < meta.usedPages * meta.pageBytes) return "is cut short";
  // The last pages may be free, and were never written then. If they are not, LMDB comes upon zeros,
  // which it refuses, and not upon the end of the file, where the system would end the process.
  await file.truncate(wholeBytes);
  return null;
}

async function hasLog(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return LOG_FILE_NAMES.some((name) => names.includes(name));
}

/** Without what was merely tried out. */
async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith("."));
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
