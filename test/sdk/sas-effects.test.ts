import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BlobSASPermissions,
  BlockBlobClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

/** What a SAS does beyond granting operations; `sas-permissions` tests which letters grant what. */
const server = await forThisFile(startServer());
const container = server.client().getContainerClient("effects");
await container.create();

/** Makes a SAS for one blob with these letters. */
function sasFor(blobName: string, letters: string, more: object = {}): string {
  return generateBlobSASQueryParameters(
    {
      containerName: container.containerName,
      blobName,
      permissions: BlobSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
      ...more,
    },
    CREDENTIAL,
  ).toString();
}

test("a SAS that may only create never replaces an existing blob", async () => {
  const { url } = container.getBlockBlobClient("created");
  const creator = new BlockBlobClient(`${url}?${sasFor("created", "c")}`);
  await creator.upload("first", 5);
  await refused(creator.upload("second", 6), 403, "UnauthorizedBlobOverwrite");
  const stored = await container.getBlockBlobClient("created").downloadToBuffer();
  assert.equal(String(stored), "first");
});

test("a SAS that may only create can commit blocks, and never replaces a blob", async () => {
  const blob = container.getBlockBlobClient("from-blocks");
  const creator = new BlockBlobClient(`${blob.url}?${sasFor("from-blocks", "c")}`);
  await creator.stageBlock("AAAA", "first", 5);
  await creator.commitBlockList(["AAAA"]);
  const source = `${blob.url}?${sasFor("from-blocks", "r")}`;
  const code = "UnauthorizedBlobOverwrite";
  await refused(creator.stageBlock("BBBB", "second", 6), 403, code);
  await refused(creator.stageBlockFromURL("BBBB", source), 403, code);
  await refused(creator.commitBlockList(["AAAA"]), 403, code);
  assert.equal(String(await blob.downloadToBuffer()), "first");
});

test("a SAS replaces the response headers that it names on reads", async () => {
  const blob = container.getBlockBlobClient("read");
  const blobHTTPHeaders = { blobContentType: "text/plain", blobContentLanguage: "en" };
  await blob.upload("text", 4, { blobHTTPHeaders });
  const sas = sasFor("read", "r", {
    contentType: "image/png",
    contentDisposition: "attachment",
    cacheControl: "no-store",
  });
  for (const method of ["GET", "HEAD"]) {
    const path = `/${container.containerName}/${blob.name}?${sas}`;
    const { headers } = await rawRequest(server, { method, path, signed: false });
    assert.equal(headers.get("content-type"), "image/png");
    assert.equal(headers.get("content-disposition"), "attachment");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("content-language"), "en");
  }
});
