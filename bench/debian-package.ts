import { execFileSync } from "node:child_process";

/** Whether a program can be started. As root on Debian, installs its package. */
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

/** Whether a program exists. Some exit with 1 on --version, so only a failure to start counts. */
export function isThere(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}
