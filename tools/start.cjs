"use strict";

// `npm start`: installs and builds what is missing, then serves in this very process, so that
// signals, exit codes and the terminal are the server's own.
const { build, install } = require("./prepare.cjs");

if (install() && build()) {
  require("../bin/lazuli.cjs");
} else {
  process.exitCode = 1;
}
