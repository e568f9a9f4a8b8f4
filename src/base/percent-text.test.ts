import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BROKEN_UTF8 } from "./broken-utf8.fixture.ts";
import { isPercentEncoded, percentDecode } from "./percent-text.ts";

test("what was encoded comes back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const encoded = encodeURIComponent(text);
      assert.equal(percentDecode(encoded), text);
      assert.ok(isPercentEncoded(encoded));
    }),
  );
});

test("bytes that are not UTF-8 are no text", () => {
  for (const encoded of BROKEN_UTF8) {
    for (const text of [encoded, `a${encoded}b`, encoded.toLowerCase()]) {
      assert.equal(percentDecode(text), null, text);
    }
  }
});

test("what is no encoding is none", () => {
  for (const text of ["%", "%4", "%zz", "a%"]) assert.equal(percentDecode(text), null, text);
});

test("what is sent raw is not encoded", () => {
  for (const url of ["/ü", "/\u00c3\u00bc", "/a b", "/\u0000", "/\ud800"]) {
    assert.equal(isPercentEncoded(url), false, url);
  }
  for (const url of ["/", "/%C3%BC?a=b&c", "/a'b(c)"])
    assert.equal(isPercentEncoded(url), true, url);
});
