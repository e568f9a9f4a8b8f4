import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ADMIN_BODY_BYTES_MAX } from "../../front/rest/http/admin.ts";
import { ProgressBar } from "../progress-bar.ts";
import { runServerTask } from "../server-task.ts";
import { StartError, UsageError } from "../start-error.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import type { SeedDone, SeedProgress } from "./apply-seed.ts";
import type { SeedSource } from "./seed-document.ts";

export interface SeedAsked {
  readonly location: string;
  readonly file: string;
  readonly json: boolean;
}

/** Makes a running server have what a seed says. Throws a `StartError`. */
export async function seedServer(asked: SeedAsked, around: CommandSurroundings): Promise<void> {
  const source = await readSeedFile(asked.file);
  requireSendable(source, asked.file);
  const options = { clock: around.clock, total: null, noun: "objects", json: asked.json };
  const bar = new ProgressBar(around.progress, options);
  const onProgress = ({ total, ...done }: SeedProgress) => {
    bar.expect(total);
    bar.show(done);
  };
  const done = await runServerTask<SeedProgress, SeedDone>(
    asked.location,
    "seed",
    source,
    onProgress,
  ).finally(() => bar.end());
  if (done === null) {
    throw new StartError(
      `No server runs on ${resolve(asked.location)}. Start it with --seed ${asked.file}, or give the ` +
        "folder of a running one with --location.",
    );
  }
  around.out(asked.json ? JSON.stringify(done.result) : lineOf(asked.file, done.result));
}

/** The server takes a seed as one request. */
function requireSendable(source: SeedSource, file: string): void {
  if (Buffer.byteLength(JSON.stringify({ begin: source })) <= ADMIN_BODY_BYTES_MAX) return;
  throw new StartError(
    `${file} is too large for a running server, which takes 1 MiB: apply it in parts, or start the ` +
      `server with --seed ${file}.`,
  );
}

export function lineOf(file: string, { changed, objects }: SeedDone): string {
  const what = changed === 0 ? "nothing has changed" : `${changed} were made or changed`;
  return `${file}: of ${objects} objects, ${what}.`;
}

/** Throws a `UsageError` if the file cannot be read. */
export async function readSeedFile(file: string): Promise<SeedSource> {
  try {
    return { name: file, text: await readFile(file, "utf8"), folder: dirname(resolve(file)) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`The seed ${file} cannot be read (${code}): check its path.`);
  }
}
