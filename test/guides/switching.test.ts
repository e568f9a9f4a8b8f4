import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { freePort } from "../command/free-ports.ts";
import { unpackAzuriteFixture } from "../import/azurite-fixture.ts";
import { readBlocks } from "./blocks.ts";
import { Reader } from "./reader.ts";

const HTTP = { allowInsecureConnection: true };

test("the guide brings blobs, entities and messages over from a folder of the emulator", async (t) => {
  const reader = new Reader(await freePort());
  t.after(() => reader.close());
  unpackAzuriteFixture("3.37.0", join(reader.folder, "azurite-data"));
  for (const block of readBlocks("docs/guides/switching-from-azurite.md")) {
    if (block.action.kind !== "skip") await reader.follow(block);
  }
  const { server } = reader.connections;
  const box = BlobServiceClient.fromConnectionString(server).getContainerClient("box");
  const text = await box.getBlobClient("a folder/ü.txt").downloadToBuffer();
  assert.equal(text.toString(), "hello");
  const work = QueueServiceClient.fromConnectionString(server).getQueueClient("work");
  const { peekedMessageItems } = await work.peekMessages({ numberOfMessages: 32 });
  assert.equal(peekedMessageItems.length, 2);
  const people = TableClient.fromConnectionString(server, "people", HTTP);
  const { long } = await people.getEntity("p", "it's");
  assert.equal(long, 9007199254740993n);
});
