import assert from "node:assert/strict";
import { test } from "node:test";
import type { Property } from "../base/edm.ts";
import { judgeEntityKeys, judgeProperties } from "./entity-limits.ts";

function text(name: string, length: number, char = "x"): Property {
  return { name, type: "Edm.String", json: JSON.stringify(char.repeat(length)) };
}

test("keys have up to 1,024 characters, and may be empty", () => {
  assert.equal(judgeEntityKeys("", ""), null);
  assert.equal(judgeEntityKeys("x".repeat(1_024), "y".repeat(1_024)), null);
  assert.equal(judgeEntityKeys("x".repeat(1_025), ""), "KeyValueTooLarge");
  assert.equal(judgeEntityKeys("", "x".repeat(1_025)), "KeyValueTooLarge");
});

test("two long keys that are also long in UTF-8 are refused", () => {
  assert.equal(judgeEntityKeys("語".repeat(1_000), "row"), null);
  assert.equal(judgeEntityKeys("語".repeat(1_000), "語".repeat(1_000)), "KeyValueTooLarge");
});

test("keys contain no slashes, URL delimiters, control characters or half surrogate pairs", () => {
  for (const bad of ["/", "\\", "#", "?", "\0", "\t", "\u001f", "\u007f", "\u009f", "\ud800"]) {
    assert.equal(judgeEntityKeys(`a${bad}b`, "r"), "OutOfRangeInput");
    assert.equal(judgeEntityKeys("p", bad), "OutOfRangeInput");
  }
  assert.equal(judgeEntityKeys("'\"%&+ äöü語\u{1f600}\u00a0", "~`!@$^*()_-={}[]|;:,.<>"), null);
});

test("an entity has up to 252 properties of its own", () => {
  const list = Array.from({ length: 253 }, (_, at) => text(`p${at}`, 1));
  assert.equal(judgeProperties("", "", list.slice(1)), null);
  assert.equal(judgeProperties("", "", list), "TooManyProperties");
});

test("property names are identifiers of up to 255 characters", () => {
  for (const good of ["a", "_", "Ünïcode", "語", "a1", "x".repeat(255)]) {
    assert.equal(judgeProperties("", "", [text(good, 1)]), null, good);
  }
  for (const bad of ["", "1a", "a-b", "a b", "a.b", "a@b", '"', "a\n"]) {
    assert.equal(judgeProperties("", "", [text(bad, 1)]), "PropertyNameInvalid", bad);
  }
  assert.equal(judgeProperties("", "", [text("x".repeat(256), 1)]), "PropertyNameTooLong");
});

test("a value has up to 64 KiB, counted in UTF-16 or in bytes", () => {
  assert.equal(judgeProperties("", "", [text("a", 32_768)]), null);
  assert.equal(judgeProperties("", "", [text("a", 32_768, "\n")]), null);
  assert.equal(judgeProperties("", "", [text("a", 32_769)]), "PropertyValueTooLarge");
  const binary = (bytes: number): Property => ({
    name: "b",
    type: "Edm.Binary",
    json: `"${Buffer.alloc(bytes).toString("base64")}"`,
  });
  assert.equal(judgeProperties("", "", [binary(65_536)]), null);
  assert.equal(judgeProperties("", "", [binary(65_537)]), "PropertyValueTooLarge");
});

test("an entity has up to 1 MiB, with its keys and the names of its properties", () => {
  const full = Array.from({ length: 15 }, (_, at) =>
    text(`p${String(at).padStart(2, "0")}`, 32_768),
  );
  const used = 4 + 15 * (8 + 6 + 65_536);
  const last = (more: number) => text("last", (1_048_576 - used - 8 - 8) / 2 + more);
  assert.equal(judgeProperties("", "", [...full, last(0)]), null);
  assert.equal(judgeProperties("", "", [...full, last(1)]), "EntityTooLarge");
  assert.equal(judgeProperties("p", "", [...full, last(0)]), "EntityTooLarge");
});
