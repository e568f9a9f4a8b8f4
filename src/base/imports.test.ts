import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";

const BYTES_MAX = 16 * 1024;

/** Imports modules, and prints how many bytes of buffers they keep, and what they keep running. */
const PROGRAM = `
  const modules = process.argv.slice(1);
  const bytes = () => process.memoryUsage().arrayBuffers;
  // The garbage collector frees buffers some time after it has run.
  const collected = async (most) => {
    for (let round = 0; round < 200 && bytes() > most; round++) {
      gc();
      await new Promise(setImmediate);
    }
    return bytes();
  };
  const before = await collected(0);
  for (const module of modules) await import(module);
  console.log(JSON.stringify({
    kept: await collected(before) - before,
    running: process.getActiveResourcesInfo().filter((kind) => !/Pipe|TTY|FSReq/.test(kind)),
  }));
`;

test("importing base allocates no buffers and starts nothing", () => {
  const modules = readdirSync(import.meta.dirname)
    .filter((name) => /^[^.]+\.js$/.test(name))
    .map((name) => new URL(name, import.meta.url).href);
  assert.ok(modules.length > 20);
  const flags = ["--expose-gc", "--input-type=module", "--eval", PROGRAM, "--"];
  const printed = execFileSync(process.execPath, [...flags, ...modules], { encoding: "utf8" });
  const { kept, running } = JSON.parse(printed);
  assert.ok(kept <= BYTES_MAX, `${kept} bytes`);
  assert.deepEqual(running, []);
});
