import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import { appendInPlace } from "./accelerated.ts";
import { addTo, k, list, type OpenStore, opened, put, read, v } from "./opened-store.contract.ts";

/** Registers tests of what `appendInPlace` promises. */
export function appendsInPlace(open: OpenStore): void {
  test("appended bytes follow the value, after any number of appends", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v(""));
    const bits = Array.from({ length: 300 }, (_, at) => Buffer.alloc(at % 50, at));
    for (const bit of bits) await store.transact((tx) => addTo(tx, k(1), bit));
    assert.deepEqual(await read(store, k(1)), Buffer.concat(bits));
    await store.transact((tx) => tx.set(k(1), v("anew")));
    await store.transact((tx) => addTo(tx, k(1), Buffer.alloc(100_000, 1)));
    const anew = Buffer.concat([v("anew"), Buffer.alloc(100_000, 1)]);
    assert.deepEqual(await read(store, k(1)), anew);
  });

  test("nothing is appended to a missing value, or to one of another size", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v("abc"));
    await put(store, k(2), v("gone"));
    await store.transact((tx) => tx.delete(k(2)));
    const done = await store.transact((tx) => [
      appendInPlace(tx, k(1), 2, v("x")),
      appendInPlace(tx, k(1), 4, v("x")),
      appendInPlace(tx, k(2), 4, v("x")),
      appendInPlace(tx, k(2), 0, v("x")),
      appendInPlace(tx, k(3), 0, v("x")),
    ]);
    assert.deepEqual(done, [false, false, false, false, false]);
    assert.deepEqual(await store.read((view) => list(view)), ["01=abc"]);
  });

  test("a body sees its own appends, combined with its other writes", async (t) => {
    const { store } = await opened(t, open);
    for (const at of [1, 2, 3]) await put(store, k(at), v("old"));
    const seen = await store.transact((tx) => {
      addTo(tx, k(1), v("+1"));
      assert.ok(appendInPlace(tx, k(1), 5, v("+2")));
      assert.equal(appendInPlace(tx, k(1), 3, v("+3")), false);
      addTo(tx, k(2), v("+"));
      tx.set(k(2), v("new"));
      assert.ok(appendInPlace(tx, k(2), 3, v("er")));
      addTo(tx, k(3), v("+"));
      tx.delete(k(3));
      assert.equal(appendInPlace(tx, k(3), 4, v("+")), false);
      tx.set(k(4), v("a"));
      assert.ok(appendInPlace(tx, k(4), 1, v("b")));
      return [`${tx.get(k(1))}`, `${tx.get(k(2))}`, `${tx.get(k(3))}`, ...list(tx)];
    });
    const all = ["01=old+1+2", "02=newer", "04=ab"];
    assert.deepEqual(seen, ["old+1+2", "newer", "undefined", ...all]);
    assert.deepEqual(await store.read((view) => list(view)), all);
  });

  test("a body sees a single append of its own, in ranges too", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v("old"));
    const seen = await store.transact((tx) => {
      addTo(tx, k(1), v("+"));
      return [`${tx.get(k(1))}`, ...list(tx), ...list(tx, 1, true)];
    });
    assert.deepEqual(seen, ["old+", "01=old+", "01=old+"]);
  });

  test("a body that throws appends nothing, and the caller may reuse its buffer", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v("kept"));
    const refused = store.transact((tx) => {
      addTo(tx, k(1), v(" lost"));
      throw new Fault("ConditionNotMet");
    });
    await assert.rejects(refused, Fault);
    const more = v(" more");
    await store.transact((tx) => addTo(tx, k(1), more));
    more.fill("x");
    assert.equal(`${await read(store, k(1))}`, "kept more");
  });

  test("an append does not change a value that was read before", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v("abc"));
    await store.transact((tx) => addTo(tx, k(1), v("d")));
    const before = await store.read((view) => view.get(k(1)));
    for (let round = 0; round < 36; round++) await store.transact((tx) => addTo(tx, k(1), v("e")));
    assert.equal(`${before}`, "abcd");
    assert.equal(`${await read(store, k(1))}`, `abcd${"e".repeat(36)}`);
  });
}
