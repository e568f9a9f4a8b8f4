import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { THIS_HOST } from "../programs/host.ts";
import { startOn } from "./stored-data.ts";

const COMPILER = "gcc";
const SOURCE = fileURLToPath(new URL("../../../test/command/fail-once.c", import.meta.url));

/** Returns why calls of a process cannot be made to fail here; null if they can. */
export function skipWithoutFailures({ platform } = THIS_HOST): string | null {
  if (platform !== "linux") return "calls are made to fail with LD_PRELOAD, on Linux";
  return skipWithoutDebianProgram(COMPILER, "gcc");
}

/** Compiles `fail-once.c` into this folder. */
export function compileFailures(folder: string): string {
  const library = join(folder, "fail-once.so");
  execFileSync(COMPILER, ["-shared", "-fPIC", "-O1", "-w", "-o", library, SOURCE, "-ldl"]);
  return library;
}

export interface FailedStart {
  /** False if the first start made fewer calls. */
  readonly hasFailed: boolean;
  /** Whether the next start works. */
  readonly isServed: boolean;
  readonly log: string;
}

/**
 * Starts the server on a new folder with one failing call, then again without. `path` is part of
 * the path of the files whose calls count.
 */
export async function startAfterFailure(
  library: string,
  location: string,
  failure: { readonly path: string; readonly at: number; readonly errno: number },
): Promise<FailedStart> {
  const mark = `${location}.failed`;
  const first = startOn(location, {
    LD_PRELOAD: library,
    FAIL_PATH: failure.path,
    FAIL_AT: `${failure.at}`,
    FAIL_ERRNO: `${failure.errno}`,
    FAIL_MARK: mark,
  });
  await first.firstLine().catch(() => {});
  await first.kill();
  const { err } = await first.ended();
  const second = startOn(location);
  const isServed = await second.firstLine().then(
    () => true,
    () => false,
  );
  await second.kill();
  const log = `first: ${err}second: ${(await second.ended()).err}`;
  return { hasFailed: existsSync(mark), isServed, log };
}
