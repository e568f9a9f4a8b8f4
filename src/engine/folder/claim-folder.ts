import { randomUUID } from "node:crypto";
import { access, constants, link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const MARK = "lazuli-cluster";
/** What marks the data folder of a server that shares nothing. */
const DATA_FOLDER_MARK = "lazuli.json";

/**
 * Makes a folder for the bytes of a cluster, or checks that it has the bytes of this one: records
 * and bytes of different clusters do not fit together. `choose` gets the folder's id, and resolves
 * to the id of the folder that was chosen first. Errors say in one line what to do.
 */
export async function claimFolder(
  folder: string,
  cluster: string,
  choose: (id: string) => Promise<string>,
): Promise<void> {
  await makeWritable(folder);
  if ((await textOf(join(folder, DATA_FOLDER_MARK))) !== null) {
    throw new Error(
      `${folder} is the data folder of a server without --records: choose another with --bytes`,
    );
  }
  const path = join(folder, MARK);
  await writeIfAbsent(path, `${cluster} ${randomUUID()}\n`);
  const [owner, id = ""] = (await textOf(path))?.trim().split(" ") ?? [];
  if (owner !== cluster) {
    throw new Error(
      `${folder} belongs to another cluster than the database of --records: choose another with ` +
        "--bytes, which all of its front ends use",
    );
  }
  if ((await choose(id)) === id) return;
  throw new Error(
    `${folder} does not have the bytes of these records: give the folder that the other front ends ` +
      "of this database use, or another database or schema",
  );
}

/** Rejects if the folder of a cluster cannot be used now: it may be on another machine. */
export async function probeFolder(folder: string): Promise<void> {
  await access(join(folder, MARK), constants.R_OK);
}

async function makeWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`${folder} cannot be written to (${reason}): choose another with --bytes`);
  }
}

/**
 * Writes a file, unless another front end was first. Both find a whole file: a link appears with all
 * of its bytes, while a file that is opened for writing is empty at first.
 */
async function writeIfAbsent(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomUUID()}`;
  await writeFile(unfinished, text, { mode: 0o600, flush: true });
  try {
    await link(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(unfinished);
  }
}

/** Null if there is no such file. */
async function textOf(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}
