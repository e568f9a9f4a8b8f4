import { open } from "node:fs/promises";

/** Makes creations, renames and removals in a folder durable. Windows needs no such call. */
export async function syncFolder(
  folder: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  if (platform !== "win32") await sync(folder, "r");
}

export function syncFile(path: string): Promise<void> {
  return sync(path, "r+");
}

async function sync(path: string, flags: "r" | "r+"): Promise<void> {
  const handle = await open(path, flags);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
