// The versions of Node that Lazuli supports and the tests run on. npm's packages contain them.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import prepare from "./prepare.cjs";

/** By major version: of 20 the oldest that package.json permits, of the others a recent one. */
export const NODE_VERSIONS = { 20: "20.19.0", 22: "22.23.3", 24: "24.21.0" };

/** The major version that runs this. */
export const ownMajor = process.versions.node.split(".")[0];

/** The path of this version's executable, fetched unless it is there; null if it cannot be. */
export function findNode(major) {
  const version = NODE_VERSIONS[major];
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const folder = path.join(prepare.root, ".scratch", `node-${version}`);
  const file = path.join(folder, "node_modules", name, "bin", "node");
  if (fs.existsSync(file)) return file;
  process.stderr.write(`Fetching Node ${version}…\n`);
  fs.mkdirSync(folder, { recursive: true });
  const args = [
    "install",
    "--prefix",
    folder,
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
  ];
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  spawnSync("npm", [...args, ...quiet, `${name}@${version}`], {
    stdio: ["ignore", "ignore", 2],
    shell: process.platform === "win32",
  });
  return fs.existsSync(file) ? file : null;
}

/** An environment in which `node` is this executable for npm and for shells, too. */
export function withNode(file, env) {
  return { ...env, PATH: `${path.dirname(file)}${path.delimiter}${env.PATH}` };
}
