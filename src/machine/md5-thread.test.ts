import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { someBytes } from "../store/bodies.fixture.ts";
import { alignedBytes } from "./aligned-bytes.ts";
import { Md5Job, Md5Thread } from "./md5-thread.ts";

test("bodies that share the thread each get their own MD5", async () => {
  const thread = new Md5Thread();
  const lengths = [1, 64, 1_048_576, 3_500_000, 2_000_001, 3_000_003];
  const bodies = lengths.map((length) => aligned(someBytes(length, length)));
  const jobs = bodies.map(() => thread.begin());
  const underWay: Promise<void>[] = [];
  for (let from = 0; from < 3_500_000; from += 300_000) {
    for (const [at, job] of jobs.entries()) {
      const body = bodies[at] as Buffer;
      if (from >= body.length) continue;
      const parts = inTwo(body.subarray(from, from + 300_000));
      underWay.push(job.update(parts, from + 300_000 >= body.length));
    }
  }
  await Promise.all(underWay);
  for (const [at, job] of jobs.entries()) {
    assert.deepEqual(job.digest(), md5(bodies[at] as Buffer));
  }
});

test("an abandoned body does not disturb later ones", async () => {
  const thread = new Md5Thread();
  const body = aligned(someBytes(2_000_000, 2));
  for (let round = 0; round < 5; round++) {
    const given = thread.begin();
    await given.update([aligned(someBytes(500_000, round))], false);
    given.abandon();
    const next = thread.begin();
    await next.update([body], true);
    assert.deepEqual(next.digest(), md5(body));
    next.abandon();
  }
});

test("if the thread dies, all waiting updates fail", async () => {
  const ended: unknown[] = [];
  const job = new Md5Job(
    alignedBytes(100),
    () => {},
    () => ended.push(1),
  );
  const late = [job.update([alignedBytes(10)], false), job.update([alignedBytes(10)], true)];
  job.fail(new Error("out of memory"));
  for (const update of late) await assert.rejects(update, /out of memory/);
  await assert.rejects(job.update([], true), /out of memory/);
  assert.throws(() => job.digest(), /has not ended/);
  assert.equal(ended.length, 1);
});

test("a closed thread has ended, and bodies that are not finished fail", async () => {
  const thread = new Md5Thread();
  const exits: Promise<unknown>[] = [];
  const noteExit = (worker: Worker) => {
    exits.push(new Promise((resolve) => worker.once("exit", resolve)));
  };
  process.once("worker", noteExit);
  const job = thread.begin();
  await job.update([aligned(someBytes(1_000, 1))], false);
  await thread.close();
  assert.equal(exits.length, 1);
  await exits[0];
  await assert.rejects(job.update([], true), /has ended/);
  assert.throws(() => thread.begin(), /has ended/);
});

function md5(bytes: Buffer): Buffer {
  return createHash("md5").update(bytes).digest();
}

function aligned(bytes: Buffer): Buffer {
  const copy = alignedBytes(bytes.length);
  copy.fill(bytes);
  return copy;
}

function inTwo(bytes: Buffer): Buffer[] {
  return [bytes.subarray(0, bytes.length / 3), bytes.subarray(bytes.length / 3)];
}
