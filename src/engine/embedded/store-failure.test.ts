import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ABORT, type RootDatabase } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { type Store, StoreError, type StoreErrorKind } from "../../store/store.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { COMMIT_MS_MAX, EmbeddedStore } from "./store.ts";

type Real = RootDatabase<Bytes, Bytes>;

const EIO = 5;
const ENOSPC = 28;

/** A store on an lmdb of which some parts are replaced. */
async function faulty(t: TestContext, replace: (real: Real) => Partial<Lmdb>) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-store-"));
  const real = await openLmdb(folder);
  const lmdb: Lmdb = {
    get: (at) => real.get(at),
    getRange: (range) => real.getRange(range),
    putSync: (at: Bytes, value: Bytes) => real.putSync(at, value),
    removeSync: (at: Bytes) => real.removeSync(at),
    transaction: (run) => real.transaction(run),
    committed: real.committed,
    resetReadTxn: () => real.resetReadTxn(),
    close: () => real.close(),
    ...replace(real),
  };
  const stops: StoreError[] = [];
  const store = new EmbeddedStore(lmdb, folder, systemClock, (error) => stops.push(error));
  t.after(async () => {
    await store.close();
    await real.close();
    await rm(folder, { recursive: true });
  });
  return { store, stops };
}

/** Fails the first commits after their bodies have run, in the way of lmdb; the rest go through. */
function failFirst(...codes: number[]): (real: Real) => Partial<Lmdb> {
  return (real) => ({
    transaction: async <T>(run: () => T): Promise<T> => {
      const code = codes.shift();
      if (code === undefined) return real.transaction(run);
      await real.childTransaction(() => {
        run();
        return ABORT;
      });
      const reason = Object.assign(new Error(`error ${code}`), { code });
      throw Object.assign(new Error("no reason"), { commitError: Promise.reject(reason) });
    },
  });
}

function write(store: Store, id: number): Promise<void> {
  return store.transact((tx) => tx.set(key(SPACE.blob, id), Buffer.from("x")));
}

function isThere(store: Store, id: number): Promise<boolean> {
  return store.read((view) => view.get(key(SPACE.blob, id)) !== undefined);
}

async function kindsOf(calls: readonly Promise<unknown>[]): Promise<(StoreErrorKind | "done")[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return "done";
    assert.ok(outcome.reason instanceof StoreError, outcome.reason);
    return outcome.reason.kind;
  });
}

/** Nothing is taken any more, and somebody was told why, once. */
async function assertStopped(store: Store, stops: readonly StoreError[], why: RegExp) {
  assert.deepEqual(await kindsOf([write(store, 1), isThere(store, 1)]), ["broken", "broken"]);
  assert.equal(stops.length, 1);
  assert.match(stops[0]?.message ?? "", why);
}

test("after a failed commit its writes are unknown, and nothing is taken any more", async (t) => {
  const { store, stops } = await faulty(t, failFirst(EIO));
  assert.deepEqual(await kindsOf([write(store, 1), write(store, 2)]), ["unknown", "unknown"]);
  await assertStopped(store, stops, /error 5/);
});

test("a read that is asked for inside a body sees nothing that may still fail", async (t) => {
  const { store } = await faulty(t, failFirst(EIO));
  let seen: Promise<boolean> | null = null;
  const written = write(store, 1);
  const peeked = store.transact(() => {
    seen = isThere(store, 1);
  });
  await kindsOf([written, peeked]);
  assert.equal(await seen, false);
});

test("what waited behind a failed commit was certainly not written", async (t) => {
  const { store, stops } = await faulty(t, failFirst(EIO));
  const behind: Promise<void>[] = [];
  const first = store.transact(() => {
    behind.push(write(store, 2));
    throw new Error("a body that is refused waits for the commit, too");
  });
  const large = store.transact((tx) => tx.set(key(SPACE.blob, 3), Buffer.alloc(9_000_000)));
  const kinds = await kindsOf([first, large]);
  assert.deepEqual([...kinds, ...(await kindsOf(behind))], ["unknown", "unknown", "broken"]);
  await assertStopped(store, stops, /error 5/);
});

/** Lets the time pass that a commit may take. */
async function passTime(t: TestContext, stops: readonly StoreError[]): Promise<void> {
  assert.equal(stops.length, 0);
  t.mock.timers.tick(COMMIT_MS_MAX - 1);
  await new Promise(setImmediate);
  assert.equal(stops.length, 0);
  t.mock.timers.tick(1);
}

test("a commit that never begins is given up, and its bodies do not run later", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const held: (() => unknown)[] = [];
  const { store, stops } = await faulty(t, () => ({
    transaction: <T>(run: () => T) => {
      held.push(run);
      return new Promise<T>(() => undefined);
    },
  }));
  let ran = false;
  const kinds = kindsOf([
    store.transact(() => {
      ran = true;
    }),
  ]);
  await passTime(t, stops);
  assert.deepEqual(await kinds, ["broken"]);
  for (const run of held) run();
  assert.equal(ran, false);
  await assertStopped(store, stops, /has not answered/);
});

test("a commit that never ends is given up, and nobody knows what became of it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let begun = () => {};
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { store, stops } = await faulty(t, (real) => ({
    transaction: async <T>(run: () => T) => {
      await real.transaction(run);
      begun();
      return new Promise<T>(() => undefined);
    },
  }));
  const kinds = kindsOf([write(store, 1)]);
  await beginning;
  await passTime(t, stops);
  assert.deepEqual(await kinds, ["unknown"]);
  await assertStopped(store, stops, /has not answered/);
});

test("a write that lmdb does not take stops the store", async (t) => {
  const { store, stops } = await faulty(t, () => ({
    putSync: () => {
      throw new Error("no page");
    },
  }));
  assert.deepEqual(await kindsOf([write(store, 1)]), ["unknown"]);
  await assertStopped(store, stops, /no page/);
});

test("a full disk refuses a write; others go on, and so does the store", async (t) => {
  const { store, stops } = await faulty(t, failFirst(ENOSPC));
  assert.deepEqual(await kindsOf([write(store, 1), write(store, 2)]), ["full", "full"]);
  assert.equal(await isThere(store, 1), false);
  await write(store, 3);
  assert.equal(await isThere(store, 3), true);
  assert.equal(stops.length, 0);
});

test("a full disk is no excuse if lmdb cannot begin another transaction", async (t) => {
  const { store, stops } = await faulty(t, failFirst(ENOSPC, EIO));
  assert.deepEqual(await kindsOf([write(store, 1)]), ["unknown"]);
  await assertStopped(store, stops, /error 28/);
});
