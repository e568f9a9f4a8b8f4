import assert from "node:assert/strict";
import { test } from "node:test";
import { MIB } from "../base/limits.ts";
import { freeMemory } from "./free-memory.ts";

test("freeing a large buffer releases its memory at once", () => {
  const bytes = Buffer.allocUnsafeSlow(MIB);
  const before = process.memoryUsage().arrayBuffers;
  freeMemory(bytes);
  assert.equal(bytes.length, 0);
  assert.ok(process.memoryUsage().arrayBuffers <= before - MIB);
});

test("small buffers and parts of larger ones are not freed", () => {
  const large = Buffer.allocUnsafeSlow(MIB);
  const small = Buffer.from("text");
  freeMemory(large.subarray(0, MIB / 2));
  freeMemory(small);
  assert.equal(large.length, MIB);
  assert.equal(small.toString(), "text");
});
