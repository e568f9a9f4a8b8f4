import { statfs } from "node:fs/promises";
import { MIB } from "../../base/limits.ts";
import { StoreError } from "../../store/store.ts";

const EIO = 5;
/** ENOSPC; EDQUOT on Linux and on macOS; ERROR_DISK_FULL on Windows. */
const FULL_CODES = [28, 122, 69, 112];
/** With less free space than this, a short write means a full disk. */
const SPARE_BYTES_MIN = 16 * MIB;

/** Whether a write failed because no space is left in the file system of this folder. */
export async function isDiskFull(error: unknown, folder: string): Promise<boolean> {
  const code = codeOf(error);
  if (FULL_CODES.includes(code)) return true;
  // LMDB reports a short write, the usual sign of a full disk, as an input/output error.
  return code === EIO && (await freeBytes(folder)) < SPARE_BYTES_MIN;
}

/** Free bytes that this process may use; root may also use the blocks reserved for root. */
export async function freeBytes(folder: string): Promise<number> {
  const { bfree, bavail, bsize } = await statfs(folder);
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}

export function fullError(): StoreError {
  return new StoreError("full", "no space is left where the data folder is");
}

/** The error number: lmdb gives it as `code`, Node as a negative `errno`. */
function codeOf(error: unknown): number {
  if (!(error instanceof Error)) return Number.NaN;
  const { code, errno } = error as NodeJS.ErrnoException & { code?: unknown };
  return typeof code === "number" ? code : Math.abs(errno ?? Number.NaN);
}
