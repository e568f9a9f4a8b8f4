import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ABORT } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { appendInPlace } from "../../store/accelerated.ts";
import { type Store, StoreError, type StoreErrorKind, type View } from "../../store/store.ts";
import { copyOf, type StoreParts, storeIn, storeWith } from "./store-parts.fixture.ts";
import { WAL_GROWTH_MAX } from "./wal.ts";
import { WRITE_MS_MAX } from "./write-watchdog.ts";

const EIO = 5;
const ENOSPC = 28;
const WAL_BYTES_ENOUGH = 2 * MIB;

const faulty = (t: TestContext, parts: StoreParts) => storeWith(t, parts, WAL_BYTES_ENOUGH);

/** Makes the first writes of the WAL fail. */
function failFirstWrites(...codes: string[]): StoreParts {
  return {
    wal: (real) => ({
      write: async (bytes, position) => {
        const code = codes.shift();
        if (code !== undefined) throw Object.assign(new Error(`error ${code}`), { code });
        return real.write(bytes, position);
      },
    }),
  };
}

/** Makes the first write of the WAL hang until the test ends it. */
function unansweredWrite() {
  let begun = () => {};
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let fail = (_: Error) => {};
  const written = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const write = () => {
    begun();
    return written;
  };
  return { parts: { wal: () => ({ write }) }, beginning, fail };
}

/** Makes the first commits fail the way LMDB does, after their records were put. */
function failFirstCommits(...codes: number[]): StoreParts {
  return {
    lmdb: (real) => ({
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
    }),
  };
}

function write(store: Store, id: number, bytes = 1): Promise<void> {
  return store.transact((tx) => tx.set(key(SPACE.blob, id), Buffer.alloc(bytes)));
}

function isThere(store: Store, id: number): Promise<boolean> {
  return store.read((view) => view.get(key(SPACE.blob, id)) !== undefined);
}

/** Writes enough to start a checkpoint. */
async function fillWal(store: Store, bytes = WAL_BYTES_ENOUGH): Promise<void> {
  for (let id = 100; id < 100 + bytes / MIB; id++) await write(store, id, MIB);
}

async function kindsOf(calls: readonly Promise<unknown>[]): Promise<(StoreErrorKind | "done")[]> {
  const outcomes = await Promise.allSettled(calls);
  return outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return "done";
    assert.ok(outcome.reason instanceof StoreError, outcome.reason);
    return outcome.reason.kind;
  });
}

/** Asserts that the store refuses all calls and has reported the reason once. */
async function assertStopped(store: Store, stops: readonly StoreError[], why: RegExp) {
  assert.deepEqual(await kindsOf([write(store, 1), isThere(store, 1)]), ["broken", "broken"]);
  assert.equal(stops.length, 1);
  assert.match(stops[0]?.message ?? "", why);
}

test("after a failed WAL write its group is unknown, and the store refuses all calls", async (t) => {
  const { store, stops } = await faulty(t, failFirstWrites("EIO"));
  assert.deepEqual(await kindsOf([write(store, 1), write(store, 2)]), ["unknown", "unknown"]);
  await assertStopped(store, stops, /error EIO/);
});

test("what a body has acquired is released if its commit fails", async (t) => {
  const { store } = await faulty(t, failFirstWrites("EIO"));
  const id = key(SPACE.blob, 1);
  let acquired = 0;
  const acquire = (view: View) => {
    acquired++;
    view.onDiscard(() => acquired--);
  };
  const writing = store.transact((tx) => {
    acquire(tx);
    tx.set(id, Buffer.from("x"));
  });
  const reading = store.read((view) => {
    acquire(view);
    return view.get(id);
  });
  assert.deepEqual(await kindsOf([writing, reading]), ["unknown", "broken"]);
  assert.equal(acquired, 0);
});

test("neither a read nor a refusal reveals a write that is not durable", async (t) => {
  const { store, stops } = await faulty(t, failFirstWrites("EIO"));
  const written = write(store, 1);
  const seen: boolean[] = [];
  const reading = store.read((view) => seen.push(view.get(key(SPACE.blob, 1)) !== undefined));
  const refused = store.transact((tx) => {
    if (tx.get(key(SPACE.blob, 1)) !== undefined) throw new Error("it is there");
  });
  const refusedToo = store.transact((tx) => {
    if (appendInPlace(tx, key(SPACE.blob, 1), 1, Buffer.from("x"))) throw new Error("it is there");
  });
  const elsewhere = isThere(store, 2);
  assert.deepEqual(await kindsOf([written, reading, refused, refusedToo, elsewhere]), [
    "unknown",
    "broken",
    "broken",
    "broken",
    "done",
  ]);
  assert.deepEqual(seen, [true]);
  await assertStopped(store, stops, /error EIO/);
});

test("writes behind a failed group are certainly not written", async (t) => {
  const { parts, beginning, fail } = unansweredWrite();
  const { store, stops } = await faulty(t, parts);
  const first = write(store, 1);
  await beginning;
  const behind = write(store, 2);
  await new Promise(setImmediate);
  fail(new Error("error EIO"));
  assert.deepEqual(await kindsOf([first, behind]), ["unknown", "broken"]);
  await assertStopped(store, stops, /error EIO/);
});

test("a WAL write that never ends is given up, and its outcome is unknown", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { parts, beginning } = unansweredWrite();
  const { store, stops } = await faulty(t, parts);
  const kinds = kindsOf([write(store, 1)]);
  await beginning;
  assert.equal(stops.length, 0);
  t.mock.timers.tick(WRITE_MS_MAX - 1);
  await new Promise(setImmediate);
  assert.equal(stops.length, 0);
  t.mock.timers.tick(1);
  assert.deepEqual(await kinds, ["unknown"]);
  await assertStopped(store, stops, /has not answered/);
});

test("a failed LMDB commit stops the store", async (t) => {
  const { store, stops } = await faulty(t, failFirstCommits(EIO));
  await untilStopped(stops, store);
  await assertStopped(store, stops, /error 5/);
});

test("a record that LMDB refuses stops the store", async (t) => {
  const { store, stops } = await faulty(t, {
    lmdb: () => ({
      putSync: () => {
        throw new Error("no page");
      },
    }),
  });
  await untilStopped(stops, store);
  await assertStopped(store, stops, /no page/);
});

/** Fills the WAL and writes until the store refuses. */
async function untilStopped(stops: readonly StoreError[], store: Store): Promise<void> {
  await fillWal(store).catch(() => {});
  for (let id = 1_000; stops.length === 0; id++) {
    assert.ok(id < 100_000, "the store never stops");
    await write(store, id).catch(() => {});
  }
}

/** While the disk is full, transactions that add records fail; others succeed. */
function fullLmdb(disk: { isFull: boolean }): StoreParts {
  return {
    lmdb: (real) => ({
      transaction: async <T>(run: () => T): Promise<T> => {
        if (!disk.isFull) return real.transaction(run);
        let wrote = false;
        await real.childTransaction(() => {
          const before = real.getStats() as { entryCount: number };
          run();
          wrote = (real.getStats() as { entryCount: number }).entryCount > before.entryCount;
          return ABORT;
        });
        if (!wrote) return undefined as T;
        const reason = Object.assign(new Error("full"), { code: ENOSPC });
        throw Object.assign(new Error("no reason"), { commitError: Promise.reject(reason) });
      },
    }),
  };
}

test("while LMDB finds no space the WAL takes writes until it is full, then they are refused", async (t) => {
  const disk = { isFull: true };
  const { store, stops } = await faulty(t, fullLmdb(disk));
  const kinds: string[] = [];
  const writesMax = 3 * WAL_GROWTH_MAX * (WAL_BYTES_ENOUGH / MIB);
  for (let id = 1; id < writesMax && kinds.at(-1) !== "full"; id++) {
    kinds.push(...(await kindsOf([write(store, id, MIB)])));
  }
  const refused = kinds.length;
  assert.equal(kinds.at(-1), "full");
  assert.equal(await isThere(store, refused), false);
  assert.equal(await isThere(store, refused - 1), true);
  disk.isFull = false;
  await write(store, refused, MIB);
  assert.equal(await isThere(store, refused), true);
  assert.equal(stops.length, 0);
});

test("a start without space for LMDB continues at the end of the WAL, and loses nothing", async (t) => {
  const disk = { isFull: true };
  const before = await faulty(t, fullLmdb(disk));
  // Both WAL files have groups that LMDB does not have.
  await write(before.store, 1);
  await fillWal(before.store);
  await write(before.store, 2);
  const killed = await copyOf(before.folder);
  const full = await storeIn(t, killed, fullLmdb(disk), WAL_BYTES_ENOUGH);
  for (const id of [1, 2]) assert.equal(await isThere(full.store, id), true);
  await write(full.store, 3);
  // Recovery can be repeated: by the next start, and by one with space.
  for (const parts of [fullLmdb(disk), {}]) {
    const next = await storeIn(t, await copyOf(killed), parts, WAL_BYTES_ENOUGH);
    for (const id of [1, 2, 3]) assert.equal(await isThere(next.store, id), true);
    assert.equal(next.stops.length, 0);
  }
  disk.isFull = false;
  await fillWal(full.store);
  await full.store.close();
  const last = await storeIn(t, killed, {}, WAL_BYTES_ENOUGH);
  for (const id of [1, 2, 3]) assert.equal(await isThere(last.store, id), true);
  assert.deepEqual([full.stops, last.stops], [[], []]);
});

test("a WAL that cannot grow refuses a write that needs it; others succeed", async (t) => {
  const { store, stops } = await faulty(t, {
    wal: () => ({
      growTo: async () => {
        throw Object.assign(new Error("no space"), { code: "ENOSPC", errno: -ENOSPC });
      },
    }),
  });
  assert.deepEqual(await kindsOf([write(store, 1, 2 * MIB), write(store, 2)]), ["full", "done"]);
  assert.equal(await isThere(store, 1), false);
  assert.equal(stops.length, 0);
});

const PAGE_NOT_FOUND = -30_797;
const BAD_TXN = -30_782;

/** Puts one record on a damaged page: after reading it, LMDB reads nothing until a reset. */
function damagedPage(damaged: Bytes): StoreParts {
  const lmdbError = (code: number) => Object.assign(new Error(`lmdb ${code}`), { code });
  return {
    lmdb: (real) => {
      let isBad = false;
      return {
        get(key) {
          if (isBad) throw lmdbError(BAD_TXN);
          isBad = key.equals(damaged);
          if (isBad) throw lmdbError(PAGE_NOT_FOUND);
          return real.get(key);
        },
        getRange(options) {
          if (isBad) throw lmdbError(BAD_TXN);
          return real.getRange(options);
        },
        resetReadTxn() {
          isBad = false;
          real.resetReadTxn();
        },
      };
    },
  };
}

test("after a read that LMDB finds damaged, other reads succeed", async (t) => {
  const before = await faulty(t, {});
  for (const id of [1, 2, 9]) await write(before.store, id);
  await before.store.close();
  const parts = damagedPage(key(SPACE.blob, 2));
  const { store, stops } = await storeIn(t, before.folder, parts, WAL_BYTES_ENOUGH);
  const missAndMeetDamage = (view: View) => [5, 2].map((id) => view.get(key(SPACE.blob, id)));
  const damaged = { kind: "damaged", message: /the database is damaged/ };
  for (const call of [store.read(missAndMeetDamage), store.transact(missAndMeetDamage)]) {
    await assert.rejects(call, damaged);
    assert.equal(await isThere(store, 1), true);
  }
  assert.equal(stops.length, 0);
});

test("a full disk stops the store if LMDB cannot begin another transaction", async (t) => {
  const { store, stops } = await faulty(t, failFirstCommits(ENOSPC, EIO));
  await untilStopped(stops, store);
  await assertStopped(store, stops, /error 28/);
});
