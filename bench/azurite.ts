import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The oldest Node version that Azurite runs on. */
const NODE_MAJOR_MIN = 22;

export interface Azurite {
  readonly version: string;
  readonly node: string;
  readonly script: string;
}

/** Returns null if Azurite is not installed in `folder`. */
export function findAzurite(folder: string): Azurite | null {
  const modules = join(folder, "node_modules");
  const script = join(modules, "azurite", "dist", "src", "azurite.js");
  const ownNode = join(modules, "node", "bin", "node");
  const node = nodeMajor() >= NODE_MAJOR_MIN ? process.execPath : ownNode;
  if (!existsSync(script) || !existsSync(node)) return null;
  const { version } = JSON.parse(readFileSync(join(modules, "azurite", "package.json"), "utf8"));
  return { version, node, script };
}

/** Installs Azurite, and a Node that is new enough for it, apart from our own packages. */
export function installAzurite(folder: string): Azurite {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n');
  // Without a tag, npm picks the newest version for the Node that runs npm, which may be an old one.
  const packages = [
    "azurite@latest",
    ...(nodeMajor() >= NODE_MAJOR_MIN ? [] : [`node@${NODE_MAJOR_MIN}`]),
  ];
  const args = ["install", ...packages, "--no-audit", "--no-fund"];
  execFileSync("npm", args, { cwd: folder, stdio: ["ignore", 2, 2] });
  const azurite = findAzurite(folder);
  if (azurite === null) throw new Error(`npm did not install Azurite in ${folder}.`);
  return azurite;
}

function nodeMajor(): number {
  return Number.parseInt(process.versions.node, 10);
}
