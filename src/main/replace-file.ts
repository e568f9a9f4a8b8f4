import { randomBytes } from "node:crypto";
import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { StartError } from "./start-error.ts";

const PRIVATE_FILE_MODE = 0o600;
const MODE_BITS = 0o7777;

/** Reads a file; null if it does not exist. Throws a `StartError`. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new StartError(`${path} cannot be read (${(error as Error).message}). Check the path.`);
  }
}

/**
 * Replaces a text file in one step: every reader sees the old text or the new one. Mode and owner
 * stay; a new file is private. `before` is the text on which the change rests, null for no file; a
 * file that others have changed since is left alone. Null as `text` removes the file.
 */
export async function replaceFile(
  path: string,
  before: string | null,
  text: string | null,
): Promise<void> {
  // A symbolic link stays, and the file behind it changes.
  const target = await realpath(path).catch(() => path);
  if ((await readIfThere(target)) !== before) {
    throw new StartError(`${path} was changed by another program meanwhile. Try again.`);
  }
  const draft = join(dirname(target), `.${basename(target)}-${randomBytes(8).toString("hex")}`);
  try {
    if (text === null) return await rm(target);
    await writeDraft(draft, text, await stat(target).catch(() => null));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    const reason = (error as Error).message;
    throw new StartError(
      `${path} cannot be replaced (${reason}). Run this as the owner of the file, in a folder ` +
        "that it may write to.",
    );
  }
}

async function writeDraft(
  draft: string,
  text: string,
  like: { mode: number; uid: number; gid: number } | null,
): Promise<void> {
  const file = await open(draft, "wx", PRIVATE_FILE_MODE);
  try {
    await file.writeFile(text);
    if (like !== null) {
      const own = await file.stat();
      if (own.uid !== like.uid || own.gid !== like.gid) await file.chown(like.uid, like.gid);
      await file.chmod(like.mode & MODE_BITS);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
