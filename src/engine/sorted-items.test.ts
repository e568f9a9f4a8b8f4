import assert from "node:assert/strict";
import { test } from "node:test";
import { key, SPACE } from "../base/keys.ts";
import { keyOf, type Named, nameOf, SortedItems } from "./sorted-items.ts";

const COUNT = 5_000;

interface Item extends Named {
  readonly number: number;
}

function at(number: number): string {
  return nameOf(key(SPACE.blob, number));
}

/** Every number below COUNT once, in a fixed shuffled order. */
const shuffled = Array.from({ length: COUNT }, (_, number) => (number * 2_731) % COUNT);

function filled(): SortedItems<Item> {
  const items = new SortedItems<Item>();
  for (const number of shuffled) items.add({ name: at(number), number });
  return items;
}

function numbers(
  items: SortedItems<Item>,
  from: number,
  until: number,
  reverse: boolean,
): number[] {
  return [...items.scan(at(from), at(until), reverse)].map(({ number }) => number);
}

function assertHolds(items: SortedItems<Item>, expected: readonly number[]): void {
  for (let from = 0; from <= COUNT; from += 613) {
    for (let until = 0; until <= COUNT; until += 487) {
      const inside = expected.filter((number) => number >= from && number < until);
      assert.deepEqual(numbers(items, from, until, false), inside);
      assert.deepEqual(numbers(items, from, until, true), inside.toReversed());
      assert.equal(items.hasAny(at(from), at(until)), inside.length > 0);
    }
  }
  const present = new Set(expected);
  assert.equal(items.size, present.size);
  for (let number = 0; number < COUNT; number++) {
    assert.equal(items.get(at(number))?.number, present.has(number) ? number : undefined);
  }
}

test("a scan returns items in order, between any two names", () => {
  assertHolds(
    filled(),
    shuffled.toSorted((a, b) => a - b),
  );
});

test("names that differ only in their first character are different items", () => {
  const items = new SortedItems<Item>();
  const names = [SPACE.share, SPACE.blob, SPACE.engine].map((space) => nameOf(key(space, 7)));
  for (const [number, name] of names.entries()) items.add({ name, number });
  assert.deepEqual(
    names.map((name) => items.get(name)?.number),
    [0, 1, 2],
  );
  assert.deepEqual(
    [...items.scan("", "\u00ff", false)].map(({ number }) => number),
    [2, 1, 0],
  );
  items.delete(names[1] as string);
  items.delete(nameOf(key(SPACE.queue, 7)));
  assert.equal(items.size, 2);
});

test("deleted items are gone, also whole chunks of them, and can be added again", () => {
  const items = filled();
  const stays = (number: number) => number % 3 === 0 && (number < 1_000 || number >= 3_000);
  for (const number of shuffled) if (!stays(number)) items.delete(at(number));
  items.delete(at(COUNT + 1));
  const left = shuffled.filter(stays).sort((a, b) => a - b);
  assertHolds(items, left);
  for (const number of left) items.delete(at(number));
  assertHolds(items, []);
  items.add({ name: at(7), number: 7 });
  assertHolds(items, [7]);
});

test("names sort like their keys, and a name converts back to its key", () => {
  const keys = [[0], [0, 0], [0, 255], [1], [127], [128], [128, 0], [255], [255, 255]].map(
    (bytes) => Buffer.from(bytes),
  );
  for (const a of keys) {
    assert.deepEqual(keyOf(nameOf(a)), a);
    for (const b of keys) assert.equal(nameOf(a) < nameOf(b), a.compare(b) < 0);
  }
});

test("saved items come back whole, whatever was added, replaced and deleted since", () => {
  const items = filled();
  const all = shuffled.toSorted((a, b) => a - b);
  const whole = items.save();
  for (const number of shuffled) if (number % 3 === 0) items.delete(at(number));
  const thinned = items.save();
  const left = all.filter((number) => number % 3 !== 0);
  for (const number of all) if (number % 3 === 1) items.delete(at(number));
  for (const number of all) if (number % 3 === 0) items.add({ name: at(number), number: -number });
  assert.equal(items.get(at(3))?.number, -3);
  items.restore(thinned);
  assertHolds(items, left);
  // Without a search beforehand: the hash maps have nothing to delete.
  items.restore(whole);
  for (const number of all) if (number >= 600) items.delete(at(number));
  items.delete(at(COUNT + 1));
  assert.equal(items.size, 600);
  for (const number of all) if (number >= 600) items.add({ name: at(number), number });
  assertHolds(items, all);
  items.restore(thinned);
  assertHolds(items, left);
  items.restore(whole);
  assertHolds(items, all);
});

test("nothing comes back as well, and what is added after a restore is found", () => {
  const items = new SortedItems<Item>();
  const nothing = items.save();
  items.add({ name: at(1), number: 1 });
  const one = items.save();
  items.restore(nothing);
  assert.equal(items.get(at(1)), undefined);
  assert.equal(items.size, 0);
  items.add({ name: at(2), number: 2 });
  assertHolds(items, [2]);
  items.restore(one);
  items.add({ name: at(2), number: 2 });
  assertHolds(items, [1, 2]);
});
