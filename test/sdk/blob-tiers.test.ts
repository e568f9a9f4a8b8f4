import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlockBlobClient } from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const HOUR_MS = 3_600_000;
const server = await forThisFile(startServer());

async function newBlob(tier?: string): Promise<BlockBlobClient> {
  const blob = (await server.makeContainer()).getBlockBlobClient("a");
  await blob.upload("text", 4, tier === undefined ? {} : { tier });
  return blob;
}

/** Truncates a time to whole seconds, like the dates in headers. */
function wholeSeconds(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}

test("the hot tier is inferred until a tier is set", async () => {
  const blob = await newBlob();
  const inferred = await blob.getProperties();
  assert.deepEqual([inferred.accessTier, inferred.accessTierInferred], ["Hot", true]);
  assert.equal(inferred.accessTierChangedOn, undefined);
  for (const tier of ["Cool", "Cold", "Hot"] as const) {
    server.clock.advance(5_000);
    assert.equal((await blob.setAccessTier(tier))._response.status, 200);
    const found = await blob.getProperties();
    assert.deepEqual([found.accessTier, found.accessTierInferred], [tier, undefined]);
    assert.deepEqual(found.accessTierChangedOn, wholeSeconds(server.clock.now()));
    assert.deepEqual([found.etag, found.lastModified], [inferred.etag, inferred.lastModified]);
  }
});

test("a download names the tier since 2026-10-06", async () => {
  const blob = await newBlob();
  const path = `/${blob.containerName}/${blob.name}`;
  const tierIn = async (version: string) =>
    (await rawRequest(server, { path, version })).headers.get("x-ms-access-tier");
  assert.equal(await tierIn("2026-10-05"), null);
  assert.equal(await tierIn("2026-10-06"), "Hot");
});

test("an upload may set a tier, or else takes over that of the blob it replaces", async () => {
  const box = await server.makeContainer();
  const block = box.getBlockBlobClient("block");
  const list = box.getBlockBlobClient("list");
  await block.upload("text", 4, { tier: "Cool" });
  await list.stageBlock("AAAA", "text", 4);
  await list.commitBlockList(["AAAA"], { tier: "Cold" });
  const tiers: unknown[] = [];
  for await (const { properties } of box.listBlobsFlat()) {
    tiers.push([properties.accessTier, properties.accessTierInferred]);
  }
  assert.deepEqual(tiers, [
    ["Cool", undefined],
    ["Cold", undefined],
  ]);
  await block.upload("text", 4);
  await list.commitBlockList([]);
  const inherited = await block.getProperties();
  assert.deepEqual([inherited.accessTier, inherited.accessTierInferred], ["Cool", undefined]);
  assert.equal((await list.getProperties()).accessTier, "Cold");
  await block.delete();
  await block.upload("text", 4);
  assert.equal((await block.getProperties()).accessTierInferred, true);
});

test("an archived blob can be listed, tagged, leased and deleted, and nothing else", async () => {
  const blob = await newBlob("Archive");
  assert.equal((await blob.getProperties()).accessTier, "Archive");
  await blob.setTags({ kept: "yes" });
  assert.deepEqual((await blob.getTags()).tags, { kept: "yes" });
  const path = blob.url.slice(server.url.length);
  const metadata = await rawRequest(server, { path: `${path}?comp=metadata` });
  assert.equal(metadata.status, 200);
  for (const [what, asked] of [
    ["download", () => blob.download()],
    ["range", () => blob.download(0, 1)],
    ["block list", () => blob.getBlockList("all")],
    ["overwrite", () => blob.upload("text", 4)],
    ["block", () => blob.stageBlock("AAAA", "text", 4)],
    ["commit", () => blob.commitBlockList([])],
    ["metadata", () => blob.setMetadata({ a: "b" })],
    ["properties", () => blob.setHTTPHeaders({ blobContentType: "a/b" })],
    ["snapshot", () => blob.createSnapshot()],
  ] as const) {
    await refused(asked(), 409, "BlobArchived").catch((error) => {
      throw new Error(what, { cause: error });
    });
  }
  await blob.delete();
});

test("a lease continues in the archive and during rehydration", async () => {
  const blob = await newBlob();
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(-1);
  for (const tier of ["Archive", "Hot"]) {
    await blob.setAccessTier(tier);
    await lease.renewLease();
    await lease.changeLease("bbbbbbbb-0000-4000-8000-000000000002");
    await lease.releaseLease();
    await lease.acquireLease(-1);
    await refused(blob.delete(), 412, "LeaseIdMissing");
  }
  await lease.breakLease(0);
  assert.equal((await blob.getProperties()).leaseState, "broken");
  await blob.delete();
});

for (const [priority, hours] of [
  [undefined, 15],
  ["Standard", 15],
  ["High", 1],
] as const) {
  test(`rehydration with priority ${priority} takes ${hours} hours`, async () => {
    const blob = await newBlob("Archive");
    const { etag } = await blob.getProperties();
    const options = priority === undefined ? {} : { rehydratePriority: priority };
    assert.equal((await blob.setAccessTier("Cool", options))._response.status, 202);
    server.clock.advance(hours * HOUR_MS - 1);
    const pending = await blob.getProperties();
    assert.deepEqual(
      [pending.accessTier, pending.archiveStatus, pending.rehydratePriority],
      ["Archive", "rehydrate-pending-to-cool", priority ?? "Standard"],
    );
    const container = server.client().getContainerClient(blob.containerName);
    for await (const { properties } of container.listBlobsFlat()) {
      assert.equal(properties.archiveStatus, "rehydrate-pending-to-cool");
      assert.equal(properties.rehydratePriority, priority ?? "Standard");
    }
    await refused(blob.download(), 409, "BlobBeingRehydrated");
    await refused(blob.upload("text", 4), 409, "BlobBeingRehydrated");
    server.clock.advance(1);
    const ready = await blob.getProperties();
    assert.deepEqual(
      [ready.accessTier, ready.archiveStatus, ready.etag],
      ["Cool", undefined, etag],
    );
    assert.deepEqual(ready.accessTierChangedOn, wholeSeconds(server.clock.now()));
    assert.equal((await blob.downloadToBuffer()).toString(), "text");
    await blob.upload("more", 4);
  });
}

test("a rehydration can be sped up, but not slowed down or redirected", async () => {
  const blob = await newBlob("Archive");
  await blob.setAccessTier("Hot");
  await refused(blob.setAccessTier("Cool"), 409, "BlobBeingRehydrated");
  await refused(blob.setAccessTier("Archive"), 409, "BlobBeingRehydrated");
  const hurried = await blob.setAccessTier("Hot", { rehydratePriority: "High" });
  assert.equal(hurried._response.status, 202);
  const slower = blob.setAccessTier("Hot", { rehydratePriority: "Standard" });
  await refused(slower, 409, "BlobBeingRehydrated");
  server.clock.advance(HOUR_MS);
  assert.equal((await blob.downloadToBuffer()).toString(), "text");
});

test("tiers that do not exist, or not for this blob type, are refused", async () => {
  const box = await server.makeContainer();
  const page = box.getPageBlobClient("page");
  const log = box.getAppendBlobClient("log");
  await page.create(512);
  await log.create();
  for (const blob of [page, log]) {
    for (const tier of ["Hot", "P10"]) {
      await refused(blob.setAccessTier(tier), 400, "AccessTierNotSupportedForBlobType");
    }
    assert.equal((await blob.getProperties()).accessTier, undefined);
  }
  const created = page.create(512, { tier: "P10" });
  await refused(created, 400, "AccessTierNotSupportedForBlobType");
  const blob = box.getBlockBlobClient("a");
  await refused(blob.setAccessTier("Hot"), 404, "BlobNotFound");
  await blob.upload("text", 4);
  await refused(blob.setAccessTier("P10"), 400, "InvalidBlobTier");
  const path = `/${box.containerName}/a?comp=tier`;
  const ask = (headers: Record<string, string>, version?: string) =>
    rawRequest(server, { method: "PUT", path, headers, ...(version !== undefined && { version }) });
  assert.equal((await ask({})).code, "MissingRequiredHeader");
  assert.equal((await ask({ "x-ms-access-tier": "Lukewarm" })).code, "InvalidHeaderValue");
  const priority = { "x-ms-access-tier": "Hot", "x-ms-rehydrate-priority": "Urgent" };
  assert.equal((await ask(priority)).code, "InvalidHeaderValue");
  const cold = { "x-ms-access-tier": "Cold" };
  assert.equal((await ask(cold, "2021-10-04")).code, "InvalidHeaderValue");
  assert.equal((await ask(cold, "2021-12-02")).status, 200);
});

test("setting a tier requires no lease id, but checks one that is sent", async () => {
  const blob = await newBlob();
  const { leaseId = "" } = await blob.getBlobLeaseClient().acquireLease(-1);
  await blob.setAccessTier("Cool");
  await blob.setAccessTier("Cold", { conditions: { leaseId } });
  const conditions = { leaseId: "00000000-0000-0000-0000-00000000000b" };
  const wrong = blob.setAccessTier("Hot", { conditions });
  await refused(wrong, 412, "LeaseIdMismatchWithBlobOperation");
});

test("a snapshot has its own tier", async () => {
  const blob = await newBlob();
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.withSnapshot(snapshot).setAccessTier("Archive");
  assert.equal((await blob.getProperties()).accessTier, "Hot");
  assert.equal((await blob.withSnapshot(snapshot).getProperties()).accessTier, "Archive");
  await refused(blob.withSnapshot(snapshot).download(), 409, "BlobArchived");
  assert.equal((await blob.downloadToBuffer()).toString(), "text");
});

test("an archived snapshot cannot be rehydrated, only copied", async () => {
  const blob = await newBlob();
  const { snapshot = "" } = await blob.createSnapshot();
  const past = blob.withSnapshot(snapshot);
  await past.setAccessTier("Archive");
  await past.setAccessTier("Archive");
  await refused(past.setAccessTier("Hot"), 409, "BlobArchived");
  const copy = (await server.makeContainer()).getBlockBlobClient("copy");
  await (await copy.beginCopyFromURL(past.url, { tier: "Hot" })).pollUntilDone();
  server.clock.advance(15 * HOUR_MS);
  assert.equal((await copy.downloadToBuffer()).toString(), "text");
});

test("deleting a blob stops its rehydration", async () => {
  const client = server.client();
  await client.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
  const blob = await newBlob("Archive");
  await blob.setAccessTier("Hot");
  await blob.delete();
  server.clock.advance(15 * HOUR_MS);
  await blob.undelete();
  const found = await blob.getProperties();
  assert.deepEqual([found.accessTier, found.archiveStatus], ["Archive", undefined]);
  await client.setProperties({ deleteRetentionPolicy: { enabled: false } });
});

test("a batch sets many tiers and reports the result of each", async () => {
  const box = await server.makeContainer();
  const names = ["a", "b", "archived", "missing"];
  for (const name of names.slice(0, 3)) {
    const tier = name === "archived" ? "Archive" : "Hot";
    await box.getBlockBlobClient(name).upload("text", 4, { tier });
  }
  const urls = names.map((name) => box.getBlobClient(name).url);
  const client = server.client().getBlobBatchClient();
  const done = await client.setBlobsAccessTier(urls, CREDENTIAL, "Cool");
  const found = done.subResponses.map(({ status, errorCode }) => [status, errorCode]);
  assert.deepEqual(found, [
    [200, undefined],
    [200, undefined],
    [202, undefined],
    [404, "BlobNotFound"],
  ]);
  assert.equal((await box.getBlobClient("b").getProperties()).accessTier, "Cool");
});
