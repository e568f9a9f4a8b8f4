import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { readBlocks } from "./blocks.ts";
import { Reader } from "./reader.ts";

const HTTP = { allowInsecureConnection: true };
const MESSAGES = 40;

test("the guide migrates blobs, entities and messages from the emulator", async (t) => {
  const reader = new Reader();
  t.after(() => reader.close());
  for (const block of readBlocks("docs/guides/switching-from-azurite.md")) {
    if (block.action.kind === "skip") continue;
    await reader.follow(block);
    if (block.action.kind === "serve" && block.action.isBeside) {
      await fill(reader.connections.beside);
    }
  }
  const { server, beside } = reader.connections;
  const copied = await contentsOf(server);
  assert.deepEqual(copied, await contentsOf(beside));
  assert.equal(copied.blobs.length, 4);
  assert.equal((await messagesOf(server)).length, MESSAGES);
});

async function fill(connection: string): Promise<void> {
  const box = BlobServiceClient.fromConnectionString(connection).getContainerClient("box");
  await box.create({ metadata: { made: "before" }, access: "blob" });
  await box.getBlockBlobClient("a folder/ü.txt").upload("hello", 5, {
    metadata: { key: "value" },
    tags: { colour: "blue" },
    blobHTTPHeaders: { blobContentType: "text/plain", blobCacheControl: "no-cache" },
  });
  const large = Buffer.alloc(5_000_000, "lazuli");
  await box.getBlockBlobClient("large").uploadData(large, { maxSingleShotSize: 1_000_000 });
  const pages = box.getPageBlobClient("pages");
  await pages.create(4_096);
  await pages.uploadPages(Buffer.alloc(512, 1), 1_024, 512);
  const log = box.getAppendBlobClient("log");
  await log.create();
  for (const word of ["one ", "two "]) await log.appendBlock(word, word.length);

  const people = TableClient.fromConnectionString(connection, "people", HTTP);
  await people.createTable();
  await people.createEntity({
    partitionKey: "p",
    rowKey: "it's",
    text: "text",
    number: 1,
    double: 1.5,
    long: { type: "Int64", value: "9007199254740993" },
    date: { type: "DateTime", value: "2020-01-01T00:00:00.1234567Z" },
    id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    bytes: new Uint8Array([1, 2, 3]),
    yes: true,
  });
  const work = QueueServiceClient.fromConnectionString(connection).getQueueClient("work");
  await work.create({ metadata: { key: "value" } });
  for (let at = 0; at < MESSAGES; at++) {
    await work.sendMessage(`<${at}>`, at === 0 ? { messageTimeToLive: -1 } : {});
  }
}

/** Reads everything that must be the same afterwards. */
async function contentsOf(connection: string) {
  const service = BlobServiceClient.fromConnectionString(connection);
  const containers: unknown[] = [];
  const blobs: unknown[] = [];
  for await (const { name, metadata, properties } of service.listContainers({
    includeMetadata: true,
  })) {
    containers.push([name, metadata, properties.publicAccess]);
    const container = service.getContainerClient(name);
    for await (const { name, tags } of container.listBlobsFlat({ includeTags: true })) {
      const blob = container.getBlobClient(name);
      const { metadata, contentType, cacheControl, blobType } = await blob.getProperties();
      const digest = createHash("sha256")
        .update(await blob.downloadToBuffer())
        .digest("hex");
      blobs.push({ name, tags, metadata, contentType, cacheControl, blobType, digest });
    }
  }
  const entities: unknown[] = [];
  const people = TableClient.fromConnectionString(connection, "people", HTTP);
  for await (const entity of people.listEntities({ disableTypeConversion: true })) {
    const { etag, timestamp, ...own } = entity;
    entities.push(own);
  }
  const work = QueueServiceClient.fromConnectionString(connection).getQueueClient("work");
  const { metadata } = await work.getProperties();
  return { containers, blobs, entities, metadata };
}

async function messagesOf(connection: string): Promise<string[]> {
  const work = QueueServiceClient.fromConnectionString(connection).getQueueClient("work");
  const texts: string[] = [];
  for (;;) {
    const { receivedMessageItems } = await work.receiveMessages({ numberOfMessages: 32 });
    if (receivedMessageItems.length === 0) return texts;
    texts.push(...receivedMessageItems.map(({ messageText }) => messageText));
  }
}
