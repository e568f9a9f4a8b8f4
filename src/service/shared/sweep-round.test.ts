import assert from "node:assert/strict";
import { test } from "node:test";
import { BODY_BYTES_MAX } from "../../base/body-budget.ts";
import { systemClock } from "../../base/clock.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import { ROUND_RECORDS_MAX, SweepRound } from "./sweep-round.ts";

const PREFIX = key(SPACE.entity, 1);
const ALL = { limit: Number.POSITIVE_INFINITY };

/** A store with records of this size, beside one of another table. */
async function storeOf(records: number, bytes: number): Promise<MemoryStore> {
  const store = new MemoryStore(systemClock);
  await store.transact((tx) => {
    for (let at = 0; at < records; at++) tx.set(key(SPACE.entity, 1, at), Buffer.alloc(bytes));
    tx.set(key(SPACE.entity, 2, 0), Buffer.alloc(bytes));
  });
  return store;
}

/** Runs one round. Returns whether it ended early, and how many records are left. */
async function removeIn(store: MemoryStore) {
  const isOver = await store.transact((tx) => {
    const round = new SweepRound(tx);
    round.remove(PREFIX);
    return round.isOver;
  });
  const left = await store.read((view) => view.range(PREFIX, keyAfter(PREFIX), ALL).length);
  return { isOver, left };
}

test("a round removes all records of one prefix if they are few", async () => {
  const store = await storeOf(20, 10);
  assert.deepEqual(await removeIn(store), { isOver: false, left: 0 });
  const other = await store.read((view) => view.get(key(SPACE.entity, 2, 0)));
  assert.equal(other?.length, 10);
});

test("a round ends after its number of records", async () => {
  const store = await storeOf(ROUND_RECORDS_MAX + 5, 10);
  assert.deepEqual(await removeIn(store), { isOver: true, left: 5 });
  assert.deepEqual(await removeIn(store), { isOver: false, left: 0 });
});

test("a round ends after the bytes of a body, with the record that exceeds them", async () => {
  const store = await storeOf(6, BODY_BYTES_MAX / 2 - 1);
  assert.deepEqual(await removeIn(store), { isOver: true, left: 3 });
  assert.deepEqual(await removeIn(store), { isOver: true, left: 0 });
  assert.deepEqual(await removeIn(store), { isOver: false, left: 0 });
});
