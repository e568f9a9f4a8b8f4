import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../base/clock.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import type { Store } from "../../store/store.ts";
import { lmdbWith } from "./lmdb.fixture.ts";
import { openLmdb } from "./lmdb.ts";
import { EmbeddedStore, openEmbeddedStore } from "./store.ts";
import { WAL_BYTES_ENOUGH } from "./wal.ts";
import { findWalFiles } from "./wal-file.ts";

const ROW = key(SPACE.messageSlot, 1);
const RECORDS = 2_000;

/** Deletes the first record and returns its number. */
function take(store: Store): Promise<number> {
  return store.transact((tx) => {
    const [first] = tx.range(ROW, keyAfter(ROW), { limit: 1 });
    if (first === undefined) return -1;
    tx.delete(first.key);
    return Number(first.value);
  });
}

function put(store: Store, number: number): Promise<void> {
  return store.transact((tx) =>
    tx.set(key(SPACE.messageSlot, 1, number), Buffer.from(`${number}`)),
  );
}

test("taking from the front does not scan the records taken before", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-state-"));
  t.after(() => rm(folder, { recursive: true }));
  const filled = await openEmbeddedStore(folder, systemClock, assert.fail);
  await Promise.all(Array.from({ length: RECORDS }, (_, number) => put(filled, number)));
  await filled.close();

  const real = await openLmdb(folder);
  let met = 0;
  const lmdb = lmdbWith(real, {
    getRange: (range) =>
      real.getRange(range).map((entry) => {
        met++;
        return entry;
      }),
  });
  const wal = await findWalFiles(folder);
  const walBytesEnough = WAL_BYTES_ENOUGH + 4 * KIB;
  const setup = { lmdb, wal, folder, clock: systemClock, failStop: assert.fail, walBytesEnough };
  const store = await EmbeddedStore.open(setup);
  for (let number = 0; number < RECORDS / 2; number++) assert.equal(await take(store), number);
  assert.ok(met < 30 * RECORDS, `${met} records of lmdb were met for ${RECORDS / 2}`);
  await put(store, 10);
  assert.equal(await take(store), 10);
  assert.equal(await take(store), RECORDS / 2);
  for (let number = RECORDS / 2 + 1; number < RECORDS; number++) {
    assert.equal(await take(store), number);
  }
  met = 0;
  for (let round = 0; round < 50; round++) assert.equal(await take(store), -1);
  assert.ok(met < RECORDS, `${met} records of lmdb were met, and none was there`);
  await store.close();
});

const KEYS = 200;
const place = fc.nat(KEYS);
const step = fc.oneof(
  fc.record({ deleteFrom: place, until: place }),
  fc.record({ set: place }),
  fc.record({
    from: place,
    until: place,
    limit: fc.constantFrom(1, 5, 500),
    reverse: fc.boolean(),
  }),
);

test("scans are right whatever key ranges are deleted and written again", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-state-"));
  const at = (number: number) => key(SPACE.messageSlot, 1, number);
  const filled = await openEmbeddedStore(folder, systemClock, assert.fail);
  await Promise.all(Array.from({ length: KEYS }, (_, number) => put(filled, number)));
  await filled.close();
  const store = await openEmbeddedStore(folder, systemClock, assert.fail);
  t.after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  const there = new Set(Array.from({ length: KEYS }, (_, number) => number));
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    for (const taken of steps) {
      if ("set" in taken) {
        there.add(taken.set);
        await put(store, taken.set);
      } else if ("deleteFrom" in taken) {
        await store.transact((tx) => {
          for (let number = taken.deleteFrom; number < taken.until; number++) {
            there.delete(number);
            tx.delete(at(number));
          }
        });
      } else {
        const { from, until, limit, reverse } = taken;
        const found = await store.read((view) =>
          view.range(at(from), at(until), { limit, reverse }).map(({ value }) => Number(value)),
        );
        const sorted = [...there].sort((a, b) => (reverse ? b - a : a - b));
        const expected = sorted.filter((number) => number >= from && number < until);
        assert.deepEqual(found, expected.slice(0, limit));
      }
    }
  });
  await fc.assert(property, { numRuns: 200 });
});
