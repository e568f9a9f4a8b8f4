import assert from "node:assert/strict";
import { test } from "node:test";
import { ListedEntry } from "./entry-cursor.ts";

const entry = () => new ListedEntry({ key: Buffer.from("key"), value: Buffer.alloc(100) });

test("an entry has its text in the spelling that was used last, and in no other", () => {
  const found = entry();
  const [long, short] = [{}, {}];
  assert.equal(found.textIn(long), null);
  found.keepText(long, Buffer.from("a long text"));
  assert.equal(found.textIn(long)?.toString(), "a long text");
  assert.equal(found.textIn(short), null);
  found.keepText(short, Buffer.from("text"));
  assert.equal(found.textIn(short)?.toString(), "text");
  assert.equal(found.textIn(long), null);
});

test("a text that is much longer than its entry is not kept: it was not counted", () => {
  const found = entry();
  const [plain, wordy] = [{}, {}];
  found.keepText(plain, Buffer.from("text"));
  found.keepText(wordy, Buffer.alloc(2_000));
  assert.equal(found.textIn(wordy), null);
  assert.equal(found.textIn(plain)?.toString(), "text");
});
