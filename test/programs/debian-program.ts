import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { THIS_HOST } from "./host.ts";

/** With the wait for other test files that install something. */
const INSTALL_MS_MAX = 20 * 60_000;
/** Test files run at the same time, and apt-get refuses to run beside another one. */
const LOCK_FILE = join(tmpdir(), "lazuli-tests-apt-get.lock");
/** How often apt-get is tried while another program, such as an update of the system, holds its lists. */
const TRIES_MAX = 60;
const SECONDS_BETWEEN_TRIES = "5";
/** What apt-get says of locks that `DPkg::Lock::Timeout` does not wait for. */
const IS_LOCKED = /Could not get lock|Unable to lock/;

/**
 * Installs a program from Debian's packages if needed. Returns null if it is available, otherwise
 * the reason to skip the tests that need it.
 */
export function skipWithoutDebianProgram(program: string, debianPackage: string): string | null {
  return skipWithoutDebianPackage(program, debianPackage, `command -v ${program}`);
}

/** Installs packages, with blanks between them; `probe` is a shell command that fails without them. */
export function skipWithoutDebianPackage(
  what: string,
  debianPackages: string,
  probe: string,
  { platform, isRoot } = THIS_HOST,
): string | null {
  if (succeeds(probe)) return null;
  const why = `${what} is not installed`;
  if (platform !== "linux" || !isRoot || !succeeds("command -v apt-get")) {
    return `${why}: install it (Debian package ${debianPackages}), or run the tests as root with apt`;
  }
  const packages = debianPackages.split(" ");
  if (!aptGet("install", ...packages)) {
    aptGet("update");
    aptGet("install", ...packages);
  }
  return succeeds(probe) ? null : `${why}, and apt-get could not install ${debianPackages}`;
}

function succeeds(line: string): boolean {
  return spawnSync("sh", ["-c", line]).status === 0;
}

function aptGet(...args: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const flags = ["-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
  const line = [LOCK_FILE, "apt-get", ...flags, ...args];
  for (let tries = 1; ; tries++) {
    const done = spawnSync("flock", line, { env, timeout: INSTALL_MS_MAX, encoding: "utf8" });
    if (done.status === 0) return true;
    if (!IS_LOCKED.test(done.stderr) || tries === TRIES_MAX) return false;
    spawnSync("sleep", [SECONDS_BETWEEN_TRIES]);
  }
}
