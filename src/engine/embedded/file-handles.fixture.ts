import { type FileHandle, open } from "node:fs/promises";

/** The prototype of all file handles. */
export async function fileHandles(): Promise<FileHandle> {
  const file = await open(process.execPath);
  await file.close();
  return Object.getPrototypeOf(file);
}
