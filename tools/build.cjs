"use strict";

const { build, install } = require("./prepare.cjs");

process.exitCode = install() && build() ? 0 : 1;
