import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlobServiceClient } from "@azure/storage-blob";
import { readPendingCopies } from "../../src/service/blob/records.ts";
import { startServer } from "./server.ts";
import { TestSource } from "./test-source.ts";

test("a copy that ends while its container is deleted has ended once that is restored", async (t) => {
  const elsewhere = await TestSource.start();
  const blob = { versioning: false, containerRetentionDays: 7 };
  const server = await startServer({ copyFrom: [elsewhere.origin], blob });
  t.after(async () => {
    await elsewhere.close();
    await server.close();
    assert.deepEqual(server.failures, []);
  });
  const client = server.client();
  const box = client.getContainerClient("box");
  await box.create();
  const copy = box.getBlockBlobClient("copy");
  elsewhere.hold(5);
  const held = elsewhere.held();
  await copy.beginCopyFromURL(`${elsewhere.origin}/object`);
  await held;
  await box.delete();
  elsewhere.release();
  const { store } = server.context;
  while ((await store.read((view) => readPendingCopies(view, 1))).length > 0)
    await client.getProperties();

  await client.undeleteContainer("box", await versionOf(client, "box"));
  const found = await copy.getProperties();
  assert.deepEqual([found.copyStatus, found.contentLength], ["success", elsewhere.bytes.length]);
  assert.deepEqual(await copy.downloadToBuffer(), elsewhere.bytes);
  await copy.upload("new", 3);
});

async function versionOf(client: BlobServiceClient, name: string): Promise<string> {
  for await (const found of client.listContainers({ includeDeleted: true })) {
    if (found.name === name && found.version !== undefined) return found.version;
  }
  return assert.fail(`${name} was not deleted`);
}
