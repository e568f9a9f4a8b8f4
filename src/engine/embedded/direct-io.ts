import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";

/** Linux syncs with each write, in one call. Elsewhere such a flag is missing or promises less. */
export const SYNC_FLAG = process.platform === "linux" ? constants.O_DSYNC : 0;

const TRIAL_FILE = ".direct-io";

/**
 * The flag that opens files of this folder past the system's cache: bytes that are written once and
 * synced at once cost less that way. 0 where that does not work. Who uses it writes and reads whole
 * pages, at multiples of a page, from and into aligned memory.
 */
export async function directIoFlag(folder: string): Promise<number> {
  const flag = constants.O_DIRECT ?? 0;
  if (flag === 0) return 0;
  const path = join(folder, TRIAL_FILE);
  const made = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC;
  try {
    const file = await open(path, made | flag, 0o600);
    try {
      const { bytesWritten } = await file.write(trialPage, 0, PAGE_BYTES, 0);
      const { bytesRead } = await file.read(trialPage, 0, PAGE_BYTES, 0);
      return bytesWritten === PAGE_BYTES && bytesRead === PAGE_BYTES ? flag : 0;
    } finally {
      await file.close();
    }
  } catch {
    // Some file systems refuse the flag, others the first write; a full disk says so again later.
    return 0;
  } finally {
    await unlink(path).catch(() => {});
  }
}

const trialPage = alignedBytes(PAGE_BYTES);
