import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { atOnce } from "./fair-queue.ts";
import { DECODED_BYTES, textInSteps } from "./utf8-text.ts";

test("a long text is decoded piece by piece, wherever its characters end", () => {
  const character = fc.constantFrom("a", "ä", "€", "😀");
  fc.assert(
    fc.property(character, fc.nat({ max: 4 }), (one, shift) => {
      const text = "-".repeat(shift) + one.repeat((3 * DECODED_BYTES) / Buffer.byteLength(one));
      const decoding = textInSteps(Buffer.from(text));
      let pauses = 0;
      let step = decoding.next();
      for (; step.done !== true; step = decoding.next()) pauses++;
      assert.ok(step.value === text);
      assert.ok(pauses >= 2 && pauses <= 3, `${pauses} pauses`);
    }),
    { numRuns: 20 },
  );
});

test("a short text is decoded without a pause", () => {
  assert.equal(textInSteps(Buffer.from("ä")).next().value, "ä");
  assert.equal(atOnce(textInSteps(Buffer.alloc(0))), "");
});
