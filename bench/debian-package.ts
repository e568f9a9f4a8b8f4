import { execFileSync } from "node:child_process";

/** True if the program can be started; as root on Debian its package is installed for that. */
export function ensureDebianPackage(program: string, debianPackage: string): boolean {
  if (isThere(program)) return true;
  if (process.getuid?.() !== 0 || !isThere("apt-get")) return false;
  process.stderr.write(`Installing the Debian package ${debianPackage}…\n`);
  try {
    for (const args of [
      ["update"],
      ["install", "--yes", "--no-install-recommends", debianPackage],
    ]) {
      execFileSync("apt-get", args, { stdio: ["ignore", 2, 2] });
    }
  } catch {
    return false;
  }
  return isThere(program);
}

/** Some answer --version with an exit code of 1: only a program that is absent cannot be run. */
export function isThere(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}
