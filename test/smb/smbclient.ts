import { execFile } from "node:child_process";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";

/** Why tests with smbclient cannot run here; false if they can. */
export const skipWithoutSmbclient = skipWithoutDebianProgram("smbclient", "smbclient") ?? false;

/** Far more than it needs on a busy machine: it ends one that hangs. */
const RUN_MS_MAX = 10 * 60_000;

export interface Ran {
  readonly code: number;
  /** Its output, on both streams. */
  readonly text: string;
}

/** Runs smbclient as the account's owner, unless `args` name another user. */
export function smbclient(port: number, target: string, ...args: string[]): Promise<Ran> {
  const user = args.includes("-U") || args.includes("-N") ? [] : ["-U", `${ACCOUNT}%${KEY}`];
  const all = [...target.split(" "), "-p", String(port), ...user, ...args];
  return run("smbclient", all);
}

/** Runs a program, whatever its exit code. */
export function run(program: string, args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: RUN_MS_MAX }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, text: `${stdout}${stderr}` });
    });
  });
}

export const setting = (name: string, value: string) => `--option=${name}=${value}`;
