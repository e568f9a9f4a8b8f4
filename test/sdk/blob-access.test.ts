import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  BlobSASPermissions,
  type BlockBlobClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { BLOB_OPERATIONS, type BlobOperation, newBlobFor } from "./blob-operations.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let container: ContainerClient;
let blobs = 0;

before(async () => {
  server = await startServer();
  container = server.client().getContainerClient("access");
  await container.create();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

function newBlob(on?: BlobOperation["on"]): Promise<BlockBlobClient> {
  return newBlobFor(container, `blob-${blobs++}`, on);
}

/** A SAS for one blob with these letters. */
function sasOf(blob: BlockBlobClient, letters: string, more: object = {}): string {
  return generateBlobSASQueryParameters(
    {
      containerName: container.containerName,
      blobName: blob.name,
      permissions: BlobSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
      ...more,
    },
    CREDENTIAL,
  ).toString();
}

function askWith(sas: string, blob: BlockBlobClient, operation: BlobOperation): Promise<RawAnswer> {
  const query = operation.query === "" ? sas : `${operation.query}&${sas}`;
  return rawRequest(server, {
    method: operation.method,
    path: `/${container.containerName}/${blob.name}?${query}`,
    headers: { ...operation.headers },
    signed: false,
    ...(operation.body !== undefined && { body: operation.body }),
  });
}

const LEASE = {
  kind: "updates",
  returnsEtag: true,
  acceptsConditions: true,
  method: "PUT",
} as const;
const OPERATIONS: readonly BlobOperation[] = [
  ...BLOB_OPERATIONS,
  {
    ...LEASE,
    name: "Lease Blob",
    query: "comp=lease",
    headers: { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" },
  },
];

/** Which letters open an operation on a blob that is there. */
const LETTERS: Readonly<Record<string, string>> = {
  "Put Blob": "w",
  "Get Blob": "r",
  "Get Blob Properties": "r",
  "Set Blob Properties": "w",
  "Get Blob Metadata": "r",
  "Set Blob Metadata": "w",
  "Delete Blob": "d",
  "Put Block": "w",
  "Put Block List": "w",
  "Get Block List": "r",
  "Put Page": "w",
  "Clear Page": "w",
  "Get Page Ranges": "r",
  "Append Block": "aw",
  "Append Blob Seal": "w",
  "Lease Blob": "w",
};

for (const operation of OPERATIONS) {
  test(`${operation.name} is opened by exactly the letters that it needs`, async () => {
    for (const letter of "racwdxytmei") {
      const blob = await newBlob(operation.on);
      const answer = await askWith(sasOf(blob, letter), blob, operation);
      const opens = LETTERS[operation.name]?.includes(letter) ?? false;
      const message = `${letter}: ${answer.status} ${answer.code}`;
      assert.equal(answer.status < 300, opens, message);
      if (!opens) assert.equal(answer.status, 403, message);
    }
  });
}

test("breaking a lease is opened by the letters for writing and for deleting", async () => {
  const breaking: BlobOperation = {
    ...LEASE,
    name: "Break Lease",
    query: "comp=lease",
    headers: { "x-ms-lease-action": "break" },
  };
  for (const letter of "racwd") {
    const blob = await newBlob();
    await blob.getBlobLeaseClient().acquireLease(-1);
    const answer = await askWith(sasOf(blob, letter), blob, breaking);
    assert.equal(answer.status, letter === "w" || letter === "d" ? 202 : 403);
  }
});

test("a SAS that may only create never replaces what is there", async () => {
  const put = OPERATIONS[0] as BlobOperation;
  const missing = container.getBlockBlobClient("created");
  const sas = sasOf(missing, "c");
  assert.equal((await askWith(sas, missing, put)).status, 201);
  const again = await askWith(sas, missing, put);
  assert.deepEqual([again.status, again.code], [403, "UnauthorizedBlobOverwrite"]);
});

test("a SAS replaces the headers that it names on reads", async () => {
  const blob = await newBlob();
  await blob.setHTTPHeaders({ blobContentType: "text/plain", blobContentLanguage: "en" });
  const sas = sasOf(blob, "r", {
    contentType: "image/png",
    contentDisposition: "attachment",
    cacheControl: "no-store",
  });
  for (const name of ["Get Blob", "Get Blob Properties"]) {
    const operation = OPERATIONS.find((one) => one.name === name) as BlobOperation;
    const { headers } = await askWith(sas, blob, operation);
    assert.equal(headers.get("content-type"), "image/png");
    assert.equal(headers.get("content-disposition"), "attachment");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("content-language"), "en");
  }
});
