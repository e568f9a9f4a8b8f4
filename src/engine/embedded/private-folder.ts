import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Modes of files and folders that only the server's user may access. */
export const PRIVATE_FILE_MODE = 0o600;
export const PRIVATE_FOLDER_MODE = 0o700;

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/** Names that we put into a data folder ourselves. */
const OURS = /^(?:\.?(?:lazuli|control)\.json|store|extents|\.?lock(?:-[0-9a-f]{16})?)$/;

/**
 * Closes a data folder to other users of this machine, in case it was copied or made by hand.
 * Returns a sentence for each folder that stays open, with the reason and what to do. Windows has
 * no modes.
 */
export async function makePrivate(
  folder: string,
  parts: readonly string[],
  platform: NodeJS.Platform = process.platform,
): Promise<string[]> {
  if (platform === "win32") return [];
  const open: string[] = [];
  for (const part of parts) {
    try {
      // File modes matter only if the folder was open until now.
      if (await closeFolder(part)) await closeFilesIn(part);
    } catch (error) {
      open.push(staysOpen(part, `its mode cannot be changed (${(error as Error).message})`));
    }
  }
  const problem = await closeTop(folder);
  return problem === null ? open : [...open, problem];
}

/** Closes the data folder itself, unless it holds files of others. Returns the problem, if any. */
async function closeTop(folder: string): Promise<string | null> {
  const { mode } = await stat(folder);
  if ((mode & OTHERS) === 0) return null;
  if ((await readdir(folder)).every((name) => OURS.test(name))) {
    try {
      await closeFolder(folder);
      return null;
    } catch (error) {
      return staysOpen(folder, `its mode cannot be changed (${(error as Error).message})`);
    }
  }
  // Our folders in it are private, but a user who can write to it can replace them.
  return (mode & OTHERS_WRITE) === 0 ? null : staysOpen(folder, "it holds other files as well");
}

/** Makes a folder private. True if it was open to others until now. */
async function closeFolder(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & OTHERS) === 0) return false;
  await chmod(folder, PRIVATE_FOLDER_MODE);
  return true;
}

async function closeFilesIn(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile()) await chmod(join(folder, entry.name), PRIVATE_FILE_MODE);
  }
}

function staysOpen(folder: string, reason: string): string {
  return (
    `${folder} stays open to other users of this machine because ${reason}. ` +
    `Run chmod 700 on it as its owner, or choose another folder with --location.`
  );
}
