import assert from "node:assert/strict";
import { test } from "node:test";
import { CountingStore } from "../../store/counting-store.fixture.ts";
import { IN_MEMORY, runningOnce } from "../shared/service-data.fixture.ts";
import type { QueueContext } from "./context.ts";
import { deleteMessage } from "./delete-message.ts";
import { getMessages } from "./get-messages.ts";
import { getQueueMetadata } from "./get-queue-metadata.ts";
import { peekMessages } from "./peek-messages.ts";
import { Queues } from "./queues.fixture.ts";

interface Costs {
  readonly get: number;
  readonly getMany: number;
  readonly peek: number;
  readonly delete: number;
  readonly metadata: number;
}

async function costsAt(backlog: number): Promise<Costs> {
  const queues = await Queues.open(IN_MEMORY);
  // Bodies run once for the backlog, which is not what is measured.
  await queues.put(backlog, null, 0, { store: runningOnce(queues.store) });
  const store = new CountingStore(runningOnce(queues.store));
  const context: QueueContext = { store };
  const { asked } = queues;
  const [got] = await getMessages(context, { ...asked, messagesMax: 1, hiddenMs: 30_000 });
  assert.ok(got);
  const get = store.used();
  await deleteMessage(context, { ...asked, messageId: got.messageId, receipt: got.receipt });
  const ofDelete = store.used();
  assert.equal((await peekMessages(context, { ...asked, messagesMax: 1 })).length, 1);
  const peek = store.used();
  const many = await getMessages(context, { ...asked, messagesMax: 5, hiddenMs: 30_000 });
  assert.equal(many.length, 5);
  const getMany = store.used();
  await getQueueMetadata(context, asked);
  return { get, delete: ofDelete, peek, getMany, metadata: store.used() };
}

const LARGE = 100_000;

test("get, peek and delete touch as many records at a backlog of 100,000 as of 10", async () => {
  const { metadata: few, ...small } = await costsAt(10);
  const { metadata: many, ...large } = await costsAt(LARGE);
  assert.deepEqual(large, small);
  assert.ok(Math.max(...Object.values(large)) <= 40, JSON.stringify(large));
  assert.ok(few <= 20 && many <= 20, "a count reads its stripes and no messages");
});

test("hidden and expired messages do not make a get slower for long", async () => {
  const queues = await Queues.open(IN_MEMORY);
  await queues.put(1_000, null, 3_600_000);
  await queues.put(5_000, 1_000);
  await queues.put(10);
  queues.clock.advance(1_000);
  const store = new CountingStore(runningOnce(queues.store));
  const ask = { ...queues.asked, messagesMax: 1, hiddenMs: 30_000 };
  await getMessages({ store }, ask);
  store.used();
  assert.equal((await getMessages({ store }, ask)).length, 1);
  assert.ok(store.used() <= 15, "the previous get removed the expired messages");
});
