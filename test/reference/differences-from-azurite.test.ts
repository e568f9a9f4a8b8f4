import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findAzurite } from "../../bench/azurite.ts";
import { EmulatorProcess } from "./emulator-process.ts";
import { QUESTIONS } from "./emulator-questions.ts";

const PAGE = "docs/reference/differences-from-azurite.md";
/** Where `npm run bench -- --with-azurite` installs it. */
const AZURITE_FOLDER = join(
  fileURLToPath(new URL("../../../", import.meta.url)),
  ".scratch/azurite",
);
const azurite = findAzurite(AZURITE_FOLDER);
const skip =
  azurite === null ? "Azurite is not installed: npm run bench -- --with-azurite does it" : false;

/** Rows of the page that show two answers: what is asked, Azurite's answer, ours. */
const rows = readFileSync(PAGE, "utf8")
  .split("\n")
  .map((line) => /^\| (.+?) \| `([^`]+)` \| `([^`]+)` \|/.exec(line))
  .filter((row) => row !== null);

let lazuli: EmulatorProcess;
before(async () => {
  lazuli = await EmulatorProcess.start(process.execPath, "bin/azurite.cjs");
});
after(() => lazuli.stop());

test(`${PAGE} shows exactly the questions that are asked here`, () => {
  assert.deepEqual(rows.map(([, asked]) => asked).toSorted(), Object.keys(QUESTIONS).toSorted());
});

test("Lazuli answers as the page says", async () => {
  for (const [, asked = "", , answer] of rows) {
    assert.equal(await QUESTIONS[asked]?.(lazuli.clients), answer, asked);
  }
});

test("Azurite answers as the page says", { skip }, async (t) => {
  assert.ok(azurite !== null);
  const emulator = await EmulatorProcess.start(azurite.node, azurite.script);
  t.after(() => emulator.stop());
  for (const [, asked = "", answer] of rows) {
    assert.equal(await QUESTIONS[asked]?.(emulator.clients), answer, asked);
  }
});
