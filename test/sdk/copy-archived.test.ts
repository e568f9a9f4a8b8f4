import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";

const HOUR_MS = 3_600_000;
const server = await forThisFile(startServer());
let box: ContainerClient;
let source: BlockBlobClient;
let copy: BlockBlobClient;

beforeEach(async () => {
  box = await server.makeContainer();
  source = box.getBlockBlobClient("source");
  copy = box.getBlockBlobClient("copy");
  await source.upload("text", 4, { tier: "Archive", metadata: { colour: "blue" } });
});

for (const [priority, hours] of [
  [undefined, 15],
  ["High", 1],
] as const) {
  test(`a copy with priority ${priority} is rehydrated after ${hours} hours, the source stays archived`, async () => {
    const options = { tier: "Cool", ...(priority && { rehydratePriority: priority }) } as const;
    const done = await (await copy.beginCopyFromURL(source.url, options)).pollUntilDone();
    assert.equal(done.copyStatus, "success");
    const pending = await copy.getProperties();
    assert.deepEqual(
      [pending.accessTier, pending.archiveStatus, pending.rehydratePriority],
      ["Archive", "rehydrate-pending-to-cool", priority ?? "Standard"],
    );
    assert.deepEqual(pending.metadata, { colour: "blue" });
    server.clock.advance(hours * HOUR_MS - 1);
    await refused(copy.download(), 409, "BlobBeingRehydrated");
    server.clock.advance(1);
    assert.equal((await copy.downloadToBuffer()).toString(), "text");
    assert.equal((await copy.getProperties()).accessTier, "Cool");
    assert.equal((await source.getProperties()).accessTier, "Archive");
  });
}

test("a copy that is being rehydrated can be sped up like any blob", async () => {
  await (await copy.beginCopyFromURL(source.url, { tier: "Hot" })).pollUntilDone();
  await copy.setAccessTier("Hot", { rehydratePriority: "High" });
  server.clock.advance(HOUR_MS);
  assert.equal((await copy.downloadToBuffer()).toString(), "text");
});

test("an archived blob is copied to an online tier, and not onto an archived blob", async () => {
  await refused(copy.beginCopyFromURL(source.url), 409, "BlobArchived");
  await refused(copy.beginCopyFromURL(source.url, { tier: "Archive" }), 409, "BlobArchived");
  await refused(source.beginCopyFromURL(source.url, { tier: "Hot" }), 409, "BlobArchived");
  await source.setAccessTier("Hot");
  const early = copy.beginCopyFromURL(source.url, { tier: "Hot" });
  await refused(early, 409, "BlobBeingRehydrated");
});

test("operations that need the bytes at once are refused on archived sources", async () => {
  await refused(copy.syncCopyFromURL(source.url, { tier: "Hot" }), 409, "BlobArchived");
  await refused(copy.syncUploadFromURL(source.url, { tier: "Hot" }), 409, "BlobArchived");
  await refused(copy.stageBlockFromURL("AAAA", source.url), 409, "BlobArchived");
});

test("an unnecessary priority is accepted", async () => {
  const online = box.getBlockBlobClient("online");
  await online.upload("text", 4);
  const options = { tier: "Cool", rehydratePriority: "High" } as const;
  await (await copy.beginCopyFromURL(online.url, options)).pollUntilDone();
  assert.equal((await copy.getProperties()).archiveStatus, undefined);
  assert.equal((await copy.downloadToBuffer()).toString(), "text");
});
