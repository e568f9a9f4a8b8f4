import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { QueueClient, ReceivedMessageItem } from "@azure/storage-queue";
import { ManualClock } from "../../src/base/clock.ts";
import { openEmbeddedStore } from "../../src/engine/embedded/store.ts";
import { OWNER } from "../../src/rules/access.ts";
import { createQueue } from "../../src/service/queue/create-queue.ts";
import { deleteMessage } from "../../src/service/queue/delete-message.ts";
import { getMessages } from "../../src/service/queue/get-messages.ts";
import { putMessage } from "../../src/service/queue/put-message.ts";
import { type QueueServer, startQueueServer } from "./queue-server.ts";

let server: QueueServer;
let queue: QueueClient;

beforeEach(async () => {
  server = await startQueueServer();
  queue = server.client().getQueueClient("queue");
  await queue.create();
});

afterEach(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const CONSUMERS = 32;
const MESSAGES = 600;

/** Receives messages until there are none. */
async function consume(take: (message: ReceivedMessageItem) => Promise<void>, visibility = 30) {
  const consumer = async (index: number) => {
    for (;;) {
      const { receivedMessageItems } = await queue.receiveMessages({
        numberOfMessages: (index % 5) + 1,
        visibilityTimeout: visibility,
      });
      if (receivedMessageItems.length === 0) return;
      for (const message of receivedMessageItems) await take(message);
    }
  };
  await Promise.all(Array.from({ length: CONSUMERS }, (_, index) => consumer(index)));
}

async function fill(): Promise<Set<string>> {
  const ids = new Set<string>();
  const producer = async () => {
    while (ids.size < MESSAGES) {
      ids.add(`${ids.size}`);
      await queue.sendMessage(`${ids.size - 1}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, producer));
  return ids;
}

test("32 concurrent consumers get every message, none twice within its timeout", async () => {
  await fill();
  const seen = new Map<string, number>();
  await consume(async ({ messageId, dequeueCount }) => {
    assert.equal(dequeueCount, 1);
    seen.set(messageId, (seen.get(messageId) ?? 0) + 1);
  });
  const total = (await queue.getProperties()).approximateMessagesCount;
  assert.equal(seen.size, total);
  assert.deepEqual(new Set(seen.values()), new Set([1]));
});

test("messages of crashed consumers come back after the timeout", async () => {
  await fill();
  const total = (await queue.getProperties()).approximateMessagesCount as number;
  const receipts = new Set<string>();
  const done = new Set<string>();
  let at = 0;
  for (let round = 1; done.size < total; round++) {
    const before = done.size;
    await consume(async ({ messageId, popReceipt, dequeueCount }) => {
      assert.equal(dequeueCount, round, "received only once within this timeout");
      assert.ok(!receipts.has(popReceipt), "receipts are given once");
      receipts.add(popReceipt);
      // Every other consumer crashes with its message.
      if (at++ % 2 === 0) return;
      await queue.deleteMessage(messageId, popReceipt);
      assert.ok(!done.has(messageId), "a deleted message does not come back");
      done.add(messageId);
    }, 10);
    assert.ok(done.size > before || total - before <= 1);
    server.clock.advance(10_000);
  }
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

test("of many deletes with one receipt, one succeeds", async () => {
  await queue.sendMessage("one");
  const [got] = (await queue.receiveMessages()).receivedMessageItems;
  assert.ok(got);
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => queue.deleteMessage(got.messageId, got.popReceipt)),
  );
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
});

test("of many updates with one receipt, one succeeds, and its new receipt is valid", async () => {
  const { messageId, popReceipt } = await queue.sendMessage("one");
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) =>
      queue.updateMessage(messageId, popReceipt, `text ${at}`, 0),
    ),
  );
  const winners = results.flatMap((result, at) =>
    result.status === "fulfilled" ? [{ at, receipt: result.value.popReceipt as string }] : [],
  );
  assert.equal(winners.length, 1);
  const [winner] = winners;
  const [peeked] = (await queue.peekMessages()).peekedMessageItems;
  assert.equal(peeked?.messageText, `text ${winner?.at}`);
  await queue.deleteMessage(messageId, winner?.receipt as string);
});

test("messages, receipts and visibility survive a restart", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-queue-"));
  t.after(() => rm(folder, { recursive: true }));
  const clock = new ManualClock(1_700_000_000_000);
  const asked = { at: { account: "account", queue: "queue" }, access: OWNER };
  const open = async () => ({
    store: await openEmbeddedStore(folder, clock, (error) => assert.fail(error)),
  });
  const get = (context: Awaited<ReturnType<typeof open>>) =>
    getMessages(context, { ...asked, messagesMax: 32, hiddenMs: 10_000 });

  const first = await open();
  await createQueue(first, { ...asked, metadata: [] });
  for (const text of ["one", "two", "three"]) {
    await putMessage(first, { ...asked, text, hiddenMs: 0, lifeMs: null });
  }
  const got = await get(first);
  assert.deepEqual(
    got.map(({ text }) => text),
    ["one", "two", "three"],
  );
  await first.store.close();

  const second = await open();
  assert.deepEqual(await get(second), []);
  const [one] = got;
  assert.ok(one);
  await deleteMessage(second, { ...asked, messageId: one.messageId, receipt: one.receipt });
  clock.advance(10_000);
  const again = await get(second);
  assert.deepEqual(
    again.map(({ text, dequeueCount }) => [text, dequeueCount]),
    [
      ["two", 2],
      ["three", 2],
    ],
  );
  await second.store.close();
});
