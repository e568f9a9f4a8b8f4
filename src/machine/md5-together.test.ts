import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { alignedBytes } from "./aligned-bytes.ts";
import { Md5Together, md5OfFour } from "./md5-together.ts";

const memory = alignedBytes(16_384);
for (let at = 0; at < memory.length; at++) memory[at] = (at * at * 7) >>> 4;

const body = fc
  .record({ from: fc.nat(memory.length), length: fc.oneof(fc.nat(200), fc.nat(memory.length)) })
  .map(({ from, length }) => memory.subarray(from, from + length));

function expected(bytes: Buffer): Buffer {
  return createHash("md5").update(bytes).digest();
}

test("up to four bodies of any lengths have the MD5 they have alone", () => {
  fc.assert(
    fc.property(fc.array(body, { minLength: 1, maxLength: 4 }), (bodies) => {
      assert.deepEqual(md5OfFour(bodies), bodies.map(expected));
    }),
    { numRuns: 500 },
  );
});

test("however many come at once, in aligned memory or not, each has its own", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(body, fc.boolean()), { maxLength: 20 }), async (bodies) => {
      const together = new Md5Together();
      const found = bodies.map(([bytes, isCopied]) =>
        together.md5(isCopied ? Buffer.from(bytes) : bytes),
      );
      assert.deepEqual(
        await Promise.all(found),
        bodies.map(([bytes]) => expected(bytes)),
      );
    }),
    { numRuns: 100 },
  );
});

test("one that comes alone does not wait", () => {
  assert.deepEqual(new Md5Together().md5(memory), expected(memory));
});
