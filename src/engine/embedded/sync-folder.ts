import { open } from "node:fs/promises";

/** Makes what was created, renamed or removed in a folder last. Windows does so by itself. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
