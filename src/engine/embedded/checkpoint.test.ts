import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import { appendInPlace } from "../../store/accelerated.ts";
import type { Store } from "../../store/store.ts";
import { openEmbeddedStore } from "./store.ts";
import { type StoreParts, storeWith } from "./store-parts.fixture.ts";

const WAL_BYTES = 256 * KIB;
const VALUE_BYTES = 16 * KIB;

/** Opens a store with a short WAL, so that checkpoints come soon. */
const opened = (t: TestContext, parts: StoreParts = {}) => storeWith(t, parts, WAL_BYTES);

const at = (id: number) => key(SPACE.blob, id);

function write(store: Store, id: number, bytes = VALUE_BYTES): Promise<void> {
  return store.transact((tx) => tx.set(at(id), Buffer.alloc(bytes, id)));
}

/** Writes enough to start a checkpoint. */
async function fillWal(store: Store, first = 1): Promise<void> {
  for (let id = first; id < first + WAL_BYTES / VALUE_BYTES; id++) await write(store, id);
}

test("a value can be appended to in place until it is checkpointed", async (t) => {
  const { store } = await opened(t);
  await write(store, 1, 3);
  const append = (size: number) =>
    store.transact((tx) => appendInPlace(tx, at(1), size, Buffer.from("more")));
  assert.equal(await append(3), true);
  assert.equal(await append(7), true);
  await fillWal(store, 100);
  assert.equal(await append(11), false);
  await write(store, 1, 11);
  assert.equal(await append(11), true);
});

test("a checkpoint skips values that a preparation replaced by shorter ones", async (t) => {
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
  await fillWal(store);
  await fillWal(store, 100);
  await store.close();
  assert.ok(calls > 0);
  const long = [...put].filter(([, bytes]) => bytes > VALUE_BYTES).map(([id]) => id);
  assert.ok(long.length > 10, "other values are copied unchanged");
  assert.deepEqual(
    long.filter((id) => id <= 10),
    [],
  );
});

test("a preparation may write more than the WAL has room for", async (t) => {
  const { store } = await opened(t);
  let isDone = false;
  let isFirst = true;
  store.beforeCheckpoint(async () => {
    if (!isFirst) return;
    isFirst = false;
    for (let round = 1; round <= 4; round++) await fillWal(store, round * 1_000);
    isDone = true;
  });
  for (let id = 1; !isDone; id++) {
    assert.ok(id < 100_000, "the preparation never ends");
    await write(store, id, 100);
  }
});

test("a preparation that fails or never ends delays neither writes nor close", async (t) => {
  const { store } = await opened(t);
  let calls = 0;
  store.beforeCheckpoint(async () => {
    calls++;
    throw new Error("no time");
  });
  store.beforeCheckpoint(() => new Promise(() => {}));
  for (let round = 1; round <= 6; round++) await fillWal(store, round * 1_000);
  assert.ok(calls > 1);
  await store.close();
});

test("a checkpoint skips a value only if the later one is durable in the WAL", async (t) => {
  const lmdbGate = new Gate();
  const diskGate = new Gate();
  let isDiskSlow = false;
  let commits = 0;
  const { store, folder } = await opened(t, {
    lmdb: (real) => ({
      transaction: async <T>(run: () => T): Promise<T> => {
        await lmdbGate.opened;
        const result = await real.transaction(run);
        commits++;
        return result;
      },
    }),
    wal: (file) => ({
      write: async (bytes, position) => {
        if (isDiskSlow) await diskGate.opened;
        return file.write(bytes, position);
      },
    }),
  });
  await write(store, 1, 100);
  lmdbGate.close();
  diskGate.close();
  await fillWal(store, 100);
  isDiskSlow = true;
  const later = write(store, 1, 200);
  const before = commits;
  lmdbGate.open();
  while (commits === before) await new Promise(setImmediate);
  const copy = await mkdtemp(join(tmpdir(), "lazuli-checkpoint-"));
  t.after(() => rm(copy, { recursive: true }));
  await cp(folder, copy, { recursive: true });
  diskGate.open();
  await later;

  const again = await openEmbeddedStore(copy, systemClock, assert.fail);
  assert.equal(await again.read((view) => view.get(at(1))?.length), 100);
  await again.close();
});

/** A promise that the test opens. */
class Gate {
  opened: Promise<void> = Promise.resolve();
  open: () => void = () => {};

  close(): void {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
