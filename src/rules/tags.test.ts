import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeTags } from "./tags.ts";

test("up to ten tags with names of 1 to 128 and values of 0 to 256 characters pass", () => {
  const ten = Array.from({ length: 10 }, (_, at): [string, string] => [`name${at}`, ""]);
  assert.equal(judgeTags([]), null);
  assert.equal(judgeTags(ten), null);
  assert.equal(judgeTags([...ten, ["one more", ""]]), "TagsTooLarge");
  assert.equal(judgeTags([["n".repeat(128), "v".repeat(256)]]), null);
  assert.equal(judgeTags([["n".repeat(129), ""]]), "InvalidTag");
  assert.equal(judgeTags([["n", "v".repeat(257)]]), "InvalidTag");
  assert.equal(judgeTags([["", "v"]]), "EmptyTagName");
});

test("names are case-sensitive and unique", () => {
  const once: [string, string][] = [
    ["a", "1"],
    ["A", "1"],
  ];
  assert.equal(judgeTags(once), null);
  assert.equal(judgeTags([...once, ["a", "2"]]), "DuplicateTagNames");
});

test("tags consist of letters, digits, spaces and + - . / : = _", () => {
  for (let code = 0; code < 0x180; code++) {
    const character = String.fromCharCode(code);
    const expected = /[a-zA-Z0-9 +\-./:=_]/.test(character) ? null : "InvalidTag";
    assert.equal(judgeTags([[character, ""]]), expected, `name ${code}`);
    assert.equal(judgeTags([["n", character]]), expected, `value ${code}`);
  }
});
