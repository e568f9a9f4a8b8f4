import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { alignedBytes, freeAlignedBytes, PAGE_BYTES } from "./aligned-bytes.ts";

/** Syncs with each write, in one call. 0 where a sync must follow each write. */
export const SYNC_FLAG = syncFlagOn(process.platform);

/** Other systems than Linux lack the flag, or it promises less there. */
export function syncFlagOn(platform: NodeJS.Platform): number {
  return platform === "linux" ? constants.O_DSYNC : 0;
}

const TRIAL_FILE = ".direct-io";

/** The system's flag for direct I/O. 0 on macOS and Windows, which have none. */
const DIRECT_FLAG = constants.O_DIRECT ?? 0;

/**
 * The open flag for direct I/O in this folder, which is cheaper for bytes that are written once and
 * synced at once; 0 if it does not work here. Direct I/O needs whole pages, at page-aligned
 * positions, in aligned memory.
 */
export function directIoFlag(folder: string, flag = DIRECT_FLAG): Promise<number> {
  return directIoFlagAt(join(folder, TRIAL_FILE), flag);
}

/** The same for a file of this path, which is made for the trial, and removed again. */
export async function directIoFlagAt(path: string, flag = DIRECT_FLAG): Promise<number> {
  if (flag === 0) return 0;
  const page = alignedBytes(PAGE_BYTES);
  const made = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC;
  try {
    const file = await open(path, made | flag, 0o600);
    try {
      const { bytesWritten } = await file.write(page, 0, PAGE_BYTES, 0);
      const { bytesRead } = await file.read(page, 0, PAGE_BYTES, 0);
      return bytesWritten === PAGE_BYTES && bytesRead === PAGE_BYTES ? flag : 0;
    } finally {
      await file.close();
    }
  } catch {
    // Some file systems refuse the flag, others the first write. A full disk is reported later.
    return 0;
  } finally {
    freeAlignedBytes(page);
    await unlink(path).catch(() => {});
  }
}

/**
 * A sentence for the operator of a system that has direct I/O, if the file system refused it; else
 * null. `used` is the flag that `directIoFlag` found to work.
 */
export function directIoNote(folder: string, used: number, flag = DIRECT_FLAG): string | null {
  if (used === flag) return null;
  return (
    `The file system of ${folder} has no direct I/O: large bodies go through the page cache, which ` +
    "takes memory and processor time. They are as safe. Choose a folder on ext4 or XFS with " +
    "--location if speed matters."
  );
}
