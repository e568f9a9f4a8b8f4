import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  BlobSASPermissions,
  type BlockBlobClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());
let box: ContainerClient;
let source: BlockBlobClient;
let copy: BlockBlobClient;

beforeEach(async () => {
  box = await server.makeContainer();
  source = box.getBlockBlobClient("source");
  copy = box.getBlockBlobClient("copy");
  await source.upload("hello", 5, { tags: { colour: "blue" } });
});

async function tagsOf(blob: BlockBlobClient): Promise<Record<string, string>> {
  return (await blob.getTags()).tags;
}

test("a copy has the tags it is sent, or the source's on request, or none", async () => {
  for (const write of [
    (more: object) => copy.syncCopyFromURL(source.url, more),
    (more: object) => copy.syncUploadFromURL(source.url, more),
  ]) {
    await write({});
    assert.deepEqual(await tagsOf(copy), {});
    await write({ tags: { size: "small" } });
    assert.deepEqual(await tagsOf(copy), { size: "small" });
    await write({ copySourceTags: "COPY" });
    assert.deepEqual(await tagsOf(copy), { colour: "blue" });
    await refused(write({ copySourceTags: "COPY", tags: { a: "b" } }), 400, "InvalidHeaderValue");
  }
  await (await copy.beginCopyFromURL(source.url, { tags: { a: "b" } })).pollUntilDone();
  assert.deepEqual(await tagsOf(copy), { a: "b" });
  const found = [];
  for await (const one of server.client().findBlobsByTags("a='b'")) found.push(one.name);
  assert.deepEqual(found, ["copy"]);
});

test("conditions on tags of the source and of the target have separate headers", async () => {
  await copy.upload("old", 3, { tags: { colour: "red" } });
  const path = `/${box.containerName}/copy`;
  const ask = (headers: Record<string, string>) =>
    rawRequest(server, {
      method: "PUT",
      path,
      headers: { "x-ms-copy-source": source.url, ...headers },
    });
  const wrongSource = await ask({ "x-ms-source-if-tags": "colour='red'" });
  assert.deepEqual([wrongSource.status, wrongSource.code], [412, "ConditionNotMet"]);
  const wrongTarget = await ask({ "x-ms-if-tags": "colour='blue'" });
  assert.equal(wrongTarget.status, 412);
  const both = { "x-ms-source-if-tags": "colour='blue'", "x-ms-if-tags": "colour='red'" };
  assert.equal((await ask(both)).status, 202);
  const malformed = await ask({ "x-ms-source-if-tags": "colour" });
  assert.deepEqual([malformed.status, malformed.code], [400, "InvalidHeaderValue"]);
});

test("copying tags requires permission to read them there and to set them here", async () => {
  const sas = (blobName: string, letters: string) =>
    generateBlobSASQueryParameters(
      {
        containerName: box.containerName,
        blobName,
        permissions: BlobSASPermissions.parse(letters),
        expiresOn: new Date(Date.now() + 3_600_000),
      },
      CREDENTIAL,
    );
  for (const [kind, status] of [
    [{ "x-ms-requires-sync": "true" }, 202],
    [{ "x-ms-blob-type": "BlockBlob" }, 201],
  ] as const) {
    const ask = (target: string, from: string) =>
      rawRequest(server, {
        method: "PUT",
        path: `/${box.containerName}/copy?${sas("copy", target)}`,
        headers: {
          "x-ms-copy-source": `${source.url}?${sas("source", from)}`,
          "x-ms-copy-source-tag-option": "COPY",
          ...kind,
        },
        signed: false,
      });
    const noSource = await ask("cwt", "r");
    assert.deepEqual([noSource.status, noSource.code], [403, "CannotVerifyCopySource"]);
    const noTarget = await ask("cw", "rt");
    assert.deepEqual([noTarget.status, noTarget.code], [403, "AuthorizationPermissionMismatch"]);
    assert.equal((await ask("cwt", "rt")).status, status);
  }
});

test("a copy has the tier it is sent, or that of the blob it replaces", async () => {
  await copy.syncCopyFromURL(source.url, { tier: "Cool" });
  assert.equal((await copy.getProperties()).accessTier, "Cool");
  await (await copy.beginCopyFromURL(source.url, { tier: "Cold" })).pollUntilDone();
  assert.equal((await copy.getProperties()).accessTier, "Cold");
  await copy.syncUploadFromURL(source.url, { tier: "Hot" });
  const found = await copy.getProperties();
  assert.deepEqual([found.accessTier, found.accessTierInferred], ["Hot", undefined]);
  await copy.setAccessTier("Cold");
  await (await copy.beginCopyFromURL(source.url)).pollUntilDone();
  assert.equal((await copy.getProperties()).accessTier, "Cold");
  const pages = box.getPageBlobClient("pages");
  await pages.create(512);
  const tiered = rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/more`,
    headers: { "x-ms-copy-source": pages.url, "x-ms-access-tier": "Cool" },
  });
  assert.equal((await tiered).code, "AccessTierNotSupportedForBlobType");
});
