"use strict";

// Bundles what the package ships, from what the compiler wrote: one file for the server, and one for
// each worker thread. One file loads in a third of the time of the hundreds that it is made from.
const { buildSync } = require("esbuild");
const fs = require("node:fs");
const path = require("node:path");
const { filesUnder, root } = require("./prepare.cjs");

const OUTPUT = path.join("dist", "bundle");

const SHARED = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  // The oldest Node that package.json permits.
  target: "node20.19",
  // lmdb finds its native part from its own folder; jose is loaded by servers with OAuth only.
  packages: "external",
  // Names and lines stay readable in stack traces. Minified, it would load 5 ms sooner.
  minify: false,
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
};

/** What the file of the server exports, and the module that it comes from. */
const EXPORTS = { main: "./main.js", start: "./start.js" };

/** CommonJS, because bin/run.cjs must load it with `require`; it has no `import.meta`. */
const SERVER = {
  stdin: { contents: exportLines(), resolveDir: path.join(root, "dist", "src", "main") },
  outfile: path.join(OUTPUT, "lazuli.cjs"),
  format: "cjs",
  // `import()` becomes `require`: Node 20 has no loader for it in code that was stored compiled.
  supported: { "dynamic-import": false },
  define: { "import.meta.url": "bundleUrl" },
  banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
};

/** Each keeps its name: the server starts it as `new URL("./md5-worker.js", import.meta.url)`. */
const WORKERS = {
  entryPoints: workerFiles(),
  entryNames: "[name]",
  outdir: OUTPUT,
  format: "esm",
};

/** The client of the lab, `lazuli/lab`: a file of its own, as programs use it without a server. */
const LAB_CLIENT = {
  entryPoints: ["dist/src/main/lab-client.js"],
  outfile: path.join(OUTPUT, "lab-client.cjs"),
  format: "cjs",
};

/** The page of the console, with everything that it needs: browsers load nothing from elsewhere. */
const PAGE = {
  absWorkingDir: root,
  bundle: true,
  entryPoints: [path.join("console", "console.tsx"), path.join("console", "console.css")],
  outdir: path.join(OUTPUT, "console"),
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  logLevel: "warning",
};

fs.rmSync(path.join(root, OUTPUT), { recursive: true, force: true });
for (const part of [SERVER, WORKERS, LAB_CLIENT]) buildSync({ ...SHARED, ...part });
buildSync(PAGE);
for (const name of ["index.html", "icon.svg"]) {
  fs.copyFileSync(path.join(root, "console", name), path.join(root, PAGE.outdir, name));
}
makeAscii(path.join(root, SERVER.outfile));

/**
 * Replaces characters beyond ASCII, which esbuild leaves in comments only: with one of them, V8 takes
 * two bytes for each character of the file.
 */
function makeAscii(file) {
  const text = fs.readFileSync(file, "utf8");
  fs.writeFileSync(file, text.replace(/[\x80-\uffff]/g, "?"));
}

function exportLines() {
  return Object.entries(EXPORTS)
    .map(([name, module]) => `export { ${name} } from "${module}";`)
    .join("\n");
}

function workerFiles() {
  return filesUnder("dist/src").filter((file) => file.endsWith("-worker.js"));
}
