import { constants, write } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { alignedBytes } from "../../machine/aligned-bytes.ts";
import { directIoFlag, SYNC_FLAG } from "./direct-io.ts";
import { syncFolder } from "./sync-folder.ts";
import type { FoundWalFile } from "./wal-check.ts";

export const LOG_FILE_NAMES = ["log-0", "log-1"] as const;
/** What a new file has room for. It grows when that is not enough, and stays as it is. */
const FIRST_BYTES = MIB;
const ZEROS = alignedBytes(MIB);

/** Room on the disk that is written to from its beginning, again and again. */
export interface WalFile {
  /** Up to here writing needs no new space, and cannot fail for want of it. */
  readonly capacity: number;
  /** Resolves once the bytes, whole pages of them in aligned memory, are on the disk. */
  write(bytes: Bytes, position: number): Promise<void>;
  /** Makes room for so many bytes in all. */
  append(bytes: number): Promise<void>;
  close(): Promise<void>;
}

/** The two files of a store, before anything is done to them. */
export interface WalFiles {
  readonly found: readonly [FoundWalFile, FoundWalFile];
  /** Opens them to be written to, and makes those that are missing. */
  open(): Promise<readonly [WalFile, WalFile]>;
}

/** Reads the files and changes nothing, so that damage is still there to be looked at. */
export async function findWalFiles(folder: string): Promise<WalFiles> {
  const [first, second] = LOG_FILE_NAMES.map((name) => join(folder, name)) as [string, string];
  return {
    found: [await findOne(first), await findOne(second)],
    open: () => openLogFiles(folder, first, second),
  };
}

async function findOne(path: string): Promise<FoundWalFile> {
  try {
    return { path, bytes: await readFile(path), problem: null };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : String(error);
    const problem = code === "ENOENT" ? "is missing" : `cannot be read (${code})`;
    return { path, bytes: null, problem };
  }
}

async function openLogFiles(
  folder: string,
  first: string,
  second: string,
): Promise<readonly [WalFile, WalFile]> {
  const flags = constants.O_RDWR | constants.O_CREAT | SYNC_FLAG | (await directIoFlag(folder));
  const files = [await openOne(first, flags), await openOne(second, flags)] as const;
  // The files are synced as they are written, but not the folder that names them.
  await syncFolder(folder);
  return files;
}

async function openOne(path: string, flags: number): Promise<WalFile> {
  const handle = await open(path, flags, 0o600);
  const file = new RealLogFile(handle, (await handle.stat()).size);
  if (file.capacity < FIRST_BYTES) await file.append(FIRST_BYTES);
  return file;
}

class RealLogFile implements WalFile {
  readonly #handle: FileHandle;
  #capacity: number;

  constructor(handle: FileHandle, capacity: number) {
    this.#handle = handle;
    this.#capacity = capacity;
  }

  get capacity(): number {
    return this.#capacity;
  }

  async write(bytes: Bytes, position: number): Promise<void> {
    await this.#writeAll(bytes, position);
    if (SYNC_FLAG === 0) await this.#handle.datasync();
  }

  /** With a callback: a promise of the handle's takes several times as long on this thread. */
  #writeAll(bytes: Bytes, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      write(this.#handle.fd, bytes, 0, bytes.length, position, (error, written) => {
        if (error !== null) reject(error);
        else if (written === bytes.length) resolve();
        else reject(new Error("the disk did not take all of a group"));
      });
    });
  }

  /** With zeros: space that was merely set aside would have to be noted when it is written to. */
  async append(bytes: number): Promise<void> {
    while (this.#capacity < bytes) {
      await this.write(ZEROS, this.#capacity);
      this.#capacity += ZEROS.length;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
