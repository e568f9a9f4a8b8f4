import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type QueueClient,
  QueueServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { askForKey, bearer } from "./bearer.ts";
import { startQueueServer } from "./queue-server.ts";
import {
  assertPermitted,
  attempt,
  HAS_ROLES,
  MISMATCH,
  OPTIONS,
  OWN,
  PERMITTED,
  userWith,
} from "./role-users.ts";
import { forThisFile } from "./server.ts";

const HOUR_MS = 3_600_000;
const server = await forThisFile(startQueueServer(HAS_ROLES));
const key = new StorageSharedKeyCredential(server.account, server.key);
const owner = new QueueServiceClient(server.url, key, OPTIONS);

let count = 0;

/** Creates a queue with one message. */
async function filled(name = `queue${count++}`): Promise<string> {
  await owner.getQueueClient(name).create();
  await owner.getQueueClient(name).sendMessage("text");
  return name;
}

/** Tries an operation in a queue of its own. */
function inside(work: (queue: QueueClient) => Promise<unknown>) {
  return async (client: QueueServiceClient) => work(client.getQueueClient(await filled()));
}

/** Tries an operation on a message that the owner received. */
function received(work: (queue: QueueClient, id: string, receipt: string) => Promise<unknown>) {
  return inside(async (queue) => {
    const { receivedMessageItems } = await owner.getQueueClient(queue.name).receiveMessages();
    const [message] = receivedMessageItems;
    await work(queue, message?.messageId ?? "", message?.popReceipt ?? "");
  });
}

const OPERATIONS: Readonly<Record<string, (client: QueueServiceClient) => Promise<unknown>>> = {
  serviceProperties: (client) => client.getProperties(),
  setServiceProperties: (client) => client.setProperties({}),
  listQueues: (client) => client.listQueues().next(),
  create: (client) => client.getQueueClient(`made${count++}`).create(),
  metadata: inside((queue) => queue.getProperties()),
  setMetadata: inside((queue) => queue.setMetadata({ a: "b" })),
  acl: inside((queue) => queue.getAccessPolicy()),
  setAcl: inside((queue) => queue.setAccessPolicy([])),
  deleteQueue: inside((queue) => queue.delete()),
  send: inside((queue) => queue.sendMessage("text")),
  peek: inside((queue) => queue.peekMessages()),
  receive: inside((queue) => queue.receiveMessages()),
  update: received((queue, id, receipt) => queue.updateMessage(id, receipt, "new", 10)),
  delete: received((queue, id, receipt) => queue.deleteMessage(id, receipt)),
  clear: inside((queue) => queue.clearMessages()),
};

test("each role permits its kinds of operations to the official client, and no others", async () => {
  const managing = "listQueues create metadata setMetadata deleteQueue";
  await assertPermitted(
    {
      "account-contributor": `serviceProperties setServiceProperties ${managing} acl setAcl`,
      "queue-reader": "listQueues metadata peek",
      "queue-contributor": `${managing} send peek receive update delete clear`,
      "queue-processor": "peek receive delete",
      "queue-sender": "send",
      "queue-delegator": "",
      "blob-owner": "",
      none: "",
    },
    OPERATIONS,
    (role) => new QueueServiceClient(server.url, userWith(role), OPTIONS),
  );
});

test("a role for one queue covers it, and neither the service nor another queue", async () => {
  await filled(OWN);
  const other = await filled();
  const credential = userWith("queue-contributor", OWN);
  const client = new QueueServiceClient(server.url, credential, OPTIONS);
  const peek = (name: string) => attempt(() => client.getQueueClient(name).peekMessages());
  assert.equal(await peek(OWN), PERMITTED);
  assert.equal(await peek(other), MISMATCH);
  assert.equal(await attempt(() => client.listQueues().next()), MISMATCH);
});

test("a user delegation key needs a role that has it", async () => {
  const now = Date.now();
  const told = async (role: Parameters<typeof userWith>[0]) => {
    const { token } = await userWith(role).getToken();
    const headers = { ...bearer(), authorization: `Bearer ${token}` };
    const { status, code } = await askForKey(server, now, now + HOUR_MS, headers);
    return `${status} ${code}`.trim();
  };
  assert.equal(await told("queue-delegator"), "200");
  assert.equal(await told("account-contributor"), "200");
  assert.equal(await told("queue-contributor"), MISMATCH);
  assert.equal(await told("blob-delegator"), MISMATCH);
});
