import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { KEY_BYTES_MAX } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import { prefetch } from "./accelerated.ts";
import {
  ALL,
  k,
  list,
  type OpenStore,
  opened,
  put,
  read,
  render,
  v,
} from "./opened-store.contract.ts";
import type { Store, Transaction, View } from "./store.ts";

/** Registers tests of values and keys. */
export function values(open: OpenStore): void {
  test("get returns the value that was set, byte for byte", async (t) => {
    const { store } = await opened(t, open);
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const large = Buffer.alloc(5 * MIB, everyByte);
    const pairs: [Bytes, Bytes][] = [
      [k(1), Buffer.alloc(0)],
      [k(2), Buffer.from([0])],
      [k(...everyByte), everyByte],
      [k(3), large],
      [k(0, 0), large.subarray(0, 100_000)],
    ];
    for (const [key, value] of pairs) await put(store, key, value);
    for (const [key, value] of pairs) assert.deepEqual(await read(store, key), value);
    const stored = await store.read(
      (view) => view.range(k(3), k(4), { limit: 1 })[0]?.value.length,
    );
    assert.equal(stored, large.length);
  });

  test("many values read by one body stay valid until it ends", async (t) => {
    const { store } = await opened(t, open);
    const keys = Array.from({ length: 50 }, (_, at) => k(at));
    await store.transact((tx) => {
      for (const key of keys) tx.set(key, Buffer.alloc(3_000, key));
    });
    const check = (view: View) => {
      prefetch(view, () => keys);
      const got = keys.map((key) => view.get(key));
      const ranged = view.range(ALL.from, ALL.until, { limit: 100 });
      keys.forEach((key, at) => {
        assert.deepEqual(got[at], Buffer.alloc(3_000, key));
        assert.deepEqual(ranged[at], { key, value: got[at] });
      });
    };
    await store.read(check);
    await store.transact(check);
  });

  test("later reads and writes do not change a value that was read", async (t) => {
    const { store } = await opened(t, open);
    const write = (letter: string) =>
      store.transact((tx) => {
        tx.set(k(1), Buffer.alloc(10, letter));
        tx.set(k(2), Buffer.alloc(100_000, letter));
      });
    const look = (view: View) => [
      view.get(k(1)),
      view.get(k(2)),
      ...view.range(ALL.from, ALL.until, { limit: 2 }).map((entry) => entry.value),
    ];
    await write("a");
    const got = [...(await store.read(look)), ...(await store.transact(look))];
    const before = got.map((value) => Buffer.from(value ?? ""));
    for (const letter of "bcd") {
      await write(letter);
      await store.read(look);
    }
    assert.deepEqual(got, before);
  });

  test("a key that was never set, or was deleted, has no value", async (t) => {
    const { store } = await opened(t, open);
    assert.equal(await read(store, k(1)), undefined);
    await put(store, k(1), v("x"));
    await store.transact((tx) => tx.delete(k(1)));
    assert.equal(await read(store, k(1)), undefined);
    await store.transact((tx) => tx.delete(k(1)));
    assert.deepEqual(await store.read((view) => list(view)), []);
  });

  test("set replaces a value by a longer or a shorter one", async (t) => {
    const { store } = await opened(t, open);
    for (const length of [10, 10_000, 0, 100_000, 3]) {
      await put(store, k(1), Buffer.alloc(length, 7));
      assert.deepEqual(await read(store, k(1)), Buffer.alloc(length, 7));
    }
  });

  test("keys of keyBytesMax bytes may differ only in the last one", async (t) => {
    const { store } = await opened(t, open);
    assert.ok(store.keyBytesMax >= KEY_BYTES_MAX);
    const longest = Buffer.alloc(store.keyBytesMax, 0x20);
    const next = Buffer.from(longest);
    next[store.keyBytesMax - 1] = 0x21;
    await put(store, next, v("b"));
    await put(store, longest, v("a"));
    assert.deepEqual(await read(store, longest), v("a"));
    const found = await store.read((view) => view.range(longest, next, { limit: 5 }).length);
    assert.equal(found, 1);
    const back = await store.read((view) =>
      view
        .range(longest, Buffer.from([0x21]), { limit: 5, reverse: true })
        .map((e) => `${e.value}`),
    );
    assert.deepEqual(back, ["b", "a"]);
  });

  test("every method refuses empty keys and longer ones", async (t) => {
    const { store } = await opened(t, open);
    for (const bad of [Buffer.alloc(0), Buffer.alloc(store.keyBytesMax + 1, 0x20)]) {
      const uses: ((tx: Transaction) => unknown)[] = [
        (tx) => tx.get(bad),
        (tx) => tx.set(bad, v("x")),
        (tx) => tx.delete(bad),
        (tx) => tx.range(bad, ALL.until, { limit: 1 }),
        (tx) => tx.range(ALL.from, bad, { limit: 1 }),
      ];
      for (const use of uses) await assert.rejects(store.transact(use), RangeError);
    }
  });

  test("once a write is committed, the caller may reuse its buffers", async (t) => {
    const { store } = await opened(t, open);
    const key = k(1);
    const value = v("first");
    await put(store, key, value);
    key.fill(0x7f);
    value.fill(0);
    assert.deepEqual(await store.read((view) => list(view)), ["01=first"]);
  });
}

/** Registers tests of `View.range`. */
export function ranges(open: OpenStore): void {
  const fill = async (store: Store) => {
    const keys = [k(), k(0), k(0, 0), k(1), k(1, 255), k(127), k(128), k(255), k(255, 255)];
    await store.transact((tx) => {
      for (const key of keys.toReversed()) tx.set(key, v("x"));
    });
    return keys.map((key) => `${key.subarray(1).toString("hex")}=x`);
  };

  test("a range is in the order of the keys' bytes, or in reverse", async (t) => {
    const { store } = await opened(t, open);
    const inOrder = await fill(store);
    assert.deepEqual(await store.read((view) => list(view)), inOrder);
    assert.deepEqual(await store.read((view) => list(view, 1_000, true)), inOrder.toReversed());
  });

  test("a range includes its first bound, excludes its second, and may be empty", async (t) => {
    const { store } = await opened(t, open);
    await fill(store);
    const bounds: [Bytes, Bytes, string[]][] = [
      [k(0), k(1), ["00=x", "0000=x"]],
      [k(0), k(1, 0), ["00=x", "0000=x", "01=x"]],
      [k(2), k(127), []],
      [k(127), k(127), []],
      [k(128), k(127), []],
      [k(128), k(255, 255, 1), ["80=x", "ff=x", "ffff=x"]],
      [k(255, 255), Buffer.from([0x30]), ["ffff=x"]],
      [Buffer.from([0x1f]), k(0), ["=x"]],
    ];
    for (const [from, until, expected] of bounds) {
      for (const reverse of [false, true]) {
        const found = await store.read((view) =>
          render(view.range(from, until, { limit: 100, reverse })),
        );
        assert.deepEqual(reverse ? found.toReversed() : found, expected);
      }
    }
  });

  test("a range has its first entries up to the limit, or its last ones in reverse", async (t) => {
    const { store } = await opened(t, open);
    const inOrder = await fill(store);
    for (const limit of [0, 1, 3, inOrder.length, inOrder.length + 1]) {
      assert.deepEqual(await store.read((view) => list(view, limit)), inOrder.slice(0, limit));
      const back = await store.read((view) => list(view, limit, true));
      assert.deepEqual(back, inOrder.toReversed().slice(0, limit));
    }
  });

  test("several ranges in one body do not disturb each other", async (t) => {
    const { store } = await opened(t, open);
    const inOrder = await fill(store);
    await store.read((view) => {
      for (let at = 0; at < inOrder.length; at++) {
        assert.deepEqual(list(view, at), inOrder.slice(0, at));
        assert.deepEqual(view.get(k(1)), v("x"));
      }
    });
  });
}
