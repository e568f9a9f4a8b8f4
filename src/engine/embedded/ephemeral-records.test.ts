import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE, type Space } from "../../base/keys.ts";
import type { Store } from "../../store/store.ts";
import { walSecretOf } from "./checkpoint.ts";
import { openLmdb } from "./lmdb.ts";
import { SealedRecords } from "./sealed-records.ts";
import { EmbeddedStore, openEmbeddedStore } from "./store.ts";
import { walWith } from "./store-parts.fixture.ts";
import { WAL_BYTES_ENOUGH } from "./wal.ts";
import { checkWal } from "./wal-check.ts";
import { findWalFiles, type WalFile } from "./wal-file.ts";
import { readWalNote } from "./wal-notes.ts";

const EPHEMERAL_SPACES: ReadonlySet<Space> = new Set([SPACE.opens, SPACE.handle]);
const EPHEMERAL = key(SPACE.opens, 1);
const DURABLE = key(SPACE.file, 1);

/** A store whose WAL writes hang until the test answers them. */
async function slow(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-ephemeral-"));
  const hung: (() => void)[] = [];
  let isSlow = false;
  const slowed = (file: WalFile): WalFile => ({
    capacity: file.capacity,
    write: async (bytes: Bytes, position: number) => {
      if (isSlow) await new Promise<void>((resolve) => hung.push(resolve));
      await file.write(bytes, position);
    },
    growTo: (bytes) => file.growTo(bytes),
    close: () => file.close(),
  });
  const store = await EmbeddedStore.open({
    lmdb: await openLmdb(folder),
    wal: await walWith(folder, slowed),
    folder,
    clock: systemClock,
    failStop: assert.fail,
    walBytesEnough: WAL_BYTES_ENOUGH,
    ephemeral: EPHEMERAL_SPACES,
  });
  isSlow = true;
  t.after(async () => {
    isSlow = false;
    answerAll(hung);
    await store.close();
    await rm(folder, { recursive: true });
  });
  return { store, hung, folder };
}

function answerAll(hung: (() => void)[]): void {
  for (const answer of hung.splice(0)) answer();
}

function set(store: Store, at: Bytes, text: string): Promise<void> {
  return store.transact((tx) => tx.set(at, Buffer.from(text)));
}

function get(store: Store, at: Bytes): Promise<string> {
  return store.read((view) => String(view.get(at)));
}

/** Whether a promise settles within a few iterations of the event loop. */
async function isSettled(call: Promise<unknown>): Promise<boolean> {
  let settled = false;
  call.then(() => {
    settled = true;
  });
  for (let round = 0; round < 5; round++) await new Promise(setImmediate);
  return settled;
}

test("neither writers nor readers of ephemeral records wait for the disk", async (t) => {
  const { store, hung } = await slow(t);
  await set(store, EPHEMERAL, "open");
  assert.equal(await get(store, EPHEMERAL), "open");
  await store.transact((tx) => {
    tx.stamp();
    tx.delete(EPHEMERAL);
  });
  assert.equal(await get(store, EPHEMERAL), "undefined");
  assert.equal(hung.length, 0);
});

test("a call that wrote or read a durable record waits until it is durable", async (t) => {
  const { store, hung } = await slow(t);
  const calls = [
    set(store, DURABLE, "file"),
    get(store, DURABLE),
    store.read((view) => view.range(DURABLE, key(SPACE.file, 2), { limit: 9 }).length),
    store.transact((tx) => {
      if (tx.get(DURABLE) !== undefined) tx.set(EPHEMERAL, Buffer.from("open"));
    }),
  ];
  assert.equal(await isSettled(get(store, key(SPACE.file, 5))), true, "others do not wait");
  for (const call of calls) assert.equal(await isSettled(call), false);
  answerAll(hung);
  await Promise.all(calls);
});

test("a call that returns a stamp waits until the stamp cannot be given again", async (t) => {
  const { store, hung } = await slow(t);
  const stamp = store.transact((tx) => tx.stamp());
  assert.equal(await isSettled(stamp), false);
  answerAll(hung);
  await stamp;
});

test("a durable write makes earlier ephemeral writes durable, too", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-ephemeral-"));
  t.after(() => rm(folder, { recursive: true }));
  const store = await openEmbeddedStore(folder, systemClock, assert.fail, WAL_BYTES_ENOUGH, {
    ephemeral: EPHEMERAL_SPACES,
  });
  const ephemeral = [...EPHEMERAL_SPACES].map((space) => key(space, 7));
  for (const at of ephemeral) await set(store, at, "before");
  await set(store, DURABLE, "file");
  const { found } = await findWalFiles(folder);
  const lmdb = await openLmdb(folder);
  const records = new SealedRecords(lmdb);
  const secret = await walSecretOf(lmdb, records);
  const { groups } = checkWal(secret, 0, readWalNote(records), found);
  await lmdb.close();
  const keys = groups.flatMap((group) => group.records.map(({ key }) => key));
  assert.deepEqual(keys.map(String), [...ephemeral, DURABLE].map(String));
  await store.close();
});
