"use strict";

// CommonJS, because loading an ES module already starts libuv's thread pool, whose size is read
// once. Commits, syncs and file reads each occupy a thread while they wait for the disk.
const THREADS = "16";
const ENTRY = "../dist/src/main/main.js";

/** Runs one of the commands in `bin` of package.json. */
module.exports = function run(program) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Lazuli needs Node 20.19 or newer; this is ${process.versions.node}. Update Node.`);
  } else if (!require("node:fs").existsSync(require("node:path").join(__dirname, ENTRY))) {
    fail("Lazuli is not built yet. Run `npm start`, which builds it and starts it.");
  } else {
    process.env.UV_THREADPOOL_SIZE ??= THREADS;
    import(ENTRY).then(({ main }) => main(program));
  }
};

function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
