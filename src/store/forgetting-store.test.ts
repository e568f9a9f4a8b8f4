import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import { prefetch } from "./accelerated.ts";
import { ForgettingStore, ROUNDS_MAX } from "./forgetting-store.fixture.ts";
import { k, START_MS, v } from "./opened-store.contract.ts";
import type { View } from "./store.ts";

function forgetting(): ForgettingStore {
  return new ForgettingStore(new MemoryStore(new ManualClock(START_MS)));
}

function keys(count: number) {
  return Array.from({ length: count }, (_, at) => k(at));
}

test("each key that a body asks for takes a round, and those it names take one", async () => {
  const store = forgetting();
  await store.read((view) => keys(3).map((key) => view.get(key)));
  assert.equal(store.mostRounds, 3);
  const named = forgetting();
  await named.read((view) => {
    prefetch(view, () => keys(100));
    return keys(100).map((key) => view.get(key));
  });
  assert.equal(named.mostRounds, 1);
});

test("a range that was read includes its keys and its parts, but nothing behind its limit", async () => {
  const store = forgetting();
  await store.transact((tx) => {
    for (const key of keys(9)) tx.set(key, v("x"));
  });
  assert.equal(store.mostRounds, 0);
  await store.read((view) => {
    view.range(k(1), k(9), { limit: 3 });
    view.get(k(3));
    view.range(k(2), k(3), { limit: 9 });
  });
  assert.equal(store.mostRounds, 1);
  await store.read((view) => {
    view.range(k(1), k(9), { limit: 3 });
    view.get(k(4));
  });
  assert.equal(store.mostRounds, 2);
});

test("a body that takes too many rounds fails", async () => {
  const store = forgetting();
  const ask = (count: number) => (view: View) => keys(count).map((key) => view.get(key));
  await store.read(ask(ROUNDS_MAX));
  await assert.rejects(store.read(ask(ROUNDS_MAX + 1)), /more than 20 rounds/);
  await assert.rejects(store.transact(ask(ROUNDS_MAX + 1)), /more than 20 rounds/);
});

test("a body that catches what it does not know fails, whatever it does then", async () => {
  const store = forgetting();
  for (const end of ["return", "throw"]) {
    const body = (view: View) => {
      try {
        view.get(k(1));
      } catch {
        if (end === "throw") throw new Error("another error");
      }
    };
    await assert.rejects(store.read(body), /caught an error/);
    await assert.rejects(store.transact(body), /caught an error/);
  }
});

test("a transaction is tried on guesses first, and nothing of that run stays", async () => {
  const store = new ForgettingStore(new MemoryStore(new ManualClock(START_MS)), true);
  await store.transact((tx) => tx.set(k(1), v("old")));
  const seen: string[] = [];
  const released: number[] = [];
  await store.transact((tx) => {
    const number = seen.length;
    tx.onDiscard(() => released.push(number));
    const found = tx.get(k(1))?.toString();
    seen.push(`${found} ${tx.range(k(0), k(9), { limit: 9 }).length}`);
    if (found === undefined) throw new Error("a wrong guess");
    tx.set(k(2), v("new"));
  });
  assert.deepEqual([seen[0], seen.at(-1)], ["undefined 0", "old 1"]);
  assert.equal(released[0], 0);
  assert.equal(await store.read((view) => view.get(k(2))?.toString()), "new");
});

test("rounds have the same time and stamps; the last run, which counts, has others", async () => {
  const clock = new ManualClock(START_MS);
  const store = new ForgettingStore(new MemoryStore(clock));
  const runs: string[] = [];
  await store.transact((tx) => {
    clock.advance(1_000);
    runs.push(`${tx.now()} ${tx.stamp()} ${tx.stamp()}`);
    tx.get(k(1));
    tx.get(k(2));
  });
  assert.equal(runs.length, 4);
  assert.deepEqual(new Set(runs.slice(0, 3)).size, 1);
  assert.notEqual(runs[3], runs[0]);
});
