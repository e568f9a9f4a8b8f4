import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Bytes } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import { derivedRange } from "./accelerated.ts";
import type { Derivation, Derived } from "./acceleration.ts";
import type { Entry } from "./entry.ts";
import { ALL, k, type OpenStore, opened, put, render } from "./opened-store.contract.ts";
import type { Store, View } from "./store.ts";

/** More keys than `CACHED_ENTRIES_MIN`, so that an engine caches ranges of them. */
const KEYS = 120;
const KEYS_AT_FIRST = 100;
const LIMITS = [1, 7, 40, 1_000];

interface Rendered extends Derived {
  readonly entries: readonly string[];
  readonly keys: readonly Bytes[];
}

const rendered: Derivation<Rendered> = {
  space: SPACE.container,
  make: (entries) => ({
    bytes: entries.length * 100,
    entries: render(entries),
    keys: entries.map(({ key }) => key),
  }),
};

/** The entries of a key range, collected from one derived range after another. */
function walk(view: View, from: Bytes, until: Bytes, limit: number): string[] {
  const found: string[] = [];
  for (let at = from; at.compare(until) < 0; ) {
    const range = derivedRange(view, rendered, at, until, limit);
    assert.ok(range.from.compare(at) <= 0 && range.until.compare(at) > 0);
    const { keys, entries } = range.derived;
    keys.forEach((key, index) => {
      assert.ok(key.compare(range.from) >= 0 && key.compare(range.until) < 0);
      if (key.compare(at) >= 0 && key.compare(until) < 0) found.push(entries[index] as string);
    });
    at = range.until;
  }
  return found;
}

function assertAgree(view: View, from: Bytes, until: Bytes, limit: number): void {
  const entries = view.range(from, until, { limit: KEYS });
  assert.deepEqual(walk(view, from, until, limit), render(entries));
}

async function fill(store: Store, version: number): Promise<void> {
  await store.transact((tx) => {
    for (let at = 0; at < KEYS_AT_FIRST; at++) tx.set(k(at), Buffer.from(`${version}`));
  });
}

const anyKey = fc.nat(KEYS - 1);
const anyRound = fc.record({
  set: fc.array(anyKey, { maxLength: 3 }),
  deleted: fc.array(anyKey, { maxLength: 2 }),
  from: anyKey,
  until: anyKey,
  limit: fc.constantFrom(...LIMITS),
});

/** Registers tests of what `derivedRange` promises. */
export function derivedRanges(open: OpenStore): void {
  test("derived ranges agree with the records, during writes and after them", async (t) => {
    const { store } = await opened(t, open);
    let version = 0;
    const property = fc.asyncProperty(fc.array(anyRound, { maxLength: 12 }), async (rounds) => {
      await fill(store, ++version);
      const writes: Promise<void>[] = [];
      for (const { set, deleted, from, until, limit } of rounds) {
        const value = Buffer.from(`${++version}`);
        const written = store.transact((tx) => {
          for (const at of set) tx.set(k(at), value);
          for (const at of deleted) tx.delete(k(at));
        });
        writes.push(written);
        await store.read((view) => assertAgree(view, k(from), k(until), limit));
        if (limit === 1) await written;
        await store.read((view) => assertAgree(view, ALL.from, ALL.until, limit));
      }
      await Promise.all(writes);
      await store.read((view) => assertAgree(view, ALL.from, ALL.until, KEYS));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("a derived range includes every write that was acknowledged", async (t) => {
    const { store } = await opened(t, open);
    await fill(store, 0);
    let done = 0;
    const reading = async () => {
      while (done < 200) {
        const least = done;
        const [first] = await store.read((view) => walk(view, ALL.from, ALL.until, KEYS));
        assert.ok(Number(first?.split("=")[1]) >= least, `${first} after ${least}`);
        // Yield to the event loop: reads alone would starve the commits.
        await new Promise(setImmediate);
      }
    };
    const writing = async () => {
      for (let version = 1; version <= 200; version++) {
        await put(store, k(0), Buffer.from(`${version}`));
        done = version;
      }
    };
    await Promise.all([writing(), reading(), reading()]);
  });

  test("a body's derived ranges include its own writes, and no other body's do", async (t) => {
    const { store } = await opened(t, open);
    await fill(store, 1);
    await store.read((view) => walk(view, ALL.from, ALL.until, KEYS));
    const refused = store.transact((tx) => {
      tx.set(k(3), Buffer.from("mine"));
      tx.delete(k(4));
      assertAgree(tx, ALL.from, ALL.until, KEYS);
      assert.ok(walk(tx, ALL.from, ALL.until, KEYS).includes("03=mine"));
      throw new Error("refused");
    });
    await assert.rejects(refused, /refused/);
    const after = await store.read((view) => walk(view, ALL.from, ALL.until, KEYS));
    assert.deepEqual([after.length, after[3]], [KEYS_AT_FIRST, "03=1"]);
  });

  test("a derived range reads no more entries than its bounds and limit ask for", async (t) => {
    const { store } = await opened(t, open);
    await fill(store, 1);
    const read: number[] = [];
    const counting: Derivation<Derived> = {
      space: SPACE.container,
      make(entries: readonly Entry[]) {
        read.push(entries.length);
        return { bytes: 0 };
      },
    };
    await store.read((view) => {
      // If the body runs again, the last run counts.
      read.length = 0;
      derivedRange(view, counting, k(10), k(13), 1_000);
      derivedRange(view, counting, k(10), ALL.until, 5);
      derivedRange(view, counting, k(110), ALL.until, 5);
    });
    assert.deepEqual(read, [3, 5, 0]);
  });

  test("a derived range of large entries ends early; the next one continues there", async (t) => {
    const { store } = await opened(t, open);
    const large = 8;
    await store.transact((tx) => {
      for (let at = 0; at < large; at++) tx.set(k(at), Buffer.alloc(MIB, at));
    });
    const read: number[] = [];
    const counting: Derivation<Derived> = {
      space: SPACE.container,
      make(entries: readonly Entry[]) {
        read.push(entries.length);
        return { bytes: 0 };
      },
    };
    await store.read((view) => {
      read.length = 0;
      for (let at = ALL.from; at.compare(ALL.until) < 0; ) {
        at = derivedRange(view, counting, at, ALL.until, KEYS).until;
      }
    });
    assert.ok(Math.max(...read) < large, `${read}`);
    assert.equal(
      read.reduce((sum, entries) => sum + entries),
      large,
    );
  });
}
