import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Bytes } from "../../base/bytes.ts";
import { nameOf } from "../sorted-items.ts";
import { RecordCache } from "./record-cache.ts";

const k = (at: number) => Buffer.from([0x20, at]);
const v = (text: string) => Buffer.from(text);

test("a value that a later commit changed is not learned from an earlier answer", () => {
  const cache = new RecordCache(1_000_000);
  cache.forget(1);
  const fetch = cache.beginFetch();
  cache.advance(2, [{ key: k(1), value: v("new") }]);
  cache.learnKey(fetch, 1, k(1), v("old"));
  assert.equal(cache.get(nameOf(k(1))), undefined);
  cache.learnKey(fetch, 1, k(2), v("same"));
  assert.deepEqual(cache.get(nameOf(k(2))), v("same"));
});

test("in a range that is learned late, what changed meanwhile stays unknown", () => {
  const cache = new RecordCache(1_000_000);
  cache.forget(1);
  const fetch = cache.beginFetch();
  cache.advance(2, [
    { key: k(1), value: v("new") },
    { key: k(3), value: v("added") },
  ]);
  const range = { from: nameOf(k(0)), until: nameOf(k(9)) };
  cache.learnRange(fetch, 1, range, [
    { key: k(1), value: v("old") },
    { key: k(2), value: v("same") },
  ]);
  const known = [1, 2, 3, 4].map((at) => cache.get(nameOf(k(at))));
  assert.deepEqual(known, [undefined, v("same"), undefined, null]);
});

test("an answer from before the cache lost track is not learned", () => {
  const cache = new RecordCache(1_000_000);
  cache.forget(1);
  const fetch = cache.beginFetch();
  cache.forget(5);
  cache.learnKey(fetch, 4, k(1), v("old"));
  cache.learnRange(fetch, 4, { from: nameOf(k(0)), until: nameOf(k(9)) }, []);
  assert.equal(cache.get(nameOf(k(1))), undefined);
  cache.learnKey(fetch, 5, k(1), v("new"));
  assert.deepEqual(cache.get(nameOf(k(1))), v("new"));
});

test("a cache that is too large evicts what was not used lately, and not what bodies need", () => {
  const cache = new RecordCache(10_000);
  cache.forget(1);
  const learn = (at: number) => {
    const fetch = cache.beginFetch();
    cache.makeRoom();
    cache.learnKey(fetch, 1, k(at), Buffer.alloc(1_000));
    cache.endFetch(fetch);
  };
  for (let at = 0; at < 100; at++) {
    learn(at);
    assert.ok(cache.get(nameOf(k(0))) !== undefined, "used all the time");
  }
  assert.ok(cache.bytes <= 12_500, `${cache.bytes}`);
  assert.equal(cache.get(nameOf(k(50))), undefined);
  assert.ok(cache.get(nameOf(k(99))) !== undefined);
});

test("a changed value takes the place of the old one, and its memory", () => {
  const cache = new RecordCache(1_000_000);
  cache.forget(1);
  const fetch = cache.beginFetch();
  const learn = () => {
    const range = { from: nameOf(k(0)), until: nameOf(k(5)) };
    cache.learnRange(fetch, 1, range, [{ key: k(1), value: v("old") }]);
    cache.learnKey(fetch, 1, k(7), v("old"));
  };
  learn();
  const before = cache.bytes;
  const change = (number: number, value: Bytes) =>
    cache.advance(
      number,
      [k(1), k(7)].map((key) => ({ key, value })),
    );
  change(2, Buffer.alloc(1_000));
  assert.equal(cache.bytes, before + 2 * (1_000 - 3));
  assert.deepEqual(
    [...cache.scan(nameOf(k(0)), nameOf(k(9)), false)].map(({ value }) => value?.length),
    [1_000, 1_000],
  );
  change(3, v("new"));
  assert.equal(cache.bytes, before);
  cache.forget(4);
  assert.equal(cache.bytes, 0);
});

const anyKey = fc.nat(15).map(k);
const anyStep = fc.oneof(
  fc.record({ do: fc.constant("commit" as const), key: anyKey, isDeleted: fc.boolean() }),
  fc.record({ do: fc.constant("fetch key" as const), key: anyKey }),
  fc.record({ do: fc.constant("fetch range" as const), from: fc.nat(15), length: fc.nat(8) }),
  fc.record({ do: fc.constant("make room" as const) }),
);

test("whatever is learned in whatever order, the cache never shows a wrong value", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), fc.nat(3), (steps, lag) => {
      const cache = new RecordCache(3_000);
      /** The records as of each commit. */
      const states: Map<string, Bytes>[] = [new Map()];
      cache.forget(0);
      // Answers arrive `lag` steps after they were made.
      const late: (() => void)[] = [];
      for (const step of steps) {
        const number = states.length - 1;
        const now = states[number] as Map<string, Bytes>;
        if (step.do === "commit") {
          const next = new Map(now);
          const value = step.isDeleted ? null : v(`${states.length}`);
          if (value === null) next.delete(nameOf(step.key));
          else next.set(nameOf(step.key), value);
          states.push(next);
          cache.advance(number + 1, [{ key: step.key, value: lag === 1 ? undefined : value }]);
        }
        if (step.do === "fetch key") {
          const fetch = cache.beginFetch();
          const value = now.get(nameOf(step.key)) ?? null;
          late.push(() => cache.learnKey(fetch, number, step.key, value));
        }
        if (step.do === "fetch range") {
          const fetch = cache.beginFetch();
          const range = { from: nameOf(k(step.from)), until: nameOf(k(step.from + step.length)) };
          const records = [...now]
            .filter(([name]) => name >= range.from && name < range.until)
            .map(([name, value]) => ({ key: Buffer.from(name, "latin1"), value }));
          late.push(() => cache.learnRange(fetch, number, range, records));
        }
        if (step.do === "make room") cache.makeRoom();
        while (late.length > lag) late.shift()?.();
        const newest = states.at(-1) as Map<string, Bytes>;
        for (let at = 0; at < 16; at++) {
          const known = cache.get(nameOf(k(at)));
          if (known !== undefined) assert.deepEqual(known, newest.get(nameOf(k(at))) ?? null);
        }
      }
    }),
    { numRuns: 500 },
  );
});
