import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chunks, SLOTS, SumQueue, type Sums } from "./sum-queue.ts";

/** Both sides of a queue, on one thread. */
function ends() {
  const asking = new SumQueue();
  return { asking, computing: new SumQueue(asking.memory) };
}

/** Fake sums that identify the chunks. */
function sumsOf({ place, length, chunkBytes }: Chunks): Sums {
  const remainder = BigInt(place) * 1_000_000n + BigInt(length * 1000 + chunkBytes);
  return { remainder, checksum: 2 ** 32 - 1 - (place % 1000) };
}

function chunksAt(place: number): Chunks {
  return { place, length: 7, chunkBytes: 5 };
}

test("sums are available once they are computed", () => {
  const { asking, computing } = ends();
  const chunks = [0, 1, 2].map(chunksAt);
  const [first, second, third] = chunks.map((each) => asking.ask(each)) as [number, number, number];
  assert.ok(computing.computeNext(sumsOf));
  assert.ok(computing.computeNext(sumsOf));
  assert.deepEqual(asking.take(second), sumsOf(chunksAt(1)));
  assert.deepEqual(asking.take(first), sumsOf(chunksAt(0)));
  assert.equal(asking.take(third), null);
});

test("cancelled requests are skipped", () => {
  const { asking, computing } = ends();
  asking.take(asking.ask(chunksAt(0)) as number);
  const slot = asking.ask(chunksAt(1)) as number;
  const seen: number[] = [];
  const look = (chunks: Chunks) => {
    seen.push(chunks.place);
    return sumsOf(chunks);
  };
  assert.ok(computing.computeNext(look));
  assert.ok(computing.computeNext(look));
  assert.equal(computing.computeNext(look), false, "nothing is left to do");
  assert.deepEqual(seen, [1]);
  assert.deepEqual(asking.take(slot), sumsOf(chunksAt(1)));
});

test("a slot is not reused while the thread may write to it", () => {
  const { asking, computing } = ends();
  for (let place = 0; place < SLOTS; place++) asking.take(asking.ask(chunksAt(place)) as number);
  assert.equal(asking.ask(chunksAt(SLOTS)), null);
  assert.ok(computing.computeNext(sumsOf));
  const slot = asking.ask(chunksAt(SLOTS)) as number;
  assert.equal(asking.ask(chunksAt(SLOTS)), null, "only one slot is free");
  while (computing.computeNext(sumsOf));
  assert.deepEqual(asking.take(slot), sumsOf(chunksAt(SLOTS)));
});

test("a slot is not reused before its sums are taken", () => {
  const { asking, computing } = ends();
  const slots = Array.from({ length: SLOTS }, (_, place) => asking.ask(chunksAt(place)) as number);
  while (computing.computeNext(sumsOf));
  assert.equal(asking.ask(chunksAt(SLOTS)), null);
  for (const [place, slot] of slots.entries()) {
    assert.deepEqual(asking.take(slot), sumsOf(chunksAt(place)));
  }
  assert.equal(asking.ask(chunksAt(SLOTS)), slots[0]);
});

test("slots are reused, and places beyond 2 GiB are passed correctly", () => {
  const { asking, computing } = ends();
  for (let round = 0; round < 3 * SLOTS; round++) {
    const chunks = chunksAt(2 ** 32 - 1 - round);
    const slot = asking.ask(chunks) as number;
    assert.ok(computing.computeNext(sumsOf));
    assert.deepEqual(asking.take(slot), sumsOf(chunks));
  }
});

test("the thread does not sleep while there are requests", () => {
  const { asking, computing } = ends();
  asking.ask(chunksAt(0));
  computing.sleep();
  asking.wake();
  assert.ok(computing.computeNext(sumsOf));
});
