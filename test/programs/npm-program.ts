import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SCRATCH = fileURLToPath(new URL("../../../.scratch/", import.meta.url));
const INSTALL_MS_MAX = 5 * 60_000;

/**
 * A package that a few tests need, installed once into a folder of its own: with its dependencies
 * it would be a burden for every clone.
 */
export class NpmProgram {
  /** Where its packages are. */
  readonly modules: string;
  /** Why it cannot be used here; null if it can. */
  readonly reason: string | null;

  constructor(name: string, version: string) {
    const folder = join(SCRATCH, `${name.replaceAll(/\W/g, "-")}-${version}`);
    this.modules = join(folder, "node_modules");
    this.reason = this.#install(folder, name, version);
  }

  /** Makes its packages available in another folder of packages, unless they are there. */
  linkInto(other: string): void {
    for (const name of readdirSync(this.modules)) {
      const link = join(other, name);
      if (!name.startsWith(".") && !existsSync(link)) symlinkSync(join(this.modules, name), link);
    }
  }

  #install(folder: string, name: string, version: string): string | null {
    // npm writes this file last.
    const done = join(this.modules, ".package-lock.json");
    if (existsSync(done)) return null;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    spawnSync("npm", ["install", ...flags, `${name}@${version}`], {
      cwd: folder,
      timeout: INSTALL_MS_MAX,
    });
    return existsSync(done) ? null : `npm could not install ${name}: no registry can be reached`;
  }
}
