import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Clock } from "../base/clock.ts";
import {
  addTo,
  assertRising,
  k,
  list,
  opened,
  type PersistentStore,
  put,
  read,
  v,
} from "./opened-store.contract.ts";
import type { Store } from "./store.ts";

/** Registers tests of what a persistent store promises across restarts. */
export function persistentStoreContract(
  engine: string,
  open: (clock: Clock) => Promise<PersistentStore>,
): void {
  describe(`${engine} store, closed and opened again`, () => {
    test("committed writes survive a restart", async (t) => {
      const { store, reopen } = await opened(t, open);
      await put(store, k(1), v("first"));
      await put(store, k(2), Buffer.alloc(100_000, 3));
      await store.transact((tx) => tx.delete(k(1)));
      const again = await reopen();
      assert.equal(await read(again, k(1)), undefined);
      assert.deepEqual(await read(again, k(2)), Buffer.alloc(100_000, 3));
    });

    test("a value that was appended to in place survives a restart as a whole", async (t) => {
      const { store, reopen } = await opened(t, open);
      await put(store, k(1), v("a"));
      await store.transact((tx) => addTo(tx, k(1), v("b")));
      await Promise.all(["c", "d"].map((more) => store.transact((tx) => addTo(tx, k(1), v(more)))));
      assert.deepEqual(await read(await reopen(), k(1)), v("abcd"));
    });

    test("transactions under way when the store is closed survive", async (t) => {
      const { store, reopen } = await opened(t, open);
      const underWay = Array.from({ length: 20 }, (_, at) => put(store, k(at), v("x")));
      const again = await reopen();
      await Promise.all(underWay);
      assert.equal(await again.read((view) => list(view).length), 20);
    });

    test("stamps rise across a restart, even if the clock went back meanwhile", async (t) => {
      const { store, clock, reopen } = await opened(t, open);
      const given = [await oneStamp(store), await oneStamp(store)];
      clock.advance(-3_600_000);
      const again = await reopen();
      given.push(await oneStamp(again), await oneStamp(again));
      assertRising(given);
    });
  });
}

function oneStamp(store: Store) {
  return store.transact((tx) => tx.stamp());
}
