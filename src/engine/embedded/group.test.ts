import assert from "node:assert/strict";
import { test } from "node:test";
import { key, SPACE } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import type { Store } from "../../store/store.ts";
import { storeWith } from "./store-parts.fixture.ts";
import { WAL_BYTES_ENOUGH } from "./wal.ts";

/** Sets a MiB, and adds the id to `ran` when the body runs. */
function writeMib(store: Store, id: number, ran: number[]): Promise<void> {
  return store.transact((tx) => {
    ran.push(id);
    tx.set(key(SPACE.blob, id), Buffer.alloc(MIB));
  });
}

test("a group of 2 MiB takes no more writes, so that encoding it is short", async (t) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  let onFirst = () => {};
  const first = new Promise<void>((resolve) => {
    onFirst = resolve;
  });
  const { store } = await storeWith(
    t,
    {
      wal: (real) => ({
        // Bodies run once, because the files never have to grow.
        capacity: WAL_BYTES_ENOUGH,
        write: async (bytes, position) => {
          if (isFirst) {
            isFirst = false;
            onFirst();
            await released;
          }
          return real.write(bytes, position);
        },
      }),
    },
    WAL_BYTES_ENOUGH,
  );
  const ran: number[] = [];
  const writes = [writeMib(store, 0, ran)];
  await first;
  for (let id = 1; id <= 5; id++) writes.push(writeMib(store, id, ran));
  // A read of something else runs after the bodies that were called before it.
  await store.read((view) => view.get(key(SPACE.blob, 9)));
  assert.deepEqual(ran, [0, 1, 2]);
  release();
  await Promise.all(writes);
  assert.deepEqual(ran, [0, 1, 2, 3, 4, 5]);
});
