import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { alignedBytes, placeInAlignedMemory } from "../../machine/aligned-bytes.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import { bytesOnDisk, chunkBytesOf, sumsOf } from "./extent-chunks.ts";
import { SumQueue, type Sums } from "./sum-queue.ts";
import { newSumWorker, SumThread } from "./sum-thread.ts";

const LENGTHS = [1, 16_383, 16_384, 65_536, 65_537, 1_000_000];

function batchOf(length: number): Buffer {
  const pages = alignedBytes(bytesOnDisk(length));
  pages.fill(someBytes(pages.length, length), 0, pages.length);
  return pages;
}

/** Of each length: what the thread's look tells, and what it should. */
function looks(thread: SumThread) {
  return LENGTHS.map((length) => {
    const pages = batchOf(length);
    const look = thread.look(pages, length, chunkBytesOf(length));
    return { look, expected: sumsOf(pages, length, chunkBytesOf(length)) };
  });
}

test("the worker computes what is asked, also in memory that came later", async (t) => {
  const queue = new SumQueue();
  const worker = newSumWorker(queue.memory);
  t.after(() => worker.terminate());
  for (const length of LENGTHS) {
    alignedBytes(20_000_000);
    const pages = batchOf(length);
    const chunkBytes = chunkBytesOf(length);
    const place = placeInAlignedMemory(pages) as number;
    let computed: Sums | null = null;
    for (let turns = 1; computed === null; turns *= 2) {
      const slot = queue.ask({ place, length, chunkBytes }) as number;
      queue.wake();
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      computed = queue.take(slot);
    }
    assert.deepEqual(computed, sumsOf(pages, length, chunkBytes));
  }
});

test("sums are told, whether the thread was there in time or not", async () => {
  const thread = new SumThread();
  for (let round = 0; round < 50; round++) {
    for (const { look, expected } of looks(thread)) {
      if (round % 2 === 1) await new Promise(setImmediate);
      assert.deepEqual(look.sums(), expected);
    }
  }
});

test("more may be asked for than there are slots", () => {
  const thread = new SumThread();
  const all = Array.from({ length: 300 }, () => looks(thread)).flat();
  for (const { look, expected } of all) assert.deepEqual(look.sums(), expected);
});

test("a thread that ends takes nothing along, and another one begins", async () => {
  // It says that it is done with one, and ends.
  const workers = new Workers("new Int32Array(workerData)[1] = 1; throw new Error('no more');");
  for (let round = 1; round <= 3; round++) {
    await workers.lookAndEnd();
    assert.equal(workers.begun, round);
  }
});

test("a thread that cannot begin is not begun again and again", async () => {
  const workers = new Workers("throw new Error('no thread');");
  await workers.lookAndEnd();
  for (const { look, expected } of looks(workers.thread)) assert.deepEqual(look.sums(), expected);
  assert.equal(workers.begun, 1);
});

/** A thread that runs something else. */
class Workers {
  readonly thread: SumThread;
  begun = 0;
  #last: Worker | null = null;

  constructor(code: string) {
    const withData = `const { workerData } = require("node:worker_threads"); ${code}`;
    this.thread = new SumThread((workerData) => {
      this.begun++;
      this.#last = new Worker(withData, { eval: true, workerData });
      return this.#last;
    });
  }

  async lookAndEnd(): Promise<void> {
    const all = looks(this.thread);
    const worker = this.#last as Worker;
    worker.ref();
    await new Promise((resolve) => worker.once("exit", resolve));
    for (const { look, expected } of all) assert.deepEqual(look.sums(), expected);
  }
}
