import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Bytes } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import { MIB } from "../base/limits.ts";
import { ALL, k, type OpenStore, opened, put, spell } from "./opened-store.contract.ts";
import type { Entry, Made, Making, Store, View } from "./store.ts";

/** Enough keys for an engine to find a stretch worth keeping. */
const KEYS = 120;
const KEYS_AT_FIRST = 100;
const LIMITS = [1, 7, 40, 1_000];

interface Spelled extends Made {
  readonly entries: readonly string[];
  readonly keys: readonly Bytes[];
}

const spelled: Making<Spelled> = {
  space: SPACE.container,
  make: (entries) => ({
    bytes: entries.length * 100,
    entries: spell(entries),
    keys: entries.map(({ key }) => key),
  }),
};

/** What the stretches tell of a range, walked from one to the next. */
function walk(view: View, from: Bytes, until: Bytes, limit: number): string[] {
  const found: string[] = [];
  for (let at = from; at.compare(until) < 0; ) {
    const stretch = view.stretch(spelled, at, until, limit);
    assert.ok(stretch.from.compare(at) <= 0 && stretch.until.compare(at) > 0);
    const { keys, entries } = stretch.made;
    keys.forEach((key, index) => {
      assert.ok(key.compare(stretch.from) >= 0 && key.compare(stretch.until) < 0);
      if (key.compare(at) >= 0 && key.compare(until) < 0) found.push(entries[index] as string);
    });
    at = stretch.until;
  }
  return found;
}

function assertTold(view: View, from: Bytes, until: Bytes, limit: number): void {
  const entries = view.range(from, until, { limit: KEYS });
  assert.deepEqual(walk(view, from, until, limit), spell(entries));
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

/** Registers tests of what `View.stretch` promises. */
export function stretches(open: OpenStore): void {
  test("stretches tell what the range tells, while writes are on their way and after", async (t) => {
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
        await store.read((view) => assertTold(view, k(from), k(until), limit));
        if (limit === 1) await written;
        await store.read((view) => assertTold(view, ALL.from, ALL.until, limit));
      }
      await Promise.all(writes);
      await store.read((view) => assertTold(view, ALL.from, ALL.until, KEYS));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("who has been told that a write is done finds it in the stretch", async (t) => {
    const { store } = await opened(t, open);
    await fill(store, 0);
    let done = 0;
    const reading = async () => {
      while (done < 200) {
        const least = done;
        const [first] = await store.read((view) => walk(view, ALL.from, ALL.until, KEYS));
        assert.ok(Number(first?.split("=")[1]) >= least, `${first} after ${least}`);
        // Reads alone would never let the event loop come to the commits.
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

  test("a body's stretches have what it has written itself, and nobody else's have", async (t) => {
    const { store } = await opened(t, open);
    await fill(store, 1);
    await store.read((view) => walk(view, ALL.from, ALL.until, KEYS));
    const refused = store.transact((tx) => {
      tx.set(k(3), Buffer.from("mine"));
      tx.delete(k(4));
      assertTold(tx, ALL.from, ALL.until, KEYS);
      assert.ok(walk(tx, ALL.from, ALL.until, KEYS).includes("03=mine"));
      throw new Error("refused");
    });
    await assert.rejects(refused, /refused/);
    const after = await store.read((view) => walk(view, ALL.from, ALL.until, KEYS));
    assert.deepEqual([after.length, after[3]], [KEYS_AT_FIRST, "03=1"]);
  });

  test("a stretch reads no further than it is asked to", async (t) => {
    const { store } = await opened(t, open);
    await fill(store, 1);
    const read: number[] = [];
    const counting: Making<Made> = {
      space: SPACE.container,
      make(entries: readonly Entry[]) {
        read.push(entries.length);
        return { bytes: 0 };
      },
    };
    await store.read((view) => {
      // Of a body that runs again the last run counts.
      read.length = 0;
      view.stretch(counting, k(10), k(13), 1_000);
      view.stretch(counting, k(10), ALL.until, 5);
      view.stretch(counting, k(110), ALL.until, 5);
    });
    assert.deepEqual(read, [3, 5, 0]);
  });

  test("a stretch of large entries ends early, and the next one goes on behind it", async (t) => {
    const { store } = await opened(t, open);
    const large = 8;
    await store.transact((tx) => {
      for (let at = 0; at < large; at++) tx.set(k(at), Buffer.alloc(MIB, at));
    });
    const read: number[] = [];
    const counting: Making<Made> = {
      space: SPACE.container,
      make(entries: readonly Entry[]) {
        read.push(entries.length);
        return { bytes: 0 };
      },
    };
    await store.read((view) => {
      read.length = 0;
      for (let at = ALL.from; at.compare(ALL.until) < 0; ) {
        at = view.stretch(counting, at, ALL.until, KEYS).until;
      }
    });
    assert.ok(Math.max(...read) < large, `${read}`);
    assert.equal(
      read.reduce((sum, entries) => sum + entries),
      large,
    );
  });
}
