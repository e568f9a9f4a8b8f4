import assert from "node:assert/strict";
import { test } from "node:test";
import { EntryTexts, textBytesMax } from "./entry-texts.ts";

test("texts that are added one after the other lie side by side", () => {
  const texts = new EntryTexts("format", 100);
  const [one, two] = [texts.keep(4, Buffer.from("one")), texts.keep(5, Buffer.from("two"))];
  assert.equal(Buffer.from(one.buffer, one.byteOffset, 6).toString(), "onetwo");
  assert.deepEqual([texts.of(3), texts.of(4), texts.of(5)], [null, one, two]);
  assert.equal(two.toString(), "two");
});

test("a text that does not fit into the counted memory is not cached", () => {
  const texts = new EntryTexts("format", textBytesMax(1, 100));
  const long = Buffer.alloc(900);
  assert.notEqual(texts.keep(0, long), long);
  assert.equal(texts.keep(1, long), long);
  assert.equal(texts.of(1), null);
  assert.equal(texts.keep(2, Buffer.from("short")), texts.of(2));
});
