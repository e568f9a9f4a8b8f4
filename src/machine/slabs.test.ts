import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { type SlabMemory, Slabs } from "./slabs.ts";

/** Memory that notes which slabs it has freed. */
function noting(): SlabMemory & { readonly freed: Bytes[] } {
  const freed: Bytes[] = [];
  return { freed, allocate: (bytes) => Buffer.alloc(bytes), free: (slab) => freed.push(slab) };
}

test("a released slab is used again, and those beyond the idle limit are freed", () => {
  const memory = noting();
  const slabs = new Slabs(8, 1, memory);
  const [first, second] = [slabs.take(), slabs.take()];
  slabs.release(first);
  slabs.release(second);
  assert.deepEqual(memory.freed, [second]);
  assert.equal(slabs.take(), first);
  assert.equal(slabs.taken, 1);
});

test("a closed pool frees its idle slabs at once, and the others when they are released", () => {
  const memory = noting();
  const slabs = new Slabs(8, Number.POSITIVE_INFINITY, memory);
  const [idle, used] = [slabs.take(), slabs.take()];
  slabs.release(idle);
  slabs.close();
  assert.deepEqual(memory.freed, [idle]);
  slabs.release(used);
  assert.equal(memory.freed.at(-1), used);
  const late = slabs.take();
  slabs.release(late);
  assert.equal(memory.freed.at(-1), late);
});
