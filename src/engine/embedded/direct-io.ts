import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { alignedBytes, freeAlignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";

/** Syncs with each write, in one call. Other systems lack the flag, or it promises less there. */
export const SYNC_FLAG = process.platform === "linux" ? constants.O_DSYNC : 0;

const TRIAL_FILE = ".direct-io";

/**
 * The open flag for direct I/O in this folder, which is cheaper for bytes that are written once and
 * synced at once; 0 if it does not work here. Direct I/O needs whole pages, at page-aligned
 * positions, in aligned memory.
 */
export async function directIoFlag(folder: string): Promise<number> {
  const flag = constants.O_DIRECT ?? 0;
  if (flag === 0) return 0;
  const path = join(folder, TRIAL_FILE);
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
