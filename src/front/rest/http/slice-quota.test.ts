import assert from "node:assert/strict";
import { test } from "node:test";
import { SLICES_PER_ITERATION, SliceQuota } from "./slice-quota.ts";

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

/** Sends slice after slice, and notes when each may leave. */
async function send(quota: SliceQuota, slices: number, onSlice: () => void): Promise<void> {
  for (let sent = 0; sent < slices; sent++) {
    await quota.take();
    onSlice();
  }
}

test("one iteration of the event loop sends its quota of slices, and no more", async () => {
  const quota = new SliceQuota();
  let sent = 0;
  const done = send(quota, 3 * SLICES_PER_ITERATION, () => sent++);
  // The iteration in which it begins has a quota, too.
  for (const begun of [2, 3, 3]) {
    await nextIteration();
    assert.equal(sent, begun * SLICES_PER_ITERATION);
  }
  await done;
});

test("the quota is the same for any number of senders", async () => {
  const quota = new SliceQuota();
  let sent = 0;
  const count = 3 * SLICES_PER_ITERATION;
  const senders = Array.from({ length: count }, () => send(quota, 2, () => sent++));
  for (const begun of [2, 3, 4, 5, 6, 6]) {
    await nextIteration();
    assert.equal(sent, begun * SLICES_PER_ITERATION);
  }
  await Promise.all(senders);
});

test("waiting senders go on in the order in which they came, one slice each", async () => {
  const quota = new SliceQuota();
  const seen: number[] = [];
  const senders = Array.from({ length: 2 * SLICES_PER_ITERATION }, (_, sender) =>
    send(quota, 3, () => seen.push(sender)),
  );
  await Promise.all(senders);
  const everyone = senders.map((_, sender) => sender);
  assert.deepEqual(seen.slice(everyone.length), [...everyone, ...everyone]);
});

test("after a pause the whole quota is there again", async () => {
  const quota = new SliceQuota();
  await send(quota, SLICES_PER_ITERATION + 1, () => {});
  for (let iteration = 0; iteration < 3; iteration++) await nextIteration();
  for (let slice = 0; slice < SLICES_PER_ITERATION; slice++) assert.equal(quota.take(), undefined);
  assert.ok(quota.take() instanceof Promise);
});
