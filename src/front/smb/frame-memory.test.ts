import assert from "node:assert/strict";
import { test } from "node:test";
import { newMessage, releaseFrame, takeFrame } from "./frame-memory.ts";

const MIB = 1024 * 1024;

test("memory of a large frame is reused, but never by two at once", () => {
  const one = takeFrame(MIB);
  const two = takeFrame(MIB + 100);
  assert.notEqual(one.buffer, two.buffer);
  releaseFrame(one);
  assert.equal(takeFrame(MIB - 5).buffer, one.buffer);
  assert.notEqual(takeFrame(MIB).buffer, one.buffer);
});

test("a frame is as long as it was asked for, however large", () => {
  for (const bytes of [1, 200_000, MIB, MIB + 4_097, 8 * MIB, 16 * MIB - 1]) {
    assert.equal(takeFrame(bytes).length, bytes);
  }
});

test("releasing memory from elsewhere does nothing", () => {
  const others = [Buffer.alloc(MIB), takeFrame(16 * MIB - 1)];
  for (const other of others) releaseFrame(other);
  for (const other of others) assert.notEqual(takeFrame(other.length).buffer, other.buffer);
});

test("the bytes behind a message up to a multiple of eight are zero, also in reused memory", () => {
  const used = takeFrame(MIB + 8).fill(0xff);
  releaseFrame(used);
  const message = newMessage(MIB - 5);
  assert.equal(message.buffer, used.buffer);
  assert.deepEqual([...Buffer.from(message.buffer, MIB - 5, 6)], [0, 0, 0, 0, 0, 0xff]);
});
