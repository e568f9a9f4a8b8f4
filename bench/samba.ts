import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { ensureDebianPackage, isThere } from "./debian-package.ts";
import { ACCOUNT, KEY } from "./shared-key.ts";

/** The share that is measured, in its own folder, independent of the machine's own Samba. */
export const SHARE = "bench";
const SMBD = "/usr/sbin/smbd";
const RETRY_MS = 50;

export interface Samba {
  readonly version: string;
}

/** Returns null if Samba is neither installed nor installable. */
export function findSamba(): Samba | null {
  if (!ensureDebianPackage(SMBD, "samba") || !isThere("smbpasswd")) return null;
  return { version: execFileSync(SMBD, ["--version"], { encoding: "utf8" }).trim() };
}

/**
 * Returns the command of a Samba with the account's name and key, which stores everything in
 * `folder`.
 */
export function sambaCommand(folder: string, port: number): [string, string[]] {
  const settings = join(folder, "smb.conf");
  if (!existsSync(settings)) prepare(folder, port, settings);
  // Runs in its own process group, which it ends when it ends.
  return [SMBD, ["--foreground", "--debug-stdout", `--configfile=${settings}`]];
}

function prepare(folder: string, port: number, settings: string): void {
  const at = (name: string) => join(folder, name);
  for (const name of ["share", "private", "state"]) mkdirSync(at(name));
  const user = userInfo().username;
  // Samba accepts system users only, so the account is mapped to the current user.
  writeFileSync(at("users"), `${user} = ${ACCOUNT}\n`);
  writeFileSync(
    settings,
    `[global]
smb ports = ${port}
interfaces = 127.0.0.1
bind interfaces only = yes
disable netbios = yes
server role = standalone
load printers = no
username map = ${at("users")}
private dir = ${at("private")}
state directory = ${at("state")}
cache directory = ${at("state")}
lock directory = ${at("state")}
pid directory = ${at("state")}
ncalrpc dir = ${at("state")}/ncalrpc
passdb backend = tdbsam
[${SHARE}]
path = ${at("share")}
read only = no
`,
  );
  const password = KEY.toString("base64");
  const args = ["-c", settings, "-s", "-a", user];
  execFileSync("smbpasswd", args, { input: `${password}\n${password}\n`, stdio: "pipe" });
}

/** Waits for the port to open, as Samba does not say when it is ready. */
export async function untilAnswered(port: number, isOver: () => boolean): Promise<void> {
  while (!(await isOpen(port))) {
    if (isOver()) throw new Error("Samba did not start.");
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (isIt: boolean) => {
      socket.destroy();
      resolve(isIt);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}
