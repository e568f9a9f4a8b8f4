import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { alignedBytes } from "../base/aligned-bytes.ts";
import { someBytes } from "./bodies.fixture.ts";
import { Md5Job, Md5Thread } from "./md5-thread.ts";

test("bodies that take turns on the thread each get their own MD5", async () => {
  const thread = new Md5Thread();
  const bodies = [0, 1, 1_048_576, 3_500_000].map((length) => someBytes(length, length));
  const jobs = bodies.map(() => beginOn(thread));
  for (let from = 0; from < 3_500_000; from += 300_000) {
    for (const [at, job] of jobs.entries()) {
      await job.update(inTwo((bodies[at] as Buffer).subarray(from, from + 300_000)));
    }
  }
  for (const [at, job] of jobs.entries()) {
    const expected = createHash("md5").update(bodies[at] as Buffer);
    assert.deepEqual(await job.digest(), expected.digest());
  }
});

test("the thread takes four bodies at once, and another when one has ended", async () => {
  const thread = new Md5Thread();
  const [first, second, ...rest] = Array.from({ length: 4 }, () => beginOn(thread));
  assert.equal(thread.begin(), null);
  await first?.digest();
  rest.push(beginOn(thread));
  assert.equal(thread.begin(), null);
  await second?.update([someBytes(5_000_000, 1)]);
  second?.abandon();
  const next = beginOn(thread);
  await next.update([someBytes(2_000_000, 2)]);
  const expected = createHash("md5").update(someBytes(2_000_000, 2)).digest();
  assert.deepEqual(await next.digest(), expected);
  for (const job of rest) job.abandon();
});

test("if the thread dies, whoever waits for it is told", async () => {
  const ended: unknown[] = [];
  const job = new Md5Job(
    () => {},
    () => ended.push(1),
  );
  const late = [job.update([someBytes(10, 1)]), job.update([someBytes(10, 2)])];
  job.fail(new Error("out of memory"));
  for (const update of late) await assert.rejects(update, /out of memory/);
  await assert.rejects(job.digest(), /out of memory/);
  assert.equal(ended.length, 1);
});

test("shared memory is read where it is, other memory is copied", async () => {
  const posted: Uint8Array[] = [];
  const job = new Md5Job(
    (parts) => {
      posted.push(...parts);
      job.answered(null);
    },
    () => {},
  );
  const [shared, own] = [alignedBytes(100), someBytes(100, 1)];
  await job.update([shared, own]);
  assert.equal(posted[0], shared);
  assert.notEqual(posted[1], own);
  assert.deepEqual(Buffer.from(posted[1] as Uint8Array), own);
});

function inTwo(bytes: Buffer): Buffer[] {
  return [bytes.subarray(0, bytes.length / 3), bytes.subarray(bytes.length / 3)];
}

function beginOn(thread: Md5Thread): Md5Job {
  const job = thread.begin();
  assert.ok(job !== null);
  return job;
}
