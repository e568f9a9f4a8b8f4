import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import { appendInPlace } from "../../store/acceleration.ts";
import type { Store } from "../../store/store.ts";
import { openEmbeddedStore } from "./store.ts";
import { type StoreParts, storeWith } from "./store-parts.fixture.ts";

const LOG_BYTES = 256 * KIB;
const VALUE_BYTES = 16 * KIB;

/** A store whose records soon leave the WAL. */
const opened = (t: TestContext, parts: StoreParts = {}) => storeWith(t, parts, LOG_BYTES);

const at = (id: number) => key(SPACE.blob, id);

function write(store: Store, id: number, bytes = VALUE_BYTES): Promise<void> {
  return store.transact((tx) => tx.set(at(id), Buffer.alloc(bytes, id)));
}

/** More than the WAL takes before its records go to LMDB. */
async function fillLog(store: Store, first = 1): Promise<void> {
  for (let id = first; id < first + LOG_BYTES / VALUE_BYTES; id++) await write(store, id);
}

test("what was written a short while ago can be extended, until it has settled", async (t) => {
  const { store } = await opened(t);
  await write(store, 1, 3);
  const append = (size: number) =>
    store.transact((tx) => appendInPlace(tx, at(1), size, Buffer.from("more")));
  assert.equal(await append(3), true);
  assert.equal(await append(7), true);
  await fillLog(store, 100);
  assert.equal(await append(11), false);
  await write(store, 1, 11);
  assert.equal(await append(11), true);
});

test("what is replaced by less before it settles is spared lmdb", async (t) => {
  const put = new Map<number, number>();
  const { store } = await opened(t, {
    lmdb: (real) => ({
      putSync: (name, value) => {
        if (name[0] === SPACE.blob) put.set(name.readUInt32BE(name.length - 4), value.length);
        return real.putSync(name, value);
      },
    }),
  });
  let calls = 0;
  store.beforeCheckpoint(async () => {
    if (calls++ > 0) return;
    await store.transact((tx) => {
      for (let id = 1; id <= 10; id++) tx.set(at(id), Buffer.from("short"));
    });
  });
  await fillLog(store);
  await fillLog(store, 100);
  await store.close();
  assert.ok(calls > 0);
  const long = [...put].filter(([, bytes]) => bytes > VALUE_BYTES).map(([id]) => id);
  assert.ok(long.length > 10, "others got there as they were");
  assert.deepEqual(
    long.filter((id) => id <= 10),
    [],
  );
});

test("who prepares may write more than the log has room for", async (t) => {
  const { store } = await opened(t);
  let isDone = false;
  let isFirst = true;
  store.beforeCheckpoint(async () => {
    if (!isFirst) return;
    isFirst = false;
    for (let round = 1; round <= 4; round++) await fillLog(store, round * 1_000);
    isDone = true;
  });
  for (let id = 1; !isDone; id++) {
    assert.ok(id < 100_000, "who prepares does not come to an end");
    await write(store, id, 100);
  }
});

test("whoever fails to prepare, or never ends, holds nobody up, not even who closes", async (t) => {
  const { store } = await opened(t);
  let calls = 0;
  store.beforeCheckpoint(async () => {
    calls++;
    throw new Error("no time");
  });
  store.beforeCheckpoint(() => new Promise(() => {}));
  for (let round = 1; round <= 6; round++) await fillLog(store, round * 1_000);
  assert.ok(calls > 1);
  await store.close();
});

test("a later value spares lmdb an earlier one only if it is in the log by then", async (t) => {
  const gate = new Gate();
  const pinned = new Gate();
  let isHolding = false;
  let commits = 0;
  const { store, folder } = await opened(t, {
    lmdb: (real) => ({
      transaction: async <T>(run: () => T): Promise<T> => {
        await gate.opened;
        const result = await real.transaction(run);
        commits++;
        return result;
      },
    }),
    wal: (file) => ({
      write: async (bytes, position) => {
        if (isHolding) await pinned.opened;
        return file.write(bytes, position);
      },
    }),
  });
  await write(store, 1, 100);
  gate.close();
  pinned.close();
  await fillLog(store, 100);
  isHolding = true;
  const later = write(store, 1, 200);
  const before = commits;
  gate.open();
  while (commits === before) await new Promise(setImmediate);
  const copy = await mkdtemp(join(tmpdir(), "lazuli-settled-"));
  t.after(() => rm(copy, { recursive: true }));
  await cp(folder, copy, { recursive: true });
  pinned.open();
  await later;

  const again = await openEmbeddedStore(copy, systemClock, assert.fail);
  assert.equal(await again.read((view) => view.get(at(1))?.length), 100);
  await again.close();
});

/** Lets through, or not. */
class Gate {
  opened: Promise<void> = Promise.resolve();
  open: () => void = () => {};

  close(): void {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
