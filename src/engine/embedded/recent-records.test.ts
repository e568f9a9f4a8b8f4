import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentRecords } from "./recent-records.ts";

const keyOf = (number: number) => Buffer.from(`key ${number}`);

test("a cached record is found by its key, and so is a cached miss", () => {
  const recent = new RecentRecords();
  recent.add(keyOf(1), Buffer.from("one"));
  recent.add(keyOf(2), undefined);
  assert.deepEqual(recent.find(keyOf(1))?.value, Buffer.from("one"));
  assert.deepEqual(recent.find(keyOf(2)), { key: keyOf(2), value: undefined });
  assert.equal(recent.find(keyOf(3)), undefined);
});

test("of thousands of records nearly all stay, and none is mistaken for another", () => {
  const recent = new RecentRecords();
  const keys = Array.from({ length: 4_000 }, (_, at) => keyOf(at));
  for (const key of keys) recent.add(key, key);
  const found = keys.filter((key) => recent.find(key) !== undefined);
  for (const key of found) assert.deepEqual(recent.find(key)?.value, key);
  assert.ok(found.length > 3_800, `${found.length} of 4,000`);
});

test("a forgotten record is not found, in either place, and its neighbour is", () => {
  const recent = new RecentRecords();
  const keys = Array.from({ length: 20_000 }, (_, at) => keyOf(at));
  for (const key of keys) recent.add(key, key);
  const cached = keys.filter((key) => recent.find(key) !== undefined);
  for (const [at, key] of cached.entries()) if (at % 2 === 0) recent.forget(key);
  for (const [at, key] of cached.entries()) {
    assert.equal(recent.find(key) === undefined, at % 2 === 0);
  }
});

test("a long value is not cached", () => {
  const recent = new RecentRecords();
  recent.add(keyOf(1), Buffer.alloc(1025));
  assert.equal(recent.find(keyOf(1)), undefined);
});
