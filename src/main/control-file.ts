import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { UrlsByService } from "./connection-string.ts";

/** How commands of the same user reach the server that runs on a data folder. */
export interface Control {
  readonly pid: number;
  /** Null if the server speaks no HTTP: `--services smb`. */
  readonly origin: string | null;
  /** The URLs of the REST services, for clients on this machine. */
  readonly urls: UrlsByService;
  /** Valid until this server stops. */
  readonly token: string;
  /** The absolute path of its configuration file; null if it has none. */
  readonly config: string | null;
}

const NAME = "control.json";
const PRIVATE_FILE_MODE = 0o600;
const TOKEN_BYTES = 32;

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/** Writes the file that only the server's user can read. */
export async function writeControl(folder: string, control: Control): Promise<void> {
  const draft = join(folder, `.${NAME}`);
  // The mode of a file that is already there would stay.
  await rm(draft, { force: true });
  const file = await open(draft, "wx", PRIVATE_FILE_MODE);
  try {
    await file.writeFile(`${JSON.stringify(control)}\n`);
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, NAME));
}

/** Returns null if no server has left the file there. */
export async function readControl(folder: string): Promise<Control | null> {
  try {
    return JSON.parse(await readFile(join(folder, NAME), "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") {
      return null;
    }
    throw error;
  }
}

export async function removeControl(folder: string): Promise<void> {
  await rm(join(folder, NAME), { force: true });
}
