import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { someBytes } from "../store/bodies.fixture.ts";
import { alignedBytes } from "./aligned-bytes.ts";
import { Sha256Thread } from "./sha256-thread.ts";

function aligned(bytes: Buffer): Buffer {
  return alignedBytes(bytes.length).fill(bytes);
}

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

test("bodies that share the thread each get their own SHA-256", async (t) => {
  const thread = new Sha256Thread();
  t.after(() => thread.close());
  const [one, two] = [aligned(someBytes(300_000, 1)), aligned(someBytes(500_000, 2))] as const;
  const [first, second, abandoned] = [thread.begin(), thread.begin(), thread.begin()];
  await Promise.all([
    first.update(one.subarray(0, 100_000)),
    abandoned.update(one),
    second.update(two.subarray(0, 1)),
    first.update(one.subarray(100_000, 200_000)),
  ]);
  abandoned.abandon();
  const digests = await Promise.all([
    second.digest(two.subarray(1)),
    first.digest(one.subarray(200_000)),
  ]);
  assert.deepEqual(digests, [sha256(two), sha256(one)]);
});

test("a closed thread has ended, and bodies that are not finished fail", async () => {
  const thread = new Sha256Thread();
  const job = thread.begin();
  const waiting = assert.rejects(job.update(aligned(someBytes(100, 1))), /has ended/);
  await thread.close();
  await waiting;
  await assert.rejects(thread.begin().digest(aligned(someBytes(100, 1))), /has ended/);
});
