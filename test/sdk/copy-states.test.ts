import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";

const server = await forThisFile(
  startServer({ blob: { versioning: true, containerRetentionDays: null } }),
);
let box: ContainerClient;
let blob: BlockBlobClient;
let copy: BlockBlobClient;
let count = 0;

beforeEach(async () => {
  box = server.client().getContainerClient(`box${++count}`);
  await box.create();
  blob = box.getBlockBlobClient("blob");
  copy = box.getBlockBlobClient("copy");
});

async function textOf(client: BlockBlobClient): Promise<string> {
  return (await client.downloadToBuffer()).toString();
}

test("a snapshot is copied to another blob, and over its own blob to restore it", async () => {
  await blob.upload("old", 3, { metadata: { age: "old" } });
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.upload("new", 3);
  const old = blob.withSnapshot(snapshot);
  await copy.syncCopyFromURL(old.url);
  assert.equal(await textOf(copy), "old");
  assert.equal((await copy.getProperties()).copySource, old.url);
  const poller = await blob.beginCopyFromURL(old.url);
  assert.equal((await poller.pollUntilDone()).copyStatus, "success");
  assert.equal(await textOf(blob), "old");
  assert.deepEqual((await blob.getProperties()).metadata, { age: "old" });
  assert.equal(await textOf(old), "old");
});

test("a version is copied over the current one, which stays as a version", async () => {
  const { versionId = "" } = await blob.upload("old", 3);
  await blob.upload("new", 3);
  const promoted = await blob.syncCopyFromURL(blob.withVersion(versionId).url);
  assert.notEqual(promoted.versionId, undefined);
  assert.notEqual(promoted.versionId, versionId);
  assert.equal(await textOf(blob), "old");
  assert.equal((await blob.getProperties()).versionId, promoted.versionId);
  const versions = [];
  for await (const one of box.listBlobsFlat({ includeVersions: true })) versions.push(one);
  assert.equal(versions.length, 3);
});

test("every operation with a source URL accepts a snapshot or a version", async () => {
  const { versionId = "" } = await blob.upload("0123456789", 10);
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.upload("new", 3);
  const log = box.getAppendBlobClient("log");
  await log.create();
  for (const url of [blob.withSnapshot(snapshot).url, blob.withVersion(versionId).url]) {
    await copy.syncUploadFromURL(url);
    assert.equal(await textOf(copy), "0123456789");
    await copy.stageBlockFromURL("AAAA", url, 2, 3);
    await copy.commitBlockList(["AAAA"]);
    assert.equal(await textOf(copy), "234");
    await log.appendBlockFromURL(url, 5, 5);
  }
  assert.equal((await log.downloadToBuffer()).toString(), "5678956789");
});

test("a missing or malformed snapshot is reported as the source's refusal", async () => {
  await blob.upload("text", 4);
  const missing = blob.withSnapshot("2020-01-01T00:00:00.0000000Z").url;
  await refused(copy.syncCopyFromURL(missing), 404, "CannotVerifyCopySource");
  const wrong = blob.withSnapshot("yesterday").url;
  await refused(copy.syncCopyFromURL(wrong), 400, "CannotVerifyCopySource");
});

test("a blob replaced by a copy stays as a version", async () => {
  await blob.upload("text", 4);
  const { versionId = "" } = await copy.upload("old", 3);
  for (const write of [
    () => copy.syncCopyFromURL(blob.url),
    () => copy.syncUploadFromURL(blob.url),
  ]) {
    const { versionId: next } = (await write()) as { versionId?: string };
    assert.ok(next !== undefined);
  }
  assert.equal(await textOf(copy.withVersion(versionId) as BlockBlobClient), "old");
});
