import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { percentDecode, percentEncode } from "./percent-text.ts";

test("proper text is encoded as everywhere", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      assert.equal(percentEncode(text), encodeURIComponent(text));
      assert.equal(percentDecode(encodeURIComponent(text)), text);
    }),
  );
});

test("any units come back as they were, halves of surrogate pairs too", () => {
  const units = fc.array(fc.oneof(fc.integer({ min: 0xd700, max: 0xe100 }), fc.nat(0xffff)));
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      assert.equal(percentDecode(percentEncode(text)), text);
    }),
  );
  assert.equal(percentEncode("a\ud800"), "a%ED%A0%80");
});

test("what is no encoding is none", () => {
  for (const text of ["%", "%4", "%zz", "%ff", "%C3", "%ED%A0"]) {
    assert.equal(percentDecode(text), null, text);
  }
});
