import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import {
  QueueServiceClient,
  type QueueServiceProperties,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { type QueueServer, startQueueServer } from "./queue-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

let server: QueueServer;
let client: QueueServiceClient;

beforeEach(async () => {
  server = await startQueueServer();
  client = server.client();
});

afterEach(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

test("creating a queue again with the same metadata changes nothing", async () => {
  const queue = client.getQueueClient("queue");
  const status = async (metadata = {}) => (await queue.create({ metadata }))._response.status;
  assert.equal(await status({ one: "1", two: "2" }), 201);
  await queue.sendMessage("kept");
  assert.equal(await status({ TWO: "2", one: "1" }), 204);
  for (const metadata of [{}, { one: "1" }, { one: "1", two: "3" }, { one: "1", three: "2" }]) {
    await refused(queue.create({ metadata }), 409, "QueueAlreadyExists");
  }
  const { approximateMessagesCount, metadata } = await queue.getProperties();
  assert.deepEqual([approximateMessagesCount, metadata], [1, { one: "1", two: "2" }]);
});

test("of many concurrent creations of a queue, one succeeds", async () => {
  const queue = client.getQueueClient("queue");
  const done = await Promise.all(Array.from({ length: 20 }, () => queue.create()));
  const statuses = done.map(({ _response }) => _response.status);
  assert.deepEqual(statuses.sort(), [201, ...Array.from({ length: 19 }, () => 204)]);
});

test("a deleted queue is gone with its messages, and its name is free at once", async () => {
  const queue = client.getQueueClient("queue");
  await queue.create();
  const { messageId, popReceipt } = await queue.sendMessage("old");
  assert.equal((await queue.delete())._response.status, 204);
  await refused(queue.delete(), 404, "QueueNotFound");
  await refused(queue.getProperties(), 404, "QueueNotFound");
  await refused(queue.sendMessage("x"), 404, "QueueNotFound");
  await refused(queue.receiveMessages(), 404, "QueueNotFound");
  await refused(queue.peekMessages(), 404, "QueueNotFound");
  await refused(queue.clearMessages(), 404, "QueueNotFound");
  await refused(queue.deleteMessage(messageId, popReceipt), 404, "QueueNotFound");
  await refused(queue.updateMessage(messageId, popReceipt, "x", 0), 404, "QueueNotFound");
  await refused(queue.setMetadata({}), 404, "QueueNotFound");
  await refused(queue.getAccessPolicy(), 404, "QueueNotFound");
  await refused(queue.setAccessPolicy([]), 404, "QueueNotFound");
  assert.equal((await queue.create())._response.status, 201);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  await refused(queue.deleteMessage(messageId, popReceipt), 404, "MessageNotFound");
});

test("metadata is replaced as a whole, and the last writer wins", async () => {
  const queue = client.getQueueClient("queue");
  await queue.create({ metadata: { old: "1" } });
  assert.equal((await queue.setMetadata({ Some: "a b", other: "x" }))._response.status, 204);
  assert.deepEqual((await queue.getProperties()).metadata, { some: "a b", other: "x" });
  await queue.setMetadata();
  assert.deepEqual((await queue.getProperties()).metadata, {});
});

test("of many concurrent changes to properties, metadata or policies, the last wins as a whole", async () => {
  const queue = client.getQueueClient("queue");
  await queue.create();
  const writers = Array.from({ length: 10 }, (_, at) => String(at));
  const permissions = "r";
  await Promise.all(
    writers.flatMap((id) => [
      queue.setMetadata({ one: id, two: id }),
      queue.setAccessPolicy([
        { id: `a${id}`, accessPolicy: { permissions } },
        { id: `b${id}`, accessPolicy: { permissions } },
      ]),
      client.setProperties({ cors: [corsRule(`http://${id}.one`), corsRule(`http://${id}.two`)] }),
    ]),
  );
  const { metadata = {} } = await queue.getProperties();
  assert.equal(metadata.one, metadata.two);
  const { signedIdentifiers } = await queue.getAccessPolicy();
  const [first = "", second = ""] = signedIdentifiers.map(({ id }) => id);
  assert.equal(first.slice(1), second.slice(1));
  const { cors = [] } = await client.getProperties();
  const [one = "", two = ""] = cors.map(({ allowedOrigins }) => allowedOrigins);
  assert.equal(one.replace(".one", ".two"), two);
});

function corsRule(allowedOrigins: string) {
  return {
    allowedOrigins,
    allowedMethods: "GET",
    allowedHeaders: "",
    exposedHeaders: "",
    maxAgeInSeconds: 1,
  };
}

test("queues have no ETag and ignore conditions", async () => {
  await client.createQueue("queue");
  for (const name of ["if-match", "if-none-match"]) {
    const headers = { [name]: name === "if-match" ? '"0x1"' : "*", "x-ms-meta-a": "b" };
    const path = "/queue?comp=metadata";
    const answer = await rawRequest(server, { method: "PUT", path, headers });
    assert.deepEqual([answer.status, answer.headers.get("etag")], [204, null]);
  }
});

test("HEAD returns the metadata like GET, and never receives a message", async () => {
  const queue = client.getQueueClient("queue");
  await queue.create({ metadata: { some: "value" } });
  await queue.sendMessage("one");
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await rawRequest(server, { method, path: "/queue?comp=metadata" });
    assert.equal(status, 200);
    assert.equal(headers.get("x-ms-meta-some"), "value");
    assert.equal(headers.get("x-ms-approximate-messages-count"), "1");
  }
  const acl = await rawRequest(server, { method: "HEAD", path: "/queue?comp=acl" });
  assert.deepEqual([acl.status, acl.text], [200, ""]);
  const head = await rawRequest(server, { method: "HEAD", path: "/queue/messages" });
  assert.deepEqual([head.status, head.code], [405, "UnsupportedHttpVerb"]);
  assert.equal((await queue.peekMessages()).peekedMessageItems.length, 1);
});

test("queues are listed by name, by prefix, in pages, with their metadata on request", async () => {
  const names = ["a-1", "a-2", "b-1", "b-10", "b-2", "c-1"].map((name) => `${name}-q`);
  for (const name of [...names].reverse()) await client.createQueue(name, { metadata: { name } });
  const list = async (options: Parameters<typeof client.listQueues>[0], maxPageSize: number) => {
    const pages: (string | undefined)[][] = [];
    for await (const page of client.listQueues(options).byPage({ maxPageSize })) {
      pages.push((page.queueItems ?? []).map(({ name }) => name));
    }
    return pages;
  };
  assert.deepEqual(await list({}, 5_000), [names]);
  assert.deepEqual(await list({}, 4), [names.slice(0, 4), names.slice(4)]);
  assert.deepEqual(await list({}, 3), [names.slice(0, 3), names.slice(3)]);
  assert.deepEqual(await list({ prefix: "b-" }, 2), [["b-1-q", "b-10-q"], ["b-2-q"]]);
  assert.deepEqual(await list({ prefix: "z" }, 2), [[]]);
  for await (const item of client.listQueues({ includeMetadata: true })) {
    assert.deepEqual(item.metadata, { name: item.name });
  }
  const plain = await rawRequest(server, { path: "/?comp=list&prefix=a-1&maxresults=7" });
  assert.equal(
    plain.text,
    `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="${server.url}/">` +
      "<Prefix>a-1</Prefix><MaxResults>7</MaxResults><Queues><Queue><Name>a-1-q</Name></Queue>" +
      "</Queues><NextMarker /></EnumerationResults>",
  );
});

test("service properties come back as set, separately from those of other services", async () => {
  const wanted: QueueServiceProperties = {
    queueAnalyticsLogging: {
      version: "1.0",
      read: true,
      write: true,
      deleteProperty: false,
      retentionPolicy: { enabled: true, days: 3 },
    },
    cors: [
      {
        allowedOrigins: "https://a.example",
        allowedMethods: "GET,POST",
        allowedHeaders: "x-ms-*",
        exposedHeaders: "x-ms-*",
        maxAgeInSeconds: 60,
      },
    ],
  };
  assert.equal((await client.setProperties(wanted))._response.status, 202);
  const { queueAnalyticsLogging, cors } = await client.getProperties();
  assert.deepEqual(JSON.parse(JSON.stringify({ queueAnalyticsLogging, cors })), wanted);
  const path = "/?restype=service&comp=properties";
  const { text } = await rawRequest(server, { path });
  assert.doesNotMatch(text, /StaticWebsite|DeleteRetentionPolicy|DefaultServiceVersion/);
  const body =
    "<StorageServiceProperties><DefaultServiceVersion>2026-04-06</DefaultServiceVersion>" +
    "</StorageServiceProperties>";
  const { code } = await rawRequest(server, { method: "PUT", path, body });
  assert.equal(code, "UnsupportedXmlNode");
  const preflight = await fetch(`${server.url}/queue/messages`, {
    method: "OPTIONS",
    headers: { Origin: "https://a.example", "Access-Control-Request-Method": "POST" },
  });
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://a.example");
});

test("service statistics are live on the secondary endpoint, and refused on the primary", async () => {
  await refused(client.getStatistics(), 400, "InvalidQueryParameterValue");
  const credential = new StorageSharedKeyCredential(server.account, server.key);
  const secondary = new QueueServiceClient(`${server.url}-secondary`, credential);
  assert.equal((await secondary.getStatistics()).geoReplication?.status, "live");
});
