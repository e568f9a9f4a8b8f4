"use strict";

const fs = require("node:fs");
const { enableCompileCache } = require("node:module");
const os = require("node:os");
const path = require("node:path");

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
    cacheCompiledCode();
    require(SERVER).main(program);
  }
};

/**
 * Lets Node 22 and later keep compiled code in the user's cache folder, which takes a quarter off
 * the next start. Without such a folder, or if it cannot be written, nothing is kept. Not in the
 * system's temporary folder, where another user could prepare code for us to run.
 */
function cacheCompiledCode() {
  try {
    const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
    const caches = XDG_CACHE_HOME || LOCALAPPDATA || path.join(os.homedir(), ".cache");
    enableCompileCache?.(path.join(caches, "lazuli"));
  } catch {
    // A user without a home.
  }
}

function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
