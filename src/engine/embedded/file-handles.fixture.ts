import { type FileHandle, open } from "node:fs/promises";

/** What all file handles have in common. */
export async function fileHandles(): Promise<FileHandle> {
  const file = await open(process.execPath);
  await file.close();
  return Object.getPrototypeOf(file);
}
