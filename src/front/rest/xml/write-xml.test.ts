import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseXml } from "./parse-xml.ts";
import { attribute, element, hasInvalidXmlCharacters } from "./write-xml.ts";

test("only text that XML would misread is escaped", () => {
  assert.equal(element("Name", "a/b c.txt"), "<Name>a/b c.txt</Name>");
  assert.equal(element("Name", 'a<b>&\r\n"'), '<Name>a&lt;b&gt;&amp;&#xD;\n"</Name>');
  assert.equal(element("Name", ""), "<Name />");
  assert.equal(attribute("n", 'a"<\n\t'), ' n="a&quot;&lt;&#xA;&#x9;"');
});

test("characters that XML cannot carry are detected, and never written", () => {
  for (const text of ["\0", "a\u0001", "\u001f", "\ufffe", "\uffff", "\v", "\f"]) {
    assert.equal(hasInvalidXmlCharacters(text), true, JSON.stringify(text));
    assert.match(element("a", text), /\ufffd/);
    assert.match(attribute("a", text), /\ufffd/);
  }
  assert.equal(hasInvalidXmlCharacters("a\t\n\r \u007f\u0085é\u{1f600}\ufffd"), false);
});

test("written text is read back the same", () => {
  const text = fc
    .string({ unit: "binary", maxLength: 50 })
    .filter((candidate) => !hasInvalidXmlCharacters(candidate));
  fc.assert(
    fc.property(text, text, (value, inAttribute) => {
      const document = `<a${attribute("b", inAttribute)}>${element("c", value)}</a>`;
      const root = parseXml(Buffer.from(document));
      assert.equal(root.children[0]?.text, value);
      assert.equal(root.attributes.get("b"), inAttribute);
    }),
    { numRuns: 2_000 },
  );
});

test("any text is written so that it can be parsed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      parseXml(Buffer.from(element("a", text)));
      parseXml(Buffer.from(`<a${attribute("b", text)}/>`));
    }),
    { numRuns: 2_000 },
  );
});
