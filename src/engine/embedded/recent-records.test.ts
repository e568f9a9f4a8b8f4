import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentRecords } from "./recent-records.ts";

const keyOf = (number: number) => Buffer.from(`key ${number}`);

test("what is kept is found under its key, as is that there is nothing", () => {
  const recent = new RecentRecords();
  recent.keep(keyOf(1), Buffer.from("one"));
  recent.keep(keyOf(2), undefined);
  assert.deepEqual(recent.find(keyOf(1))?.value, Buffer.from("one"));
  assert.deepEqual(recent.find(keyOf(2)), { key: keyOf(2), value: undefined });
  assert.equal(recent.find(keyOf(3)), undefined);
});

test("of thousands nearly all stay, and none is taken for another", () => {
  const recent = new RecentRecords();
  const keys = Array.from({ length: 4_000 }, (_, at) => keyOf(at));
  for (const key of keys) recent.keep(key, key);
  const found = keys.filter((key) => recent.find(key) !== undefined);
  for (const key of found) assert.deepEqual(recent.find(key)?.value, key);
  assert.ok(found.length > 3_800, `${found.length} of 4,000`);
});

test("what is forgotten is not found, wherever it was, and what stood beside it is", () => {
  const recent = new RecentRecords();
  const keys = Array.from({ length: 20_000 }, (_, at) => keyOf(at));
  for (const key of keys) recent.keep(key, key);
  const kept = keys.filter((key) => recent.find(key) !== undefined);
  for (const [at, key] of kept.entries()) if (at % 2 === 0) recent.forget(key);
  for (const [at, key] of kept.entries()) {
    assert.equal(recent.find(key) === undefined, at % 2 === 0);
  }
});

test("what is long is not kept", () => {
  const recent = new RecentRecords();
  recent.keep(keyOf(1), Buffer.alloc(1025));
  assert.equal(recent.find(keyOf(1)), undefined);
});
