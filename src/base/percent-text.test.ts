import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BROKEN_UTF8 } from "./broken-utf8.fixture.ts";
import { isPercentEncoded, percentDecode } from "./percent-text.ts";

test("encoded text is decoded", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const encoded = encodeURIComponent(text);
      assert.equal(percentDecode(encoded), text);
      assert.ok(isPercentEncoded(encoded));
    }),
  );
});

test("bytes that are not UTF-8 are refused", () => {
  for (const encoded of BROKEN_UTF8) {
    for (const text of [encoded, `a${encoded}b`, encoded.toLowerCase()]) {
      assert.equal(percentDecode(text), null, text);
    }
  }
});

test("malformed encodings are refused", () => {
  for (const text of ["%", "%4", "%zz", "a%"]) assert.equal(percentDecode(text), null, text);
});

test("a URL with raw characters is not percent-encoded", () => {
  for (const url of ["/ü", "/\u00c3\u00bc", "/a b", "/\u0000", "/\ud800"]) {
    assert.equal(isPercentEncoded(url), false, url);
  }
  for (const url of ["/", "/%C3%BC?a=b&c", "/a'b(c)"])
    assert.equal(isPercentEncoded(url), true, url);
});
