import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { ShrinkingSlabs } from "./shrinking-slabs.ts";

const BYTES = 64 * 1024;

function takeAll(slabs: ShrinkingSlabs, count: number): Bytes[] {
  return Array.from({ length: count }, () => slabs.take() as Bytes);
}

test("each slab has memory of its own, and there are at most slabsMax", () => {
  const slabs = new ShrinkingSlabs(BYTES, 1, 8);
  const all = takeAll(slabs, 8);
  for (const [index, slab] of all.entries()) slab.fill(index + 1);
  for (const [index, slab] of all.entries()) {
    assert.ok(slab.equals(Buffer.alloc(BYTES, index + 1)));
  }
  assert.equal(slabs.take(), null);
  slabs.release(all[3] as Bytes);
  assert.equal(slabs.take()?.byteOffset, 3 * BYTES);
});

test("memory shrinks with the slabs in use, which stay unchanged", () => {
  const slabs = new ShrinkingSlabs(BYTES, 2, 64);
  const all = takeAll(slabs, 64);
  const used = all[10] as Bytes;
  used.fill(7);
  for (const slab of all) if (slab !== used) slabs.release(slab);
  assert.ok(slabs.slabs < 32, `${slabs.slabs}`);
  assert.ok(used.equals(Buffer.alloc(BYTES, 7)));
  slabs.release(used);
  assert.equal(slabs.slabs, 2);
});

test("released slabs return their memory to the system", () => {
  const slabs = new ShrinkingSlabs(BYTES, 1, 2_048);
  const before = process.memoryUsage.rss();
  const all = takeAll(slabs, 2_048);
  for (const slab of all) slab.fill(1);
  const full = process.memoryUsage.rss();
  assert.ok(full - before > 100 * 1024 * 1024);
  for (const slab of all) slabs.release(slab);
  assert.ok(full - process.memoryUsage.rss() > 100 * 1024 * 1024);
});

test("a closed pool has no memory left once its last slab is released", () => {
  const slabs = new ShrinkingSlabs(BYTES, 16, 64);
  const [first, second] = takeAll(slabs, 2) as [Bytes, Bytes];
  slabs.close();
  assert.equal(slabs.slabs, 2);
  slabs.release(second);
  slabs.release(first);
  assert.equal(slabs.slabs, 0);
});
