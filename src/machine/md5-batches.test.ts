import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { alignedBytes } from "./aligned-bytes.ts";
import { FourLanes, Md5Batches } from "./md5-batches.ts";

const memory = alignedBytes(16_384);
for (let at = 0; at < memory.length; at++) memory[at] = (at * at * 7) >>> 4;

const body = fc
  .record({ from: fc.nat(memory.length), length: fc.oneof(fc.nat(200), fc.nat(memory.length)) })
  .map(({ from, length }) => memory.subarray(from, from + length));

function expected(bytes: Buffer): Buffer {
  return createHash("md5").update(bytes).digest();
}

test("up to four bodies of any lengths in a batch have the MD5 they have alone", () => {
  const lanes = new FourLanes();
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 4 }), (bodies) => {
      assert.deepEqual(lanes.md5Of(bodies), bodies.map(expected));
    }),
    { numRuns: 500 },
  );
});

test("concurrent bodies, in aligned memory or not, each get their own MD5", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(body, fc.boolean()), { maxLength: 20 }), async (bodies) => {
      const batches = new Md5Batches();
      const found = bodies.map(([bytes, isCopied]) =>
        batches.md5(isCopied ? Buffer.from(bytes) : bytes),
      );
      assert.deepEqual(
        await Promise.all(found),
        bodies.map(([bytes]) => expected(bytes)),
      );
    }),
    { numRuns: 100 },
  );
});

test("a body that comes alone does not wait for a batch", () => {
  assert.deepEqual(new Md5Batches().md5(memory), expected(memory));
});
