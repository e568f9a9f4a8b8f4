import assert from "node:assert/strict";
import { test } from "node:test";
import { newGuid } from "../../base/ids.ts";
import { Paths } from "../../service/blob/paths.fixture.ts";
import { createQueue } from "../../service/queue/create-queue.ts";
import { deleteQueue } from "../../service/queue/delete-queue.ts";
import { Queues } from "../../service/queue/queues.fixture.ts";
import type { Store } from "../../store/store.ts";
import { Census, type CensusFigures } from "./census.ts";

/** A census whose background steps run only when the test runs them. */
function censusOf(store: Store) {
  const due: (() => void)[] = [];
  const errors: unknown[] = [];
  const census = new Census({
    store,
    schedule: (callback) => {
      due.push(callback);
      return { cancel: () => void due.splice(0) };
    },
    onError: (error) => errors.push(error),
  });
  return { census, due, errors };
}

function figuresOf(census: Census): CensusFigures | null {
  return census.figures;
}

test("messages count as visible or hidden until they are deleted or expire", async () => {
  const queues = await Queues.open();
  const { census } = censusOf(queues.store);
  const counts = async () => {
    await census.refresh();
    const figures = figuresOf(census);
    return [figures?.count("visibleMessages"), figures?.count("hiddenMessages")];
  };
  assert.equal(figuresOf(census), null);
  assert.deepEqual(await counts(), [0, 0]);
  assert.equal(figuresOf(census)?.oldestMessageMs, null);
  await queues.put(3);
  await queues.put(1, 10_000);
  assert.deepEqual(await counts(), [4, 0]);
  await queues.get(2, 30_000);
  assert.deepEqual(await counts(), [2, 2]);
  queues.clock.advance(30_000);
  assert.deepEqual(await counts(), [3, 0]);
});

test("the oldest message is the first that was put, however often it was got", async () => {
  const queues = await Queues.open();
  const { census } = censusOf(queues.store);
  const putMs = queues.clock.now();
  await queues.put(1);
  queues.clock.advance(60_000);
  await queues.put(5);
  await queues.get(1, 30_000);
  queues.clock.advance(31_000);
  await queues.get(1, 30_000);
  await census.refresh();
  assert.equal(figuresOf(census)?.oldestMessageMs, putMs);
});

test("messages of a deleted queue do not count, although they are not swept yet", async () => {
  const queues = await Queues.open();
  const { census } = censusOf(queues.store);
  await queues.put(5);
  await deleteQueue(queues.context, queues.asked);
  await census.refresh();
  assert.equal(figuresOf(census)?.count("queues"), 0);
  assert.equal(figuresOf(census)?.count("visibleMessages"), 0);
});

test("a scrape waits for a bounded number of steps; the rest follows in the background", async () => {
  const queues = await Queues.open();
  for (let at = 0; at < 100; at++) {
    const queue = `queue-${at}`;
    // Long records, so that a step reads few of them.
    const metadata = [["m", newGuid().repeat(3_000)]] as const;
    await createQueue(queues.context, { ...queues.asked, at: { account: "a", queue }, metadata });
  }
  let reads = 0;
  const counting = Object.assign(Object.create(queues.store) as Store, {
    read: <T>(body: Parameters<Store["read"]>[0]) => {
      reads++;
      return queues.store.read(body) as Promise<T>;
    },
  });
  const { census, due } = censusOf(counting);
  await census.refresh();
  assert.equal(figuresOf(census), null);
  const readsOfScrape = reads;
  assert.ok(readsOfScrape <= 32, `${readsOfScrape} reads`);
  // Another scrape neither waits nor begins a second round.
  await census.refresh();
  assert.equal(reads, readsOfScrape);
  for (let steps = 0; figuresOf(census) === null; steps++) {
    assert.ok(steps < 100, "the round does not end");
    const next = due.shift();
    assert.ok(next !== undefined);
    next();
    while (due.length === 0 && figuresOf(census) === null) await new Promise(setImmediate);
  }
  assert.equal(figuresOf(census)?.count("queues"), 101);
  assert.deepEqual(due, []);
});

test("a census that fails is reported, and the next scrape begins anew", async () => {
  const queues = await Queues.open();
  await queues.put(1);
  let isBroken = true;
  const flaky = Object.assign(Object.create(queues.store) as Store, {
    read: (body: Parameters<Store["read"]>[0]) =>
      isBroken ? Promise.reject(new Error("broken")) : queues.store.read(body),
  });
  const { census, errors } = censusOf(flaky);
  await census.refresh();
  assert.equal(errors.length, 1);
  assert.equal(figuresOf(census), null);
  isBroken = false;
  await census.refresh();
  assert.equal(figuresOf(census)?.count("visibleMessages"), 1);
});

test("a stopped census reads nothing more", async () => {
  const queues = await Queues.open();
  const { census, due } = censusOf(queues.store);
  await census.stop();
  await census.refresh();
  assert.equal(figuresOf(census), null);
  assert.equal(due.length, 0);
});

test("what lies in directories counts, until one of the directories above is deleted", async () => {
  const paths = await Paths.openHierarchical();
  const { census } = censusOf(paths.blobs.store);
  const count = async () => {
    await census.refresh();
    return figuresOf(census)?.count("blobs");
  };
  for (const name of ["a/b/c", "a/d", "e"]) await paths.write(name, "x");
  assert.equal(await count(), 5);
  // The newer directory holds the older one now.
  await paths.create("directory", "n");
  await paths.rename("a", "n/a");
  assert.equal(await count(), 6);
  await paths.delete("n", { isRecursive: true });
  assert.equal(await count(), 1);
  await paths.blobs.sweep();
  assert.equal(await count(), 1);
});
