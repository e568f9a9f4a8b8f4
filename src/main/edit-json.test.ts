import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { appendItem, insertMember, removeItem, replaceValue } from "./edit-json.ts";
import { type JsonList, type JsonNode, type JsonObject, parseJson } from "./json-text.ts";

const asList = (node: JsonNode) => node as JsonList;
const asObject = (node: JsonNode) => node as JsonObject;

test("an edited text has the edited value, whatever its format", () => {
  const values = fc.array(fc.jsonValue({ depthSize: "small" }), { maxLength: 4 });
  const formats = fc.constantFrom<string | number>(0, 2, 4, "\t");
  fc.assert(
    fc.property(values, fc.jsonValue(), fc.nat(), formats, (given, value, at, format) => {
      const text = JSON.stringify(given, null, format);
      const list = () => asList(parseJson(text));
      // The values as the text has them: JSON has no -0.
      const items: unknown[] = JSON.parse(text);
      const added = JSON.parse(JSON.stringify(value));
      assert.deepEqual(JSON.parse(appendItem(text, list(), value)), [...items, added]);
      if (items.length === 0) return;
      const index = at % items.length;
      const rest = items.filter((_, place) => place !== index);
      assert.deepEqual(JSON.parse(removeItem(text, list(), index)), rest);
      const node = list().items[index] as JsonNode;
      const replaced = JSON.parse(replaceValue(text, node, "new"));
      assert.equal(replaced[index], "new");
    }),
  );
});

test("a new member stands in front, in the format of its file", () => {
  const added = (text: string) => insertMember(text, asObject(parseJson(text)), "a", [1]);
  assert.equal(added("{}"), '{\n  "a": [\n    1\n  ]\n}');
  assert.equal(added('{"b": 2}'), '{"a": [1], "b": 2}');
  assert.equal(added('{\n\t"b": 2\n}\n'), '{\n\t"a": [\n\t\t1\n\t],\n\t"b": 2\n}\n');
  assert.equal(added('{\r\n  "b": 2\r\n}'), '{\r\n  "a": [\r\n    1\r\n  ],\r\n  "b": 2\r\n}');
});

test("everything around an edit stays as it is", () => {
  const text =
    '{\n    "accounts": [\n        {"name": "a"},\n        {"name": "b"}\n    ],  "x" : 1\n}\n';
  const list = () => asList(asObject(parseJson(text)).members[0]?.value as JsonNode);
  assert.equal(
    appendItem(text, list(), { name: "c" }),
    text.replace('"b"}', '"b"},\n        {\n            "name": "c"\n        }'),
  );
  assert.equal(removeItem(text, list(), 0), text.replace('{"name": "a"},\n        ', ""));
  assert.equal(removeItem(text, list(), 1), text.replace(',\n        {"name": "b"}', ""));
});
