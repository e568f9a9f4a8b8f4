import assert from "node:assert/strict";
import { test } from "node:test";
import { elements, elementText } from "./s3-xml.ts";

test("the text of an element is found, without its escapes", () => {
  const xml = "<A><Key>a&amp;b&lt;&#65;&#x42;&quot;</Key><Empty></Empty></A>";
  assert.equal(elementText(xml, "Key"), 'a&b<AB"');
  assert.equal(elementText(xml, "Empty"), "");
  for (const name of ["Ke", "None", "/Key"]) assert.equal(elementText(xml, name), null);
  assert.equal(elementText("<Key>no end", "Key"), null);
});

test("all elements of a name are found, in their order", () => {
  const xml = "<L><C><Key>a</Key></C><X/><C><Key>b</Key></C></L>";
  assert.deepEqual(elements(xml, "C"), ["<Key>a</Key>", "<Key>b</Key>"]);
  assert.deepEqual(elements(xml, "D"), []);
  assert.deepEqual(elements("<C>no end", "C"), [""]);
});
