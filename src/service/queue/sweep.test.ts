import assert from "node:assert/strict";
import { test } from "node:test";
import { clearMessages } from "./clear-messages.ts";
import { deleteQueue } from "./delete-queue.ts";
import { getQueueMetadata } from "./get-queue-metadata.ts";
import { Queues } from "./queues.fixture.ts";
import { QueueSweep } from "./sweep.ts";

const HOUR_MS = 3_600_000;

test("a deleted queue leaves nothing behind, however much it held", async () => {
  const queues = await Queues.open();
  await queues.put(600, HOUR_MS);
  await queues.get(32);
  await deleteQueue(queues.context, queues.asked);
  await queues.sweep();
  queues.clock.advance(2 * HOUR_MS);
  await queues.sweep();
  assert.equal(await queues.recordsOfMessages(), 0);
});

test("a new queue of the same name keeps its messages while the old one is swept", async () => {
  const queues = await Queues.open();
  await queues.put(10);
  await deleteQueue(queues.context, queues.asked);
  await queues.create();
  await queues.put(3);
  await queues.sweep();
  const { messagesAbout } = await getQueueMetadata(queues.context, queues.asked);
  assert.equal(messagesAbout, 3);
  assert.equal((await queues.get(32)).length, 3);
});

test("cleared messages are swept, those put afterwards stay", async () => {
  const queues = await Queues.open();
  await queues.put(300);
  await clearMessages(queues.context, queues.asked);
  await queues.sweep();
  assert.equal(await queues.recordsOfMessages(), 0);
  await queues.put(2);
  await queues.sweep();
  assert.equal((await queues.get(32)).length, 2);
});

test("a round writes a bounded number of records, and says whether there is more to do", async () => {
  const queues = await Queues.open();
  await queues.put(1_000);
  await deleteQueue(queues.context, queues.asked);
  const sweep = new QueueSweep(queues.context);
  let rounds = 0;
  for (let left = await queues.recordsOfMessages(); await sweep.sweep(); rounds++) {
    const now = await queues.recordsOfMessages();
    assert.ok(left - now <= 257, `${left - now} records in one round`);
    left = now;
  }
  assert.ok(rounds >= 8, `${rounds} rounds`);
});

test("expired messages are swept in few steps, visible or hidden, and others stay", async () => {
  const queues = await Queues.open();
  await queues.put(700, 1_000);
  await queues.get(32, 10 * HOUR_MS);
  await queues.put(3_000);
  await queues.put(5, 3 * HOUR_MS);
  queues.clock.advance(2 * HOUR_MS);
  const sweep = new QueueSweep(queues.context);
  for (let left = await queues.recordsOfMessages(); await sweep.sweep(); ) {
    const now = await queues.recordsOfMessages();
    assert.ok(left - now <= 3 * 256 + 1, `${left - now} records in one round`);
    left = now;
  }
  const { messagesAbout } = await getQueueMetadata(queues.context, queues.asked);
  assert.equal(messagesAbout, 3_005);
  queues.clock.advance(2 * HOUR_MS);
  await queues.sweep();
  const later = await getQueueMetadata(queues.context, queues.asked);
  assert.equal(later.messagesAbout, 3_000);
});

test("a message that is taken or deleted during the sweep is not counted twice", async () => {
  const queues = await Queues.open();
  await queues.put(10, 1_000);
  queues.clock.advance(2 * HOUR_MS);
  const sweeping = queues.sweep();
  await queues.get(32);
  await sweeping;
  await queues.put(1);
  const { messagesAbout } = await getQueueMetadata(queues.context, queues.asked);
  assert.equal(messagesAbout, 1);
});

test("a round with nothing to do says so", async () => {
  const queues = await Queues.open();
  await queues.put(3, HOUR_MS);
  assert.equal(await new QueueSweep(queues.context).sweep(), false);
});
