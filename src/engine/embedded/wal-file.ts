import { constants, write } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { zeroedBytes } from "../../machine/clear-memory.ts";
import { directIoFlag, SYNC_FLAG } from "../../machine/direct-io.ts";
import { syncFolder } from "./sync-folder.ts";
import { writeParts } from "./write-parts.ts";

export const WAL_FILE_NAMES = ["log-0", "log-1"] as const;
/** The capacity of a new file. A file grows in such steps when needed and never shrinks. */
const STEP_BYTES = MIB;

/** A file of the WAL: preallocated space that is overwritten from its beginning. */
export interface WalFile {
  /** Allocated bytes: a write within them cannot fail for lack of space. */
  readonly capacity: number;
  /** Writes whole pages from aligned memory. Resolves once they are durable. */
  write(bytes: Bytes, position: number): Promise<void>;
  /** Allocates until the capacity is at least this. */
  growTo(bytes: number): Promise<void>;
  close(): Promise<void>;
}

/** A file of the write-ahead log, as found at the start. */
export interface FoundWalFile {
  readonly path: string;
  /** Null if it cannot be read; `problem` says why. */
  readonly bytes: Bytes | null;
  readonly problem: string | null;
}

/** The two WAL files of a store as they are found, before they are opened. */
export interface WalFiles {
  readonly found: readonly [FoundWalFile, FoundWalFile];
  /** Opens the files for writing, and creates missing ones. */
  open(): Promise<readonly [WalFile, WalFile]>;
}

/** Reads the files and changes nothing, so that damage can still be examined. */
export async function findWalFiles(folder: string, syncFlag = SYNC_FLAG): Promise<WalFiles> {
  const [first, second] = WAL_FILE_NAMES.map((name) => join(folder, name)) as [string, string];
  return {
    found: await Promise.all([findOne(first), findOne(second)]),
    open: () => openWalFiles(folder, [first, second], syncFlag),
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

async function openWalFiles(
  folder: string,
  [first, second]: readonly [string, string],
  syncFlag: number,
): Promise<readonly [WalFile, WalFile]> {
  const direct = await directIoFlag(folder);
  const openOne = (path: string) => DiskWalFile.open(path, direct, syncFlag);
  const files = [await openOne(first), await openOne(second)] as const;
  // Every write syncs its file, but nothing else syncs the folder that names the files.
  await syncFolder(folder);
  return files;
}

/** The capacity of a file after it has grown to at least `bytes`, in whole steps. */
export function capacityAfterGrowth(capacity: number, bytes: number): number {
  return capacity + Math.ceil(Math.max(0, bytes - capacity) / STEP_BYTES) * STEP_BYTES;
}

/** All stores write from it, and none writes to it. Made at the first use. */
let zeros: Bytes | null = null;

class DiskWalFile implements WalFile {
  readonly #handle: FileHandle;
  /** Whether a sync must follow each write. */
  readonly #syncs: boolean;
  #capacity: number;

  private constructor(handle: FileHandle, capacity: number, syncs: boolean) {
    this.#handle = handle;
    this.#capacity = capacity;
    this.#syncs = syncs;
  }

  static async open(path: string, directFlag: number, syncFlag: number): Promise<WalFile> {
    const flags = constants.O_RDWR | constants.O_CREAT | syncFlag | directFlag;
    const handle = await open(path, flags, 0o600);
    const file = new DiskWalFile(handle, (await handle.stat()).size, syncFlag === 0);
    if (file.capacity < STEP_BYTES) await file.growTo(STEP_BYTES);
    return file;
  }

  get capacity(): number {
    return this.#capacity;
  }

  async write(bytes: Bytes, position: number): Promise<void> {
    await this.#writeAll(bytes, position);
    if (this.#syncs) await this.#handle.datasync();
  }

  /** Uses the callback API: the handle's promise costs this thread several times as much. */
  #writeAll(bytes: Bytes, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      write(this.#handle.fd, bytes, 0, bytes.length, position, (error, written) => {
        if (error !== null) reject(error);
        else if (written === bytes.length) resolve();
        // A disk with too little space takes a part first. Only the next call says that it is full.
        else resolve(writeParts(this.#handle.fd, [bytes.subarray(written)], position + written));
      });
    });
  }

  /** Writes zeros: merely reserved space would cost a metadata update at its first write. */
  async growTo(bytes: number): Promise<void> {
    zeros ??= zeroedBytes(STEP_BYTES);
    const capacity = capacityAfterGrowth(this.#capacity, bytes);
    while (this.#capacity < capacity) {
      await this.write(zeros, this.#capacity);
      this.#capacity += zeros.length;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
