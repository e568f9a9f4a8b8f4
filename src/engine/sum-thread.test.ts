import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { alignedBytes, placeInAlignedMemory, roomForWorker } from "../machine/aligned-bytes.ts";
import { someBytes } from "../store/bodies.fixture.ts";
import { bytesOnDisk, chunkBytesOf, sumsOf } from "./extent-chunks.ts";
import { SumQueue, type Sums } from "./sum-queue.ts";
import { newSumWorker, SUM_WORKER_BYTES, SumThread } from "./sum-thread.ts";

const LENGTHS = [1, 16_383, 16_384, 65_536, 65_537, 1_000_000];

function batchOf(length: number): Buffer {
  const pages = alignedBytes(bytesOnDisk(length));
  pages.fill(someBytes(pages.length, length), 0, pages.length);
  return pages;
}

/** Pending sums for each length, and the expected ones. */
function pendingSums(thread: SumThread) {
  return LENGTHS.map((length) => {
    const pages = batchOf(length);
    const pending = thread.begin(pages, length, chunkBytesOf(length));
    return { pending, expected: sumsOf(pages, length, chunkBytesOf(length)) };
  });
}

test("the worker computes sums, also in used memory, and of memory that was added later", async (t) => {
  await assertComputes(t, newSumWorker);
});

test("the worker computes sums where the system refuses to lower its priority", async (t) => {
  const refused = `
    const os = require("node:os");
    os.setPriority = () => { throw new Error("EPERM"); };
    require("node:module").syncBuiltinESMExports();
    import(${JSON.stringify(new URL("./sum-worker.js", import.meta.url))});`;
  await assertComputes(t, (queue, alignedRoom) => {
    return new Worker(refused, { eval: true, workerData: { alignedRoom, queue } });
  });
});

/** Asserts that the worker itself computes the sums of all lengths. */
async function assertComputes(t: TestContext, newWorker: typeof newSumWorker): Promise<void> {
  const queue = new SumQueue();
  // As an earlier user leaves it.
  const room = alignedBytes(SUM_WORKER_BYTES).fill(0xff);
  const worker = newWorker(queue.memory, roomForWorker(room));
  let failure: Error | null = null;
  worker.once("error", (error) => {
    failure = error;
  });
  t.after(() => worker.terminate());
  for (const length of LENGTHS) {
    alignedBytes(20_000_000);
    const pages = batchOf(length);
    const chunkBytes = chunkBytesOf(length);
    const place = placeInAlignedMemory(pages) as number;
    let computed: Sums | null = null;
    for (let rounds = 1; computed === null; rounds *= 2) {
      const slot = queue.ask({ place, length, chunkBytes }) as number;
      queue.wake();
      for (let round = 0; round < rounds; round++) await new Promise(setImmediate);
      computed = queue.take(slot);
      assert.equal(failure, null);
    }
    assert.deepEqual(computed, sumsOf(pages, length, chunkBytes));
  }
}

test("sums are right whether the thread was in time or not", async () => {
  const thread = new SumThread();
  for (let round = 0; round < 50; round++) {
    for (const { pending, expected } of pendingSums(thread)) {
      if (round % 2 === 1) await new Promise(setImmediate);
      assert.deepEqual(pending.sums(), expected);
    }
  }
});

test("there may be more requests than slots", () => {
  const thread = new SumThread();
  const all = Array.from({ length: 300 }, () => pendingSums(thread)).flat();
  for (const { pending, expected } of all) assert.deepEqual(pending.sums(), expected);
});

test("a thread that dies loses nothing, and is replaced", async () => {
  // It claims to have computed one, and dies.
  const workers = new Workers("new Int32Array(workerData)[1] = 1; throw new Error('no more');");
  for (let round = 1; round <= 3; round++) {
    await workers.lookAndEnd();
    assert.equal(workers.begun, round);
  }
});

test("a thread that cannot start is not restarted", async () => {
  const workers = new Workers("throw new Error('no thread');");
  await workers.lookAndEnd();
  for (const { pending, expected } of pendingSums(workers.thread))
    assert.deepEqual(pending.sums(), expected);
  assert.equal(workers.begun, 1);
});

test("after a close the thread has ended, and sums are still right", async () => {
  let worker: Worker | null = null;
  const thread = new SumThread((queue, room) => {
    worker = newSumWorker(queue, room);
    return worker;
  });
  const before = pendingSums(thread);
  const exited = new Promise((resolve) => (worker as Worker | null)?.once("exit", resolve));
  await thread.close();
  await exited;
  for (const { pending, expected } of [...before, ...pendingSums(thread)]) {
    assert.deepEqual(pending.sums(), expected);
  }
});

/** Starts threads that run another script. */
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
    const all = pendingSums(this.thread);
    const worker = this.#last as Worker;
    worker.ref();
    await new Promise((resolve) => worker.once("exit", resolve));
    for (const { pending, expected } of all) assert.deepEqual(pending.sums(), expected);
  }
}
