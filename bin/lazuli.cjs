#!/usr/bin/env node
"use strict";

// CommonJS, because loading an ES module already starts libuv's thread pool, whose size is read
// once. Commits, syncs and file reads each occupy a thread while they wait for the disk.
const THREADS = "16";
// The C library of most Linux systems gives memory back as soon as a little of it is free, and what
// it takes again is cleared page by page: a fifth of the work of an upload. Once a block of this size
// has come and gone, it keeps twice as much for the next body.
const LARGE_BLOCK_BYTES = 32 * 1024 * 1024 - 8192;
const ENTRY = "../dist/src/main/main.js";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Lazuli needs Node 20.19 or newer; this is ${process.versions.node}. Update Node.`);
} else if (!require("node:fs").existsSync(require("node:path").join(__dirname, ENTRY))) {
  fail("Lazuli is not built yet. Run `npm start`, which builds it and starts it.");
} else {
  process.env.UV_THREADPOOL_SIZE ??= THREADS;
  Buffer.allocUnsafeSlow(LARGE_BLOCK_BYTES);
  import(ENTRY).then(({ main }) => main());
}

function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
