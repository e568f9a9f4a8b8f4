import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { alignedBytes, alignedMemory } from "./aligned-bytes.ts";
import { beginMd5In, MD5_SLOT_BYTES, Md5Lanes, md5In } from "./md5-lanes.ts";

const memory = alignedBytes(4096);
for (let at = 0; at < memory.length; at++) memory[at] = (at * at * 7) >>> 4;
const slots = Array.from({ length: 7 }, () => alignedBytes(MD5_SLOT_BYTES));

/** A part of a body, and the number of steps before the next part arrives. */
const part = fc.record({
  body: fc.nat(slots.length - 1),
  from: fc.nat(memory.length),
  length: fc.oneof(fc.nat(130), fc.nat(memory.length)),
  steps: fc.nat(3),
});

test("each body has its own MD5, in whatever order the parts of several bodies arrive", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const lanes = new Md5Lanes(alignedMemory);
      const expected = slots.map(() => createHash("md5"));
      let read = 0;
      for (const slot of slots) beginMd5In(slot);
      for (const { body, from, length, steps } of parts) {
        const bytes = memory.subarray(from, from + length);
        expected[body]?.update(bytes);
        const slot = slots[body] as Buffer;
        lanes.add({ slot, parts: [bytes.subarray(0, 9), bytes.subarray(9)], last: false }, () => {
          read++;
        });
        for (let step = 0; step < steps; step++) lanes.step();
      }
      for (const slot of slots) lanes.add({ slot, parts: [], last: true }, () => read++);
      while (lanes.step());
      assert.equal(read, parts.length + slots.length);
      for (const [body, slot] of slots.entries()) {
        assert.deepEqual(md5In(slot), expected[body]?.digest());
      }
    }),
    { numRuns: 300 },
  );
});

test("parts are reported as read only after they have been hashed", () => {
  const lanes = new Md5Lanes(alignedMemory);
  const [slot] = slots as [Buffer];
  const read: string[] = [];
  beginMd5In(slot);
  lanes.add({ slot, parts: [memory.subarray(0, 640)], last: false }, () => read.push("blocks"));
  lanes.add({ slot, parts: [memory.subarray(640, 650)], last: true }, () => read.push("rest"));
  assert.deepEqual(read, []);
  assert.equal(lanes.step(), true);
  assert.deepEqual(read, ["blocks", "rest"]);
  assert.equal(lanes.step(), false);
});
