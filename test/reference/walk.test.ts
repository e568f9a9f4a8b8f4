import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

/** The layers of the files that a request passes. */
function layersOf(walk: string): string[] {
  const printed = execFileSync(process.execPath, ["tools/walk.mjs", walk], { encoding: "utf8" });
  return [...printed.matchAll(/^(\w+): \d+ files$/gm)].map(([, layer]) => layer as string);
}

test("no request calls a function of main: what it configures are values", () => {
  for (const walk of ["put-blob", "get-blob"]) {
    const layers = layersOf(walk);
    assert.ok(layers.includes("service"), `${walk}: ${layers}`);
    assert.ok(!layers.includes("main"), `${walk}: ${layers}`);
  }
});
