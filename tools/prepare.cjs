"use strict";

// Installs and builds what is missing. CommonJS and synchronous, so that `start.cjs` can serve in
// the same process: see bin/run.cjs.
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.dirname(__dirname);
const dist = path.join(root, "dist");
/** What the last build was made from. */
const stampFile = path.join(dist, ".built-from");
/** What the compiler knows of the last build, so that it checks only what changed; see tsconfig.json. */
const COMPILER_STATES = [".tsbuildinfo", ".tsbuildinfo-console"].map((name) =>
  path.join("dist", name),
);
const sourceFolders = ["src", "test", "bench", "examples", "tools"];
/** The web page of the console, which is built by itself. */
const PAGE_FOLDER = "console";
/** What else decides how the output looks. */
const BUILD_SETTINGS = ["tsconfig.json", "package-lock.json", path.join("tools", "bundle.cjs")];

/**
 * Changes no file of ours, and runs no package's scripts: none of them is needed. Prints errors
 * only: the tests use old clients on purpose, and npm's warnings about them help no newcomer.
 */
const INSTALL_FLAGS = [
  ...["--no-save", "--include=dev", "--ignore-scripts"],
  ...["--no-audit", "--no-fund", "--loglevel=error"],
];

/** What the package declares to programs that import it. These files import only each other. */
const PUBLIC_TYPES = ["src/main/start.ts", "src/main/start-options.ts", "src/main/lab-client.ts"];

/** Writes the declarations of these files only; their types are checked with all others. */
const DECLARE_FLAGS = [
  ...["--ignoreConfig", "--noResolve", "--noCheck", "--declaration", "--emitDeclarationOnly"],
  ...["--target", "es2023", "--lib", "es2023,esnext.disposable", "--types", ""],
  ...["--module", "nodenext", "--rootDir", "src/main", "--outDir", "dist/types"],
];

/** Everything a child prints goes to stderr: stdout belongs to the server and the test report. */
const TO_STDERR = ["ignore", 2, 2];

/**
 * Installs the packages of package-lock.json unless they are there. True if all is well. Not by
 * `npm ci`, which first deletes the packages that are there.
 */
function install() {
  if (isInstalled()) return true;
  process.stderr.write("Installing packages…\n");
  const args = ["install", ...INSTALL_FLAGS];
  const npm = process.env.npm_execpath;
  const done = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: TO_STDERR })
    : spawnSync("npm", args, { cwd: root, stdio: TO_STDERR, shell: true });
  return done.status === 0;
}

/** npm keeps a list of what it installed; packages for other platforms are not in it. */
function isInstalled() {
  const wanted = packagesIn(path.join(root, "package-lock.json"));
  const found = packagesIn(path.join(root, "node_modules", ".package-lock.json"));
  return Object.entries(wanted).every(
    ([folder, { version, optional }]) =>
      folder === "" || optional === true || found[folder]?.version === version,
  );
}

function packagesIn(lockFile) {
  try {
    return JSON.parse(fs.readFileSync(lockFile, "utf8")).packages;
  } catch {
    return {};
  }
}

/** Compiles and bundles unless the last good build was made from the same files. True if there are no errors. */
function build() {
  const sources = sourceFiles();
  const stamp = stampOf(sources);
  if (readOrEmpty(stampFile) === stamp) return true;
  process.stderr.write("Building…\n");
  // Tests import modules of the page that need no browser, so these are compiled, too.
  removeStale(new Set([...sources, ...filesUnder(PAGE_FOLDER)]));
  fs.rmSync(stampFile, { force: true });
  const tsc = path.join("node_modules", "typescript", "bin", "tsc");
  // First, because programs of ours import the package by its name.
  const isDeclared = runNode(tsc, ...DECLARE_FLAGS, ...PUBLIC_TYPES);
  const isCompiled = isDeclared && runNode(tsc, "-p", "tsconfig.json");
  // Types that are wrong do not keep the tests from running.
  const isBundled = runNode(path.join("tools", "bundle.cjs"));
  const isPageRight = runNode(tsc, "-p", path.join(PAGE_FOLDER, "tsconfig.json"));
  const isBuilt = isCompiled && isBundled && isPageRight;
  if (isBuilt) fs.writeFileSync(stampFile, stamp);
  return isBuilt;
}

function runNode(...args) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: TO_STDERR }).status === 0;
}

function sourceFiles() {
  return sourceFolders.flatMap(filesUnder).filter((file) => /\.(ts|json)$/.test(file));
}

/** Sizes and times are enough to notice an edit, a checkout or a deleted file. */
function stampOf(sources) {
  return [...sources, ...filesUnder(PAGE_FOLDER), ...BUILD_SETTINGS]
    .map((file) => {
      const { mtimeMs, size } = fs.statSync(path.join(root, file));
      return `${file} ${mtimeMs} ${size}`;
    })
    .join("\n");
}

/** A compiled test whose source is gone must not run. */
function removeStale(sources) {
  for (const file of filesUnder("dist")) {
    if (COMPILER_STATES.includes(file)) continue;
    const source = path.relative("dist", file).replace(/\.js(\.map)?$/, ".ts");
    if (!sources.has(source)) fs.rmSync(path.join(root, file));
  }
}

/** Paths relative to the root, in a stable order. */
function filesUnder(folder) {
  const full = path.join(root, folder);
  if (!fs.existsSync(full)) return [];
  return fs
    .readdirSync(full, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}

function readOrEmpty(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

module.exports = { build, filesUnder, install, root };
