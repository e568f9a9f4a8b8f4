import { type FileHandle, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { readMeta } from "./meta-pages.ts";
import { WAL_FILE_NAMES } from "./wal-file.ts";

/** The name of LMDB's file. */
export const DATABASE_FILE = "data.mdb";
/** Keys of `KEY_BYTES_MAX` need pages of at least this size. It cannot be changed later. */
export const DATABASE_PAGE_BYTES = 8_192;
/** A file no longer than its two meta pages is empty. */
const FIRST_BYTES = 2 * DATABASE_PAGE_BYTES;

/**
 * Checks LMDB's file before LMDB opens it, because LMDB treats a missing or empty file as a new
 * database, and crashes on a damaged one. Throws if records are lost, and says what to do.
 */
export async function checkDatabase(storeFolder: string, extentsFolder: string): Promise<void> {
  const path = join(storeFolder, DATABASE_FILE);
  const size = await sizeOf(path);
  const problem = size === null ? "is missing" : await problemOf(path, size);
  if (problem === null) return;
  // WAL and extents are made once the database is on the disk. Without them nothing can be lost.
  const isUsed = (await hasWal(storeFolder)) || (await namesIn(extentsFolder)).length > 0;
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
  // The last pages may be free and never written. Extend the file, so that LMDB reads zeros, which
  // it refuses, and not past the end of the file, where the system would kill the process.
  await file.truncate(wholeBytes);
  return null;
}

async function hasWal(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return WAL_FILE_NAMES.some((name) => names.includes(name));
}

/** File names, without drafts and trial files, which begin with a dot. */
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
