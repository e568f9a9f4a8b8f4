import { open, unlink } from "node:fs/promises";
import { MIB } from "../../base/limits.ts";

const STEP_BYTES = 4 * MIB;

/**
 * Removes a file bit by bit, from its end. If a large one goes at once, whoever syncs anything
 * meanwhile waits until all of its space is free.
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
