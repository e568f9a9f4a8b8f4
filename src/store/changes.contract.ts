import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { Fault } from "../base/fault.ts";
import { k, type OpenStore, opened, put, read, v } from "./opened-store.contract.ts";
import type { Store, Transaction } from "./store.ts";

/** Registers tests of `Store.changes`. */
export function changes(open: OpenStore): void {
  test("listeners get the keys of each commit before the call resolves", async (t) => {
    const { store } = await opened(t, open);
    const { told } = listen(store);
    await store.transact((tx) => {
      tx.set(k(1), v("x"));
      tx.set(k(2), v("x"));
      tx.set(k(1), v("y"));
    });
    assert.deepEqual(told.splice(0).sort(), ["01", "02"]);
    await store.transact((tx) => tx.delete(k(1)));
    assert.deepEqual(told.splice(0), ["01"]);
  });

  test("listeners hear nothing of reads, refusals and bodies that write nothing", async (t) => {
    const { store } = await opened(t, open);
    const { told } = listen(store);
    await read(store, k(1));
    await store.transact((tx) => tx.stamp());
    const refused = store.transact((tx) => {
      tx.set(k(1), v("x"));
      throw new Fault("BlobNotFound");
    });
    await assert.rejects(refused);
    assert.deepEqual(told, []);
  });

  test("listeners get concurrent commits in their order", async (t) => {
    const { store } = await opened(t, open);
    const { told } = listen(store);
    const next = (tx: Transaction) => {
      const count = Number(tx.get(k(0)) ?? 0);
      tx.set(k(0), v(`${count + 1}`));
      tx.set(k(1, count), v("x"));
    };
    await Promise.all(Array.from({ length: 50 }, () => store.transact(next)));
    const counted = told.filter((name) => name !== "00");
    assert.deepEqual(
      counted,
      Array.from({ length: 50 }, (_, count) => k(1, count).subarray(1).toString("hex")),
    );
  });

  test("a body that begins after a listener was called sees the writes", async (t) => {
    const { store } = await opened(t, open);
    const seen: Promise<Bytes | undefined>[] = [];
    store.changes((keys) => {
      for (const key of keys ?? []) seen.push(read(store, Buffer.from(key)));
    });
    await Promise.all(Array.from({ length: 10 }, (_, at) => put(store, k(at), v(`${at}`))));
    const values = (await Promise.all(seen)).map(String).sort();
    assert.deepEqual(
      values,
      Array.from({ length: 10 }, (_, at) => `${at}`),
    );
  });

  test("a listener that has ended hears nothing more, and others go on", async (t) => {
    const { store } = await opened(t, open);
    const one = listen(store);
    const other = listen(store);
    await put(store, k(1), v("x"));
    one.end();
    one.end();
    await put(store, k(2), v("x"));
    assert.deepEqual(one.told, ["01"]);
    assert.deepEqual(other.told, ["01", "02"]);
  });
}

/** Gathers the keys of all commits, as text. */
function listen(store: Store): { readonly told: string[]; end(): void } {
  const told: string[] = [];
  const end = store.changes((keys) => {
    assert.ok(keys !== null, "the engine lost track");
    for (const key of keys) told.push(key.subarray(1).toString("hex"));
  });
  return { told, end };
}
