import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The package as a user installs it from the registry. */
export interface PackedPackage {
  readonly version: string;
  /** The folder that has it in its node_modules. */
  readonly folder: string;
  /** The package's own folder. */
  readonly root: string;
  /** Paths of its files, relative to `root`. */
  readonly files: readonly string[];
}

/** Packs the package, and installs it in `scratch` with nothing but its dependencies and `others`. */
export function installPackedPackage(
  scratch: string,
  others: readonly string[] = [],
): PackedPackage {
  const packed = npm(ROOT, "pack", "--ignore-scripts", "--json", "--pack-destination", scratch);
  const [{ filename, version, files }] = JSON.parse(packed);
  execFileSync("tar", ["-xf", join(scratch, filename), "-C", scratch]);
  const folder = join(scratch, "installed");
  const modules = join(folder, "node_modules");
  const root = join(modules, "lazuli");
  mkdirSync(modules, { recursive: true });
  cpSync(join(scratch, "package"), root, { recursive: true });
  // Links the packages of this folder, so that no registry is contacted.
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), ...others]) {
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  npm(folder, "rebuild", "--ignore-scripts", "lazuli");
  return { version, folder, root, files: files.map(({ path }: { path: string }) => path) };
}

/** Runs npm in a folder, and returns what it prints. */
export function npm(cwd: string, ...args: string[]): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
