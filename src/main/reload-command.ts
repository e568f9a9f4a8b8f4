import { resolve } from "node:path";
import { askServer } from "./ask-server.ts";
import { chooseRecords, type DataAsked } from "./command-place.ts";
import { type Control, readControl } from "./control-file.ts";
import type { ReloadDone } from "./reload.ts";
import { StartError } from "./start-error.ts";
import type { CommandSurroundings } from "./surroundings.ts";

/** The statuses of the answers to a reload. */
export const RELOADED = 200;
export const REFUSED = 422;

/** Makes the server on a data folder reload, or all front ends that share records. */
export async function reload(
  { location, shared }: DataAsked,
  around: Pick<CommandSurroundings, "schedule" | "out">,
): Promise<void> {
  if (shared === null) return around.out(await reloadServer(location));
  const { reloadFrontEnds } = await import("./reload-front-ends.ts");
  const all = await reloadFrontEnds(chooseRecords(shared), around);
  for (const { frontEnd, line } of all) {
    around.out(`${frontEnd.name} (${frontEnd.address}): ${line}`);
  }
  const failed = all.filter(({ isReloaded }) => !isReloaded).length;
  if (failed > 0) throw new StartError(`${failed} of ${all.length} front ends have not reloaded.`);
}

/** Makes the server on a data folder reload. Returns its line. Throws a `StartError` if it refuses. */
async function reloadServer(location: string): Promise<string> {
  const folder = resolve(location);
  const control = await readControl(folder);
  if (control !== null && control.origin === null) {
    throw new StartError(
      `The server on ${folder} speaks SMB only: send SIGHUP to its process ${control.pid} instead.`,
    );
  }
  const done = control === null ? null : await askToReload(control);
  if (done === null) {
    throw new StartError(
      `No server runs on ${folder}. Give the folder of a running one with --location, or send ` +
        "SIGHUP to its process.",
    );
  }
  if (!done.isReloaded) throw new StartError(done.line);
  return done.line;
}

/** Resolves to null if that server does not run any more. */
export async function askToReload(control: Control): Promise<ReloadDone | null> {
  const answer = await askServer(control, "reload");
  // Another program may listen there by now.
  if (answer === null || (answer.status !== RELOADED && answer.status !== REFUSED)) return null;
  return { isReloaded: answer.status === RELOADED, line: answer.body.toString().trimEnd() };
}
