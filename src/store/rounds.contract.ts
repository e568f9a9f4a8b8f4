import assert from "node:assert/strict";
import { test } from "node:test";
import { keyAfter } from "../base/keys.ts";
import { stampOf } from "../base/stamp.ts";
import { prefetch } from "./accelerated.ts";
import { ALL, k, list, type OpenStore, opened, render, v } from "./opened-store.contract.ts";
import type { Transaction, View } from "./store.ts";

/** Registers tests of bodies that an engine without all records at hand runs in rounds. */
export function rounds(open: OpenStore): void {
  test("a body that reads keys made of its own stamps ends, also beside others", async (t) => {
    const { store } = await opened(t, open);
    const body = (tx: Transaction) => {
      const first = Buffer.concat([k(1), Buffer.from(`${tx.stamp()}`)]);
      assert.equal(tx.get(first), undefined);
      const second = Buffer.concat([k(2), Buffer.from(`${tx.stamp()}`)]);
      assert.deepEqual(tx.range(second, keyAfter(second), { limit: 1 }), []);
      tx.set(first, v("x"));
      tx.set(second, v("x"));
    };
    await Promise.all(Array.from({ length: 20 }, () => store.transact(body)));
    assert.equal((await store.read((view) => list(view))).length, 40);
  });

  test("a body that reads a key made of its time ends while the clock goes on", async (t) => {
    const { store, clock } = await opened(t, open);
    const body = (view: View) => {
      const until = Buffer.concat([k(1), Buffer.from(`${stampOf(view.now())}`)]);
      clock.advance(1_000);
      return view.get(until) ?? view.range(k(1), until, { limit: 9 }).length;
    };
    assert.equal(await store.read(body), 0);
    assert.equal(await store.transact(body), 0);
  });

  test("what a body names with prefetch changes nothing of what it reads", async (t) => {
    const { store } = await opened(t, open);
    await store.transact((tx) => {
      for (const at of [1, 2, 3]) tx.set(k(at), v("old"));
    });
    const body = (view: View) => {
      prefetch(view, () => [
        k(1),
        k(9),
        { from: k(1), until: k(3), options: { limit: 1, reverse: true } },
        { from: k(2), until: ALL.until, options: { limit: 5 } },
      ]);
      return [
        String(view.get(k(1))),
        String(view.get(k(9))),
        ...render(view.range(k(1), k(3), { limit: 1, reverse: true })),
        ...render(view.range(k(2), ALL.until, { limit: 5 })),
      ];
    };
    const expected = (now: string) => [now, "undefined", `02=${now}`, `02=${now}`, `03=${now}`];
    assert.deepEqual(await store.read(body), expected("old"));
    const written = await store.transact((tx) => {
      for (const at of [1, 2, 3]) tx.set(k(at), v("new"));
      return body(tx);
    });
    assert.deepEqual(written, expected("new"));
  });
}
