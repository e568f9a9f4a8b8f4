import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BlobBatch,
  BlobBatchClient,
  BlobSASPermissions,
  ContainerClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { slicesDuring } from "../../src/base/fair-queue.fixture.ts";
import { rawRequest } from "./raw-request.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());

async function boxWith(...names: string[]): Promise<ContainerClient> {
  const box = await server.makeContainer();
  for (const name of names) await box.getBlockBlobClient(name).upload("text", 4);
  return box;
}

async function namesIn(box: ContainerClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of box.listBlobsFlat()) names.push(name);
  return names;
}

const CRLF = "\r\n";

interface Part {
  readonly line: string;
  readonly headers?: readonly string[];
  readonly type?: string;
  readonly id?: string;
}

function batchBody(parts: readonly Part[], boundary = "batch_1"): string {
  const all = parts.map(({ line, headers = [], type = "application/http", id }) => {
    const named = id === undefined ? [] : [`Content-ID: ${id}`];
    const lines = [
      `--${boundary}`,
      `Content-Type: ${type}`,
      ...named,
      "",
      line,
      ...headers,
      "",
      "",
    ];
    return lines.join(CRLF);
  });
  return `${all.join("")}--${boundary}--${CRLF}`;
}

/** Signs the batch itself, but not its parts. */
function submit(body: string, path = "/", type = "multipart/mixed; boundary=batch_1") {
  const query = path === "/" ? "?comp=batch" : "?restype=container&comp=batch";
  const headers = { "content-type": type };
  return rawRequest(server, { method: "POST", path: `${path}${query}`, headers, body });
}

/** Returns the refusal in a response with a single part. */
function refusalIn(text: string): (string | undefined)[] {
  const parts = text.split(/--batchresponse_[0-9a-f-]+/).slice(1, -1);
  assert.equal(parts.length, 1);
  assert.doesNotMatch(parts[0] ?? "", /Content-ID/);
  return [
    /HTTP\/1\.1 (\d+)/.exec(parts[0] ?? "")?.[1],
    /x-ms-error-code: (\w+)/.exec(parts[0] ?? "")?.[1],
  ];
}

function sasFor(box: ContainerClient, letters: string, blobName?: string): string {
  return generateBlobSASQueryParameters(
    {
      containerName: box.containerName,
      ...(blobName !== undefined && { blobName }),
      permissions:
        blobName === undefined
          ? ContainerSASPermissions.parse(letters)
          : BlobSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    CREDENTIAL,
  ).toString();
}

test("a batch deletes many blobs and reports the result of each", async () => {
  const names = Array.from({ length: 256 }, (_, at) => `blob ${String(at).padStart(3, "0")}`);
  const box = await boxWith(...names.slice(0, 250), "kept");
  const urls = names.map((name) => box.getBlobClient(name).url);
  const done = await server.client().getBlobBatchClient().deleteBlobs(urls, CREDENTIAL);
  assert.deepEqual([done.subResponsesSucceededCount, done.subResponsesFailedCount], [250, 6]);
  assert.equal(done._response.status, 202);
  const [first] = done.subResponses;
  assert.deepEqual([first?.status, first?.statusMessage], [202, "Accepted"]);
  assert.match(first?.headers.get("x-ms-request-id") ?? "", /^[0-9a-f-]{36}$/);
  const last = done.subResponses[255];
  assert.deepEqual([last?.status, last?.errorCode], [404, "BlobNotFound"]);
  assert.match(last?.bodyAsText ?? "", /<Code>BlobNotFound<\/Code>/);
  assert.deepEqual(await namesIn(box), ["kept"]);
});

test("each part has its own conditions, lease and name", async () => {
  const box = await boxWith("leased", "changed", "free");
  const lease = box.getBlobClient("leased").getBlobLeaseClient();
  const { leaseId } = await lease.acquireLease(-1);
  const batch = new BlobBatch();
  await batch.deleteBlob(box.getBlobClient("leased"));
  await batch.deleteBlob(box.getBlobClient("changed"), { conditions: { ifMatch: '"0x1"' } });
  await batch.deleteBlob(box.getBlobClient("free"));
  const done = await box.getBlobBatchClient().submitBatch(batch);
  const codes = done.subResponses.map(({ status, errorCode }) => [status, errorCode]);
  assert.deepEqual(codes, [
    [412, "LeaseIdMissing"],
    [412, "ConditionNotMet"],
    [202, undefined],
  ]);
  const again = new BlobBatch();
  await again.deleteBlob(box.getBlobClient("leased"), { conditions: { leaseId: leaseId ?? "" } });
  const second = await box.getBlobBatchClient().submitBatch(again);
  assert.equal(second.subResponsesFailedCount, 0);
  assert.deepEqual(await namesIn(box), ["changed"]);
});

test("in a batch under a SAS, the SAS of each part decides what it may do", async () => {
  const box = await boxWith("a", "b", "c");
  const path = (name: string) => `/${server.account}/${box.containerName}/${name}`;
  const parts = [
    {
      line: `DELETE ${path("a")}?${sasFor(box, "d", "a")} HTTP/1.1`,
      headers: ["x-ms-client-request-id: mine"],
      id: "first",
    },
    { line: `DELETE ${path("b")}?${sasFor(box, "r", "b")} HTTP/1.1`, id: "second" },
    { line: `DELETE ${path("c")}?${sasFor(box, "d", "a")} HTTP/1.1`, id: "third" },
    { line: `DELETE ${path("c")} HTTP/1.1`, id: "fourth" },
  ];
  const { status, text } = await submit(batchBody(parts));
  assert.equal(status, 202);
  const answers = text.split(/--batchresponse_[0-9a-f-]+/).slice(1, -1);
  assert.match(answers[0] ?? "", /x-ms-client-request-id: mine/);
  const found = answers.map((answer) => [
    /Content-ID: (\w+)/.exec(answer)?.[1],
    /HTTP\/1\.1 (\d+)/.exec(answer)?.[1],
    /x-ms-error-code: (\w+)/.exec(answer)?.[1],
  ]);
  assert.deepEqual(found, [
    ["first", "202", undefined],
    ["second", "403", "AuthorizationPermissionMismatch"],
    ["third", "403", "AuthenticationFailed"],
    ["fourth", "401", "NoAuthenticationInformation"],
  ]);
  assert.deepEqual(await namesIn(box), ["b", "c"]);

  const throughSas = new ContainerClient(`${box.url}?${sasFor(box, "rd")}`);
  const urls = ["b", "c"].map((name) => throughSas.getBlobClient(name));
  const done = await throughSas.getBlobBatchClient().deleteBlobs(urls);
  assert.equal(done.subResponsesSucceededCount, 2);
  assert.deepEqual(await namesIn(box), []);
});

test("a part signed for something else is refused, and the others proceed", async () => {
  const box = await boxWith("a", "b");
  const wrong = `SharedKey ${server.account}:${CREDENTIAL.computeHMACSHA256("something else")}`;
  const date = `x-ms-date: ${new Date().toUTCString()}`;
  const path = `/${server.account}/${box.containerName}`;
  const parts = [
    { line: `DELETE ${path}/a HTTP/1.1`, headers: [date, `Authorization: ${wrong}`] },
    { line: `DELETE ${path}/b?${sasFor(box, "d")} HTTP/1.1` },
  ];
  const { text } = await submit(batchBody(parts));
  assert.match(text, /HTTP\/1\.1 403 Forbidden[\s\S]*HTTP\/1\.1 202 Accepted/);
  assert.deepEqual(await namesIn(box), ["a"]);
});

test("a container's batch accepts operations on that container only", async () => {
  const [box, other] = [await boxWith("a"), await boxWith("a")];
  const urls = [box.getBlobClient("a").url, other.getBlobClient("a").url];
  const done = await box.getBlobBatchClient().deleteBlobs(urls, CREDENTIAL);
  assert.deepEqual([done.subResponsesSucceededCount, done.subResponsesFailedCount], [0, 1]);
  assert.deepEqual(await namesIn(box), ["a"]);
  const account = new BlobBatchClient(server.url, CREDENTIAL);
  assert.equal((await account.deleteBlobs(urls, CREDENTIAL)).subResponsesSucceededCount, 2);
});

test("an invalid batch is refused by a single part, and nothing happens", async () => {
  const box = await boxWith("a");
  const sas = sasFor(box, "dw");
  const path = `/${server.account}/${box.containerName}`;
  const remove = { line: `DELETE ${path}/a?${sas} HTTP/1.1` };
  const tier = {
    line: `PUT ${path}/a?comp=tier&${sas} HTTP/1.1`,
    headers: ["x-ms-access-tier: Cool"],
  };
  const bodies = [
    "",
    "nothing",
    batchBody([]),
    batchBody([remove]).replace("--batch_1--", ""),
    batchBody([remove, { ...remove, type: "text/plain" }]),
    batchBody([remove, { line: "DELETE" }]),
    batchBody([remove, { line: `PUT ${path}/a?comp=metadata&${sas} HTTP/1.1` }]),
    batchBody([remove, { line: `DELETE ${path}?restype=container&${sas} HTTP/1.1` }]),
    batchBody([remove, { line: `POST /${server.account}?comp=batch&${sas} HTTP/1.1` }]),
    batchBody([remove, { ...remove, headers: ["no header"] }]),
  ];
  for (const body of bodies) {
    const { status, text } = await submit(body);
    assert.equal(status, 202);
    assert.deepEqual(refusalIn(text), ["400", "InvalidInput"], body.slice(0, 300));
    assert.match(text, /<Reason>The batch cannot be read\. /);
  }
  const mixed = await submit(batchBody([remove, tier]));
  assert.deepEqual(refusalIn(mixed.text), ["400", "AllBatchSubRequestsShouldBeSameApi"]);
  const long = await submit(batchBody(Array(257).fill(remove)));
  assert.deepEqual(refusalIn(long.text), ["400", "ExceedsMaxBatchRequestCount"]);
  for (const type of ["application/xml", "multipart/mixed"]) {
    assert.equal((await submit(batchBody([remove]), "/", type)).code, "InvalidInput");
  }
  const large = batchBody([{ ...remove, headers: [`x-padding: ${"x".repeat(4 * 1024 * 1024)}`] }]);
  assert.equal((await submit(large)).code, "RequestBodyTooLarge");
  assert.deepEqual(await namesIn(box), ["a"]);
});

test("a part may leave out the account of its batch in its path and signature", async () => {
  const box = await boxWith("a", "b");
  const path = (name: string) => `/${box.containerName}/${name}`;
  const date = new Date().toUTCString();
  const signed = `DELETE\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:${date}\n/${server.account}${path("a")}`;
  const key = `SharedKey ${server.account}:${CREDENTIAL.computeHMACSHA256(signed)}`;
  const { text } = await submit(
    batchBody([
      {
        line: `DELETE ${path("a")} HTTP/1.1`,
        headers: [`x-ms-date: ${date}`, `Authorization: ${key}`],
      },
      { line: `DELETE ${path("b")}?${sasFor(box, "d")} HTTP/1.1` },
      { line: `DELETE /nowhere${path("b")}?${sasFor(box, "d")} HTTP/1.1` },
    ]),
  );
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 202", "HTTP/1.1 202", "HTTP/1.1 403"]);
  assert.deepEqual(await namesIn(box), []);
});

test("a batch without credentials is refused", async () => {
  const { status, code } = await rawRequest(server, {
    method: "POST",
    path: "/?comp=batch",
    headers: { "content-type": "multipart/mixed; boundary=batch_1" },
    body: batchBody([]),
    signed: false,
  });
  assert.deepEqual([status, code], [401, "NoAuthenticationInformation"]);
});

test("other requests run between the operations of a batch", async () => {
  const names = Array.from({ length: 100 }, (_, at) => `blob ${at}`);
  const box = await boxWith(...names);
  const blobs = names.map((name) => box.getBlobClient(name));
  const client = new BlobBatchClient(box.url, CREDENTIAL);
  const slices = await slicesDuring(async () => {
    const { subResponses } = await client.deleteBlobs(blobs);
    assert.equal(subResponses.filter(({ status }) => status === 202).length, 100);
  });
  assert.ok(slices >= 3, `${slices} slices`);
});
