import assert from "node:assert/strict";
import { test } from "node:test";
import azure from "azure-storage";
import { startQueueServer } from "../sdk/queue-server.ts";
import { forThisFile } from "../sdk/server.ts";
import { hostsOf, policyOf, refusedLegacy, statsOf, told } from "./told.ts";

const server = await forThisFile(startQueueServer());
const queues = azure.createQueueService(server.account, server.key, hostsOf(server.url));
let count = 0;

type Message = azure.QueueService.QueueMessageResult;

async function makeQueue(options: object = {}): Promise<string> {
  const name = `legacy-${++count}`;
  await told(queues, "createQueue", name, options);
  return name;
}

test("queues are created, listed, looked for and deleted", async () => {
  const name = await makeQueue({ metadata: { color: "red" } });
  const again = await told<{ created: boolean }>(queues, "createQueueIfNotExists", name);
  assert.equal(again.created, false);
  const list = await told<azure.QueueService.ListQueueResult>(
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
    (await told<{ exists: boolean }>(queues, "doesQueueExist", name)).exists;
  assert.equal(await exists(), true);
  await told(queues, "deleteQueue", name);
  assert.equal(await exists(), false);
  assert.equal(await told(queues, "deleteQueueIfExists", name), false);
  await refusedLegacy(told(queues, "deleteQueue", name), 404, "QueueNotFound");
});

test("metadata is replaced as a whole, and comes with a count", async () => {
  const name = await makeQueue({ metadata: { a: "1" } });
  await told(queues, "createMessage", name, "one");
  await told(queues, "setQueueMetadata", name, { b: "2" });
  const found = await told<azure.QueueService.QueueResult>(queues, "getQueueMetadata", name);
  assert.deepEqual(found.metadata, { b: "2" });
  assert.equal(found.approximateMessageCount, 1);
});

test("a message is put, taken, updated with its receipt, and deleted", async () => {
  const name = await makeQueue();
  const text = "hello <&> wörld \u{1f600}";
  const put = await told<Message>(queues, "createMessage", name, text);
  assert.ok(put.popReceipt, "since 2016-05-31 the answer names the message");
  const got = await told<Message>(queues, "getMessage", name);
  assert.deepEqual([got.messageText, Number(got.dequeueCount)], [text, 1]);
  const again = await told<Message[]>(queues, "getMessages", name, { numOfMessages: 32 });
  assert.deepEqual(again, []);
  const stale = told(queues, "deleteMessage", name, put.messageId, put.popReceipt);
  await refusedLegacy(stale, 400, "PopReceiptMismatch");
  const { messageId, popReceipt } = got;
  const change = { messageText: "new" };
  const updated = await told<Message>(
    ...[queues, "updateMessage", name, messageId, popReceipt, 0, change],
  );
  const peeked = await told<Message[]>(queues, "peekMessages", name, { numOfMessages: 5 });
  assert.deepEqual(
    peeked.map((message) => message.messageText),
    ["new"],
  );
  await told(queues, "deleteMessage", name, messageId, updated.popReceipt);
  const gone = told(queues, "deleteMessage", name, messageId, updated.popReceipt);
  await refusedLegacy(gone, 404, "MessageNotFound");
});

test("a message hides and expires by the clock, and comes back with its count raised", async () => {
  const name = await makeQueue();
  const lasting = { messageTimeToLive: 60, visibilityTimeout: 5 };
  await told(queues, "createMessage", name, "late", lasting);
  const take = () => told<Message[]>(queues, "getMessages", name, { visibilityTimeout: 10 });
  assert.deepEqual(await take(), []);
  server.clock.advance(5_000);
  assert.equal(Number((await take())[0]?.dequeueCount), 1);
  assert.deepEqual(await take(), []);
  server.clock.advance(10_000);
  assert.equal(Number((await take())[0]?.dequeueCount), 2);
  server.clock.advance(60_000);
  assert.deepEqual(await take(), []);
});

test("texts are sent in base64 where the client is told so", async () => {
  const name = await makeQueue();
  const encoded = azure.createQueueService(server.account, server.key, hostsOf(server.url));
  encoded.messageEncoder = new azure.QueueMessageEncoder.TextBase64QueueMessageEncoder();
  await told(encoded, "createMessage", name, "plain");
  assert.equal((await told<Message>(encoded, "peekMessage", name)).messageText, "plain");
  assert.equal((await told<Message>(queues, "peekMessage", name)).messageText, "cGxhaW4=");
});

test("clearing leaves nothing", async () => {
  const name = await makeQueue();
  for (const text of ["1", "2"]) await told(queues, "createMessage", name, text);
  await told(queues, "clearMessages", name);
  assert.equal(await told(queues, "peekMessage", name), undefined);
});

test("a SAS permits what it names, alone or by a stored policy", async () => {
  const name = await makeQueue();
  await told(queues, "createMessage", name, "one");
  const sas = queues.generateSharedAccessSignature(name, policyOf("p"));
  const taker = azure.createQueueServiceWithSas(server.url, sas);
  const got = await told<Message>(taker, "getMessage", name);
  await told(taker, "deleteMessage", name, got.messageId, got.popReceipt);
  const put = told(taker, "createMessage", name, "two");
  await refusedLegacy(put, 403, "AuthorizationPermissionMismatch");

  const { AccessPolicy } = policyOf("a");
  await told(queues, "setQueueAcl", name, { adder: AccessPolicy });
  const policy = { Id: "adder" } as azure.common.SharedAccessPolicy;
  const named = queues.generateSharedAccessSignature(name, policy);
  const adder = azure.createQueueServiceWithSas(server.url, named);
  await told(adder, "createMessage", name, "three");
  await told(queues, "setQueueAcl", name, {});
  const revoked = told(adder, "createMessage", name, "four");
  await refusedLegacy(revoked, 403, "AuthenticationFailed");
});

test("service properties and stats", async () => {
  const RetentionPolicy = { Enabled: false };
  const Logging = { Version: "1.0", Delete: true, Read: true, Write: true, RetentionPolicy };
  await told(queues, "setServiceProperties", { Logging });
  const found = await told<{ Logging: object }>(queues, "getServiceProperties");
  assert.deepEqual(found.Logging, Logging);
  const stats = await statsOf(queues);
  assert.equal(stats.GeoReplication?.Status, "live");
});
