import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BlobSASPermissions, generateBlobSASQueryParameters } from "@azure/storage-blob";
import { rawRequest } from "../sdk/raw-request.ts";
import { CREDENTIAL, startServer, type TestServer } from "../sdk/server.ts";

let server: TestServer;

before(async () => {
  server = await startServer();
  const box = server.client().getContainerClient("box");
  await box.create();
  await box.getBlockBlobClient("there").upload("text", 4);
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

test("a SAS that prescribes an encryption scope can read, but not write", async () => {
  const sas = generateBlobSASQueryParameters(
    {
      containerName: "box",
      blobName: "there",
      permissions: BlobSASPermissions.parse("rw"),
      encryptionScope: "scope",
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    CREDENTIAL,
  );
  const asked = { path: `/box/there?${sas}`, signed: false };
  assert.equal((await rawRequest(server, asked)).status, 200);
  const headers = { "x-ms-blob-type": "BlockBlob" };
  const put = await rawRequest(server, { ...asked, method: "PUT", headers, body: "text" });
  assert.deepEqual([put.status, put.code], [400, "UnsupportedQueryParameter"]);
});

test("only a deleted blob can be deleted permanently", async () => {
  const path = "/box/there?deletetype=permanent";
  const { status, code } = await rawRequest(server, { method: "DELETE", path });
  assert.deepEqual([status, code], [409, "PermanentDeleteNotAllowed"]);
});
