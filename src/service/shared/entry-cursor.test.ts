import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { CACHED_ENTRIES_MIN } from "../../store/accelerated.ts";
import type { Derivation, Derived } from "../../store/acceleration.ts";
import type { Entry } from "../../store/entry.ts";
import type { View } from "../../store/store.ts";
import { EntryCursor, type ListedEntry } from "./entry-cursor.ts";

/** The entries of one page, as a cursor returns them. */
function entriesOf(count: number): ListedEntry[] {
  const [from, value] = [key(SPACE.blob), Buffer.alloc(100)];
  const all = Array.from({ length: count }, (_, at) => ({ key: key(SPACE.blob, at), value }));
  const view = { derivedRange: madeOf(all) } as Partial<View> as View;
  const cursor = new EntryCursor(view, from, keyAfter(from), false);
  return all.map(() => {
    const head = cursor.head(count) as ListedEntry;
    cursor.advance();
    return head;
  });
}

function madeOf(entries: readonly Entry[]) {
  return <T extends Derived>({ make }: Derivation<T>, from: Bytes, until: Bytes) => ({
    from,
    until,
    derived: make(entries),
    wasCached: false,
  });
}

test("entries have cached text only in the format that was used last", () => {
  const [first, , , last] = entriesOf(CACHED_ENTRIES_MIN) as [ListedEntry, ...ListedEntry[]];
  assert.equal(first.textIn("long"), null);
  assert.equal(first.cacheText("long", Buffer.from("a long text")).toString(), "a long text");
  assert.equal(first.textIn("long")?.toString(), "a long text");
  assert.equal(first.textIn("short"), null);
  assert.equal(last?.textIn("long"), null);
  last?.cacheText("short", Buffer.from("text"));
  assert.deepEqual([first.textIn("long"), first.textIn("short")], [null, null]);
  assert.equal(last?.textIn("short")?.toString(), "text");
});

test("a page too small to be cached has no room for texts", () => {
  const [entry] = entriesOf(CACHED_ENTRIES_MIN - 1) as [ListedEntry];
  const text = Buffer.from("text");
  assert.equal(entry.cacheText("format", text), text);
  assert.equal(entry.textIn("format"), null);
});
