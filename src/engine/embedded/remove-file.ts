import { open, unlink } from "node:fs/promises";
import { MIB } from "../../base/limits.ts";

const STEP_BYTES = 4 * MIB;

/**
 * Removes a file in small steps, from its end. Removing a large file in one step blocks every sync
 * on the file system until its space is free.
 */
export async function removeFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const { size } = await file.stat();
    for (let left = size - STEP_BYTES; left > 0; left -= STEP_BYTES) await file.truncate(left);
  } finally {
    await file.close();
  }
  await unlink(path);
}
