// `npm run soak -- MODE [flags]` runs dist/test/soak/MODE.js: a program that measures one promise and
// prints its figure. `npm run soak` alone lists the modes; the first line of each says what it measures.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import prepare from "./prepare.cjs";

const { build, filesUnder, install, root } = prepare;
const MODE = /^test\/soak\/([\w-]+)\.ts$/;
/** The modes' shared code. */
const SHARED = new Set([
  "figure",
  "loop-gaps",
  "recorded-runs",
  "soak-clients",
  "soak-server",
  "stall-loads",
  "stall-probe",
  "stall-soak",
  "stalled-server",
]);

const [asked, ...flags] = process.argv.slice(2);

process.chdir(root);
process.exitCode = install() && build() && soak() ? 0 : 1;

function soak() {
  const modes = new Map(readModes());
  if (asked === undefined) {
    console.log("npm run soak -- MODE [flags]\n");
    for (const [mode, purpose] of modes) console.log(`  ${mode.padEnd(20)} ${purpose}`);
    return true;
  }
  if (!modes.has(asked)) {
    console.error(`There is no mode "${asked}". \`npm run soak\` lists them.`);
    return false;
  }
  const program = `dist/test/soak/${asked}.js`;
  const args = ["--enable-source-maps", program, ...flags];
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status === 0;
}

/** Modes and their purposes: the text of the `//` comment with which a mode's source begins. */
function* readModes() {
  for (const file of filesUnder("test/soak")) {
    const mode = MODE.exec(file)?.[1];
    if (mode === undefined || SHARED.has(mode)) continue;
    yield [mode, /^\/\/ (.*)/.exec(readFileSync(file, "utf8"))?.[1] ?? ""];
  }
}
