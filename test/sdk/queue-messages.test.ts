import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { QueueClient } from "@azure/storage-queue";
import { type QueueServer, startQueueServer } from "./queue-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

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

const SECOND_MS = 1_000;
const WEEK_SECONDS = 604_800;

/** The current time, in whole seconds like dates on the wire. */
function nowOnWire(afterSeconds = 0): Date {
  return new Date(Math.floor(server.clock.now() / SECOND_MS + afterSeconds) * SECOND_MS);
}

async function get(visibilityTimeout?: number) {
  const { receivedMessageItems } = await queue.receiveMessages(
    visibilityTimeout === undefined ? {} : { visibilityTimeout },
  );
  return receivedMessageItems[0];
}

async function mustGet(visibilityTimeout?: number) {
  return (await get(visibilityTimeout)) ?? assert.fail("the queue has no visible message");
}

async function peek() {
  return (await queue.peekMessages()).peekedMessageItems[0];
}

async function count() {
  return (await queue.getProperties()).approximateMessagesCount;
}

test("a message comes back as it was put, with its times", async () => {
  const put = await queue.sendMessage("hello");
  assert.equal(put._response.status, 201);
  assert.match(
    put.messageId,
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assert.deepEqual(put.insertedOn, nowOnWire());
  assert.deepEqual(put.expiresOn, nowOnWire(WEEK_SECONDS));
  assert.deepEqual(put.nextVisibleOn, nowOnWire());
  const peeked = await peek();
  assert.deepEqual(peeked, {
    messageId: put.messageId,
    insertedOn: put.insertedOn,
    expiresOn: put.expiresOn,
    dequeueCount: 0,
    messageText: "hello",
  });
  server.clock.advance(10 * SECOND_MS);
  const got = await mustGet();
  assert.deepEqual(got, {
    ...peeked,
    dequeueCount: 1,
    popReceipt: got.popReceipt,
    nextVisibleOn: nowOnWire(30),
  });
  assert.notEqual(got.popReceipt, put.popReceipt);
});

test("any text that XML can carry round-trips", async () => {
  for (const text of [
    "",
    " ",
    "  spaces \t and tabs  ",
    '<a href="b">&amp;\'</a>]]>',
    "<QueueMessage><MessageText>x</MessageText></QueueMessage>",
    "ü漢字😀\u0085\u2028\ufffd\ue000",
    Buffer.from([0, 1, 2, 255]).toString("base64"),
    "a".repeat(65_536),
    "&".repeat(65_536),
    "😀".repeat(16_384),
  ]) {
    await queue.sendMessage(text);
    assert.equal((await peek())?.messageText, text);
    const got = await mustGet();
    assert.equal(got.messageText, text);
    const updated = await queue.updateMessage(got.messageId, got.popReceipt, text.slice(2));
    assert.equal((await peek())?.messageText, text.slice(2));
    await queue.deleteMessage(got.messageId, updated.popReceipt as string);
  }
});

/** The SDK drops line feeds when it sends, and parses only named references. */
test("raw XML keeps white space, carriage returns, CDATA and references", async () => {
  const body =
    '<?xml version="1.0" encoding="utf-8"?>\r\n<QueueMessage>\r\n  <MessageText> a\r\nb\r ' +
    "<![CDATA[<c>\r\n]]>&#x26;&#13;</MessageText>\r\n</QueueMessage>";
  const put = await rawRequest(server, { method: "POST", path: "/queue/messages", body });
  assert.equal(put.status, 201);
  const { text } = await rawRequest(server, { path: "/queue/messages?peekonly=true" });
  const escaped = " a&#xD;\nb&#xD; &lt;c&gt;&#xD;\n&amp;&#xD;";
  assert.ok(text.includes(`<MessageText>${escaped}</MessageText>`), text);
});

test("a text of more than 64 KiB is refused, however it is escaped", async () => {
  for (const text of ["a".repeat(65_537), "&".repeat(65_537), "😀".repeat(16_385)]) {
    await refused(queue.sendMessage(text), 413, "RequestBodyTooLarge");
  }
  await refused(queue.sendMessage("a".repeat(600_000)), 413, "RequestBodyTooLarge");
  assert.equal(await count(), 0);
  const { messageId, popReceipt } = await queue.sendMessage("kept");
  await refused(
    queue.updateMessage(messageId, popReceipt, "a".repeat(65_537)),
    413,
    "RequestBodyTooLarge",
  );
  assert.equal((await mustGet()).messageText, "kept");
});

test("a received message is hidden until its timeout has passed, then comes back", async () => {
  await queue.sendMessage("one");
  const first = await mustGet(5);
  assert.deepEqual(first.nextVisibleOn, nowOnWire(5));
  server.clock.advance(5 * SECOND_MS - 1);
  assert.equal(await get(), undefined);
  assert.equal(await peek(), undefined);
  server.clock.advance(1);
  assert.equal((await peek())?.dequeueCount, 1);
  const second = await mustGet(5);
  assert.deepEqual([second.messageId, second.dequeueCount], [first.messageId, 2]);
  assert.notEqual(second.popReceipt, first.popReceipt);
  assert.equal(await get(), undefined);
});

test("a message put with a visibility timeout is hidden until it has passed", async () => {
  const put = await queue.sendMessage("later", { visibilityTimeout: 60 });
  assert.deepEqual(put.nextVisibleOn, nowOnWire(60));
  server.clock.advance(60 * SECOND_MS - 1);
  assert.equal(await get(), undefined);
  assert.equal(await count(), 1);
  server.clock.advance(1);
  assert.equal((await mustGet()).messageText, "later");
});

test("messages come in the order in which they become visible", async () => {
  await queue.sendMessage("third", { visibilityTimeout: 2 });
  await queue.sendMessage("first");
  await queue.sendMessage("second");
  server.clock.advance(2 * SECOND_MS);
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
  const texts = receivedMessageItems.map(({ messageText }) => messageText);
  assert.deepEqual(texts, ["first", "second", "third"]);
});

test("a get returns as many messages as it asks for, and no more", async () => {
  for (let at = 0; at < 40; at++) await queue.sendMessage(String(at));
  const texts: string[] = [];
  for (const [numberOfMessages, expected] of [
    [1, 1],
    [5, 5],
    [32, 32],
    [32, 2],
    [32, 0],
  ] as const) {
    const peeked = await queue.peekMessages({ numberOfMessages });
    const got = await queue.receiveMessages({ numberOfMessages });
    assert.equal(peeked.peekedMessageItems.length, expected);
    assert.deepEqual(
      got.receivedMessageItems.map(({ messageId }) => messageId),
      peeked.peekedMessageItems.map(({ messageId }) => messageId),
    );
    texts.push(...got.receivedMessageItems.map(({ messageText }) => messageText));
  }
  assert.deepEqual(
    texts,
    Array.from({ length: 40 }, (_, at) => String(at)),
  );
  assert.equal(await count(), 40);
});

test("delete requires the latest receipt; older ones are refused and nothing is deleted", async () => {
  const put = await queue.sendMessage("one");
  const first = await mustGet(1);
  server.clock.advance(SECOND_MS);
  const second = await mustGet(1);
  for (const { popReceipt } of [put, first]) {
    await refused(queue.deleteMessage(put.messageId, popReceipt), 400, "PopReceiptMismatch");
    await refused(
      queue.updateMessage(put.messageId, popReceipt, "x", 0),
      400,
      "PopReceiptMismatch",
    );
  }
  const done = await queue.deleteMessage(second.messageId, second.popReceipt);
  assert.equal(done._response.status, 204);
  await refused(queue.deleteMessage(second.messageId, second.popReceipt), 404, "MessageNotFound");
  assert.equal(await count(), 0);
});

test("a receipt stays valid after its timeout, until the message is received again", async () => {
  await queue.sendMessage("one");
  await queue.sendMessage("two");
  const one = await mustGet(1);
  const two = await mustGet(1);
  server.clock.advance(60 * SECOND_MS);
  await queue.deleteMessage(one.messageId, one.popReceipt);
  const again = await mustGet();
  assert.equal(again.messageId, two.messageId);
  await refused(queue.deleteMessage(two.messageId, two.popReceipt), 400, "PopReceiptMismatch");
  await queue.deleteMessage(again.messageId, again.popReceipt);
});

test("the receipt of a put is valid at once", async () => {
  const one = await queue.sendMessage("one");
  const two = await queue.sendMessage("two", { visibilityTimeout: 100 });
  await queue.deleteMessage(one.messageId, one.popReceipt);
  await queue.updateMessage(two.messageId, two.popReceipt, "changed", 0);
  assert.equal((await mustGet()).messageText, "changed");
});

test("a receipt of one message is refused for another", async () => {
  const one = await queue.sendMessage("one");
  const two = await queue.sendMessage("two");
  await refused(queue.deleteMessage(one.messageId, two.popReceipt), 400, "PopReceiptMismatch");
  const other = server.client().getQueueClient("other");
  await other.create();
  await refused(other.deleteMessage(one.messageId, one.popReceipt), 404, "MessageNotFound");
  assert.equal(await count(), 2);
});

test("an update returns a new receipt, hides the message again, and preserves count and insertion time", async () => {
  const put = await queue.sendMessage("old");
  const got = await mustGet(10);
  server.clock.advance(SECOND_MS);
  const updated = await queue.updateMessage(got.messageId, got.popReceipt, "new", 20);
  assert.equal(updated._response.status, 204);
  assert.deepEqual(updated.nextVisibleOn, nowOnWire(20));
  assert.notEqual(updated.popReceipt, got.popReceipt);
  await refused(
    queue.updateMessage(got.messageId, got.popReceipt, "other", 0),
    400,
    "PopReceiptMismatch",
  );
  server.clock.advance(19 * SECOND_MS);
  assert.equal(await get(), undefined);
  server.clock.advance(SECOND_MS);
  const again = await mustGet();
  assert.deepEqual(
    [again.messageText, again.dequeueCount, again.insertedOn, again.expiresOn],
    ["new", 2, put.insertedOn, put.expiresOn],
  );
});

test("an update without a text preserves the text, an empty text empties it", async () => {
  const { messageId, popReceipt } = await queue.sendMessage("kept");
  const first = await queue.updateMessage(messageId, popReceipt, undefined, 0);
  assert.equal((await peek())?.messageText, "kept");
  await queue.updateMessage(messageId, first.popReceipt as string, "", 0);
  assert.equal((await peek())?.messageText, "");
});

test("a message is gone from the moment it expires", async () => {
  const put = await queue.sendMessage("short", { messageTimeToLive: 10 });
  assert.deepEqual(put.expiresOn, nowOnWire(10));
  server.clock.advance(10 * SECOND_MS - 1);
  assert.equal((await peek())?.messageText, "short");
  server.clock.advance(1);
  assert.equal(await peek(), undefined);
  const { messageId, popReceipt } = put;
  await refused(queue.deleteMessage(messageId, popReceipt), 404, "MessageNotFound");
  await refused(queue.updateMessage(messageId, popReceipt, "x", 0), 404, "MessageNotFound");
  assert.equal(await get(), undefined);
  assert.equal(await count(), 0, "the get has cleared it away");
});

test("a message that expires while it is hidden does not come back", async () => {
  await queue.sendMessage("short", { messageTimeToLive: 10 });
  const got = await mustGet(60);
  assert.deepEqual(got.nextVisibleOn, nowOnWire(60));
  server.clock.advance(10 * SECOND_MS);
  await refused(queue.deleteMessage(got.messageId, got.popReceipt), 404, "MessageNotFound");
  server.clock.advance(50 * SECOND_MS);
  assert.equal(await get(), undefined);
});

test("a message that never expires says so, and stays", async () => {
  const put = await queue.sendMessage("for ever", { messageTimeToLive: -1 });
  assert.equal(put.expiresOn.toUTCString(), "Fri, 31 Dec 9999 23:59:59 GMT");
  server.clock.advance(100 * 365 * 24 * 3_600 * SECOND_MS);
  assert.equal((await mustGet(WEEK_SECONDS)).messageText, "for ever");
});

test("expired messages, however many, do not block the others", async () => {
  for (let at = 0; at < 600; at++) await queue.sendMessage("short", { messageTimeToLive: 1 });
  for (let at = 0; at < 40; at++) await queue.sendMessage(`long ${at}`);
  server.clock.advance(SECOND_MS);
  const peeked = await queue.peekMessages({ numberOfMessages: 32 });
  const got = await queue.receiveMessages({ numberOfMessages: 32 });
  assert.equal(peeked.peekedMessageItems.length, 32);
  assert.deepEqual(
    got.receivedMessageItems.map(({ messageText }) => messageText),
    Array.from({ length: 32 }, (_, at) => `long ${at}`),
  );
});

test("peek changes nothing", async () => {
  const { popReceipt, messageId } = await queue.sendMessage("one");
  for (let at = 0; at < 3; at++) assert.equal((await peek())?.dequeueCount, 0);
  await queue.deleteMessage(messageId, popReceipt);
});

test("clear removes every message, including hidden ones, and their receipts", async () => {
  const hidden = await queue.sendMessage("hidden", { visibilityTimeout: 60 });
  const got = await queue.sendMessage("got");
  await mustGet();
  await queue.sendMessage("visible");
  const done = await queue.clearMessages();
  assert.equal(done._response.status, 204);
  assert.equal(await count(), 0);
  for (const { messageId, popReceipt } of [hidden, got]) {
    await refused(queue.deleteMessage(messageId, popReceipt), 404, "MessageNotFound");
  }
  server.clock.advance(3_600 * SECOND_MS);
  assert.equal(await get(), undefined);
  await queue.sendMessage("new");
  assert.equal((await mustGet()).messageText, "new");
});

test("the count includes every message, visible or not", async () => {
  assert.equal(await count(), 0);
  const put = await queue.sendMessage("one");
  await queue.sendMessage("two", { visibilityTimeout: 100 });
  await queue.sendMessage("three");
  assert.equal(await count(), 3);
  await queue.deleteMessage(put.messageId, put.popReceipt);
  await mustGet();
  assert.equal(await count(), 2);
});

test("receipts never repeat", async () => {
  const receipts = new Set<string>();
  for (let at = 0; at < 50; at++) receipts.add((await queue.sendMessage("x")).popReceipt);
  for (let round = 0; round < 5; round++) {
    const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
    for (const { popReceipt } of receivedMessageItems) receipts.add(popReceipt);
    server.clock.advance(30 * SECOND_MS);
  }
  assert.equal(receipts.size, 50 + 5 * 32);
});

test("old versions get an empty response to a put, and at most seven days to live", async () => {
  const asked = {
    method: "POST",
    path: "/queue/messages",
    body: "<QueueMessage><MessageText>old</MessageText></QueueMessage>",
    version: "2015-12-11",
  };
  const put = await rawRequest(server, asked);
  assert.deepEqual([put.status, put.text], [201, ""]);
  for (const [ttl, refusal] of [
    [-1, "InvalidQueryParameterValue"],
    [WEEK_SECONDS + 1, "OutOfRangeQueryParameterValue"],
  ] as const) {
    const path = `/queue/messages?messagettl=${ttl}`;
    const { status, code } = await rawRequest(server, { ...asked, path });
    assert.deepEqual([status, code], [400, refusal]);
  }
  assert.equal(await count(), 1);
});
