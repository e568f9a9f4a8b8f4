import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { quotedText } from "./quoted-text.ts";

test("a quoted text is one line of JSON that nothing is lost from", () => {
  const units = fc
    .array(fc.integer({ min: 0, max: 0xffff }))
    .map((codes) => String.fromCharCode(...codes));
  const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), units);
  fc.assert(
    fc.property(text, (original) => {
      const quoted = quotedText(original);
      assert.equal(JSON.parse(quoted), original);
      assert.doesNotMatch(quoted, /[\p{C}\p{Zl}\p{Zp}]/u);
    }),
  );
});

test("names stay readable, and what could forge or hide a line is escaped", () => {
  assert.equal(quotedText("a b.txt"), '"a b.txt"');
  assert.equal(quotedText("Grüße/日本語"), '"Grüße/日本語"');
  assert.equal(quotedText('a"b\\c'), '"a\\"b\\\\c"');
  assert.equal(quotedText("a\r\nb\u0085\u2028\u2029"), '"a\\r\\nb\\u0085\\u2028\\u2029"');
  assert.equal(quotedText("\u202egpj.exe\u{e0001}"), '"\\u202egpj.exe\\udb40\\udc01"');
  assert.equal(quotedText("\u001b[2J\ud800"), '"\\u001b[2J\\ud800"');
});
