"use strict";

const fs = require("node:fs");
const { enableCompileCache } = require("node:module");
const os = require("node:os");
const path = require("node:path");
const loadWithCompiledCode = require("./compiled-code.cjs");

// CommonJS, because loading an ES module already starts libuv's thread pool, whose size is read
// once. Commits, syncs and file reads each occupy a thread while they wait for the disk.
const THREADS = "16";
const SERVER = path.join(__dirname, "..", "dist", "bundle", "lazuli.cjs");

/** Runs one of the commands in `bin` of package.json. */
module.exports = function run(program) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Lazuli needs Node 20.19 or newer; this is ${process.versions.node}. Update Node.`);
  } else if (!fs.existsSync(SERVER)) {
    fail("Lazuli is not built yet. Run `npm start`, which builds it and starts it.");
  } else {
    process.env.UV_THREADPOOL_SIZE ??= THREADS;
    load().main(program);
  }
};

/** Loads the server, with code that earlier processes have compiled where there is a cache folder. */
function load() {
  const folder = cacheFolder();
  if (folder === null) return require(SERVER);
  // For the packages that the server loads. Node 20 does not have it.
  enableCompileCache?.(folder);
  // Node finds the source map of a file only if it loads the file itself.
  if (process.sourceMapsEnabled) return require(SERVER);
  const { exports, store } = loadWithCompiledCode(SERVER, folder);
  process.once("exit", (code) => {
    if (code === 0) store();
  });
  return exports;
}

/**
 * The folder for compiled code; null if it is turned off, or for a user without a home. Not in the
 * system's temporary folder, where another user could prepare code for us to run.
 */
function cacheFolder() {
  const { NODE_DISABLE_COMPILE_CACHE, NODE_COMPILE_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } =
    process.env;
  if (NODE_DISABLE_COMPILE_CACHE) return null;
  if (NODE_COMPILE_CACHE) return NODE_COMPILE_CACHE;
  try {
    return path.join(XDG_CACHE_HOME || LOCALAPPDATA || path.join(os.homedir(), ".cache"), "lazuli");
  } catch {
    return null;
  }
}

function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
