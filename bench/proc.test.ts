import assert from "node:assert/strict";
import { test } from "node:test";
import { cpuMicrosOfGenerator, requireProc } from "./proc.ts";

const skip = process.platform === "linux" ? false : "needs /proc of Linux";

test("a system without /proc is refused in a line that says what to do", () => {
  assert.throws(() => requireProc("/nowhere"), /^Error: [^\n]*\/nowhere[^\n]*: run it on Linux\.$/);
});

test("a system with /proc is measured", { skip }, () => {
  requireProc();
  assert.ok(cpuMicrosOfGenerator() > 0);
});
