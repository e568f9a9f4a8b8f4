import assert from "node:assert/strict";
import { test } from "node:test";
import azure from "azure-storage";
import { startQueueServer } from "../sdk/queue-server.ts";
import { forThisFile } from "../sdk/server.ts";
import { answerOf, hostsOf, policyOf, refusedLegacy, statsOf } from "./legacy-answer.ts";

const server = await forThisFile(startQueueServer());
const queues = azure.createQueueService(server.account, server.key, hostsOf(server.url));
let count = 0;

type Message = azure.QueueService.QueueMessageResult;

async function makeQueue(options: object = {}): Promise<string> {
  const name = `legacy-${++count}`;
  await answerOf(queues, "createQueue", name, options);
  return name;
}

test("queues are created, listed, checked for existence and deleted", async () => {
  const name = await makeQueue({ metadata: { color: "red" } });
  const again = await answerOf<{ created: boolean }>(queues, "createQueueIfNotExists", name);
  assert.equal(again.created, false);
  const list = await answerOf<azure.QueueService.ListQueueResult>(
    queues,
    "listQueuesSegmentedWithPrefix",
    name,
    null,
    { include: "metadata" },
  );
  assert.deepEqual(
    list.entries.map((one) => [one.name, one.metadata]),
    [[name, { color: "red" }]],
  );
  const exists = async () =>
    (await answerOf<{ exists: boolean }>(queues, "doesQueueExist", name)).exists;
  assert.equal(await exists(), true);
  await answerOf(queues, "deleteQueue", name);
  assert.equal(await exists(), false);
  assert.equal(await answerOf(queues, "deleteQueueIfExists", name), false);
  await refusedLegacy(answerOf(queues, "deleteQueue", name), 404, "QueueNotFound");
});

test("metadata is replaced as a whole, and returned with a count", async () => {
  const name = await makeQueue({ metadata: { a: "1" } });
  await answerOf(queues, "createMessage", name, "one");
  await answerOf(queues, "setQueueMetadata", name, { b: "2" });
  const found = await answerOf<azure.QueueService.QueueResult>(queues, "getQueueMetadata", name);
  assert.deepEqual(found.metadata, { b: "2" });
  assert.equal(found.approximateMessageCount, 1);
});

test("a message is put, taken, updated with its receipt, and deleted", async () => {
  const name = await makeQueue();
  const text = "hello <&> wörld \u{1f600}";
  const put = await answerOf<Message>(queues, "createMessage", name, text);
  assert.ok(put.popReceipt, "since 2016-05-31 the answer names the message");
  const got = await answerOf<Message>(queues, "getMessage", name);
  assert.deepEqual([got.messageText, Number(got.dequeueCount)], [text, 1]);
  const again = await answerOf<Message[]>(queues, "getMessages", name, { numOfMessages: 32 });
  assert.deepEqual(again, []);
  const stale = answerOf(queues, "deleteMessage", name, put.messageId, put.popReceipt);
  await refusedLegacy(stale, 400, "PopReceiptMismatch");
  const { messageId, popReceipt } = got;
  const change = { messageText: "new" };
  const updated = await answerOf<Message>(
    ...[queues, "updateMessage", name, messageId, popReceipt, 0, change],
  );
  const peeked = await answerOf<Message[]>(queues, "peekMessages", name, { numOfMessages: 5 });
  assert.deepEqual(
    peeked.map((message) => message.messageText),
    ["new"],
  );
  await answerOf(queues, "deleteMessage", name, messageId, updated.popReceipt);
  const gone = answerOf(queues, "deleteMessage", name, messageId, updated.popReceipt);
  await refusedLegacy(gone, 404, "MessageNotFound");
});

test("a message hides and expires by the clock, and reappears with its count raised", async () => {
  const name = await makeQueue();
  const lasting = { messageTimeToLive: 60, visibilityTimeout: 5 };
  await answerOf(queues, "createMessage", name, "late", lasting);
  const take = () => answerOf<Message[]>(queues, "getMessages", name, { visibilityTimeout: 10 });
  assert.deepEqual(await take(), []);
  server.clock.advance(5_000);
  assert.equal(Number((await take())[0]?.dequeueCount), 1);
  assert.deepEqual(await take(), []);
  server.clock.advance(10_000);
  assert.equal(Number((await take())[0]?.dequeueCount), 2);
  server.clock.advance(60_000);
  assert.deepEqual(await take(), []);
});

test("texts are sent in base64 if the client is configured so", async () => {
  const name = await makeQueue();
  const encoded = azure.createQueueService(server.account, server.key, hostsOf(server.url));
  encoded.messageEncoder = new azure.QueueMessageEncoder.TextBase64QueueMessageEncoder();
  await answerOf(encoded, "createMessage", name, "plain");
  assert.equal((await answerOf<Message>(encoded, "peekMessage", name)).messageText, "plain");
  assert.equal((await answerOf<Message>(queues, "peekMessage", name)).messageText, "cGxhaW4=");
});

test("clearing leaves nothing", async () => {
  const name = await makeQueue();
  for (const text of ["1", "2"]) await answerOf(queues, "createMessage", name, text);
  await answerOf(queues, "clearMessages", name);
  assert.equal(await answerOf(queues, "peekMessage", name), undefined);
});

test("a SAS permits what it names, alone or by a stored policy", async () => {
  const name = await makeQueue();
  await answerOf(queues, "createMessage", name, "one");
  const sas = queues.generateSharedAccessSignature(name, policyOf("p"));
  const taker = azure.createQueueServiceWithSas(server.url, sas);
  const got = await answerOf<Message>(taker, "getMessage", name);
  await answerOf(taker, "deleteMessage", name, got.messageId, got.popReceipt);
  const put = answerOf(taker, "createMessage", name, "two");
  await refusedLegacy(put, 403, "AuthorizationPermissionMismatch");

  const { AccessPolicy } = policyOf("a");
  await answerOf(queues, "setQueueAcl", name, { adder: AccessPolicy });
  const policy = { Id: "adder" } as azure.common.SharedAccessPolicy;
  const named = queues.generateSharedAccessSignature(name, policy);
  const adder = azure.createQueueServiceWithSas(server.url, named);
  await answerOf(adder, "createMessage", name, "three");
  await answerOf(queues, "setQueueAcl", name, {});
  const revoked = answerOf(adder, "createMessage", name, "four");
  await refusedLegacy(revoked, 403, "AuthenticationFailed");
});

test("service properties and stats are read and written", async () => {
  const RetentionPolicy = { Enabled: false };
  const Logging = { Version: "1.0", Delete: true, Read: true, Write: true, RetentionPolicy };
  await answerOf(queues, "setServiceProperties", { Logging });
  const found = await answerOf<{ Logging: object }>(queues, "getServiceProperties");
  assert.deepEqual(found.Logging, Logging);
  const stats = await statsOf(queues);
  assert.equal(stats.GeoReplication?.Status, "live");
});
