import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import {
  BlobSASPermissions,
  type BlockBlobClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let container: ContainerClient;
let blob: BlockBlobClient;

before(async () => {
  server = await startServer();
  container = server.client().getContainerClient("bad-input");
  await container.create();
  blob = container.getBlockBlobClient("blob");
  await blob.upload("0123456789", 10);
});

after(async () => {
  assert.equal((await blob.downloadToBuffer()).toString(), "0123456789");
  await server.close();
  assert.deepEqual(server.failures, []);
});

/** Sends exactly this head and body; returns the whole response. */
async function send(query: string, head: string[], body: string | Buffer = ""): Promise<string> {
  const url = new URL(server.url);
  const sas = generateBlobSASQueryParameters(
    {
      containerName: container.containerName,
      permissions: BlobSASPermissions.parse("racwd"),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    CREDENTIAL,
  );
  const path = `${url.pathname}/${container.containerName}/new?${query}&${sas}`;
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  let answer = "";
  socket.setEncoding("latin1").on("data", (text) => {
    answer += text;
  });
  const lines = [`PUT ${path} HTTP/1.1`, `Host: ${url.host}`, "Connection: close", ...head];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  if (body.length > 0) socket.write(body);
  await once(socket, "close");
  return answer;
}

function check(answer: string, status: number, code: string): void {
  assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
  assert.match(answer, new RegExp(`x-ms-error-code: ${code}\r\n`, "i"));
}

const BLOCK_BLOB = "x-ms-blob-type: BlockBlob";

test("a body without a length is refused", async () => {
  const chunked = [BLOCK_BLOB, "Transfer-Encoding: chunked"];
  check(await send("", chunked, "1\r\nx\r\n0\r\n\r\n"), 411, "MissingContentLengthHeader");
  check(await send("", [BLOCK_BLOB]), 411, "MissingContentLengthHeader");
});

test("a body that is too large is refused before it is sent, with the limit", async () => {
  const length = "Content-Length: 5242880001";
  const expects = "Expect: 100-continue";
  const put = await send("", [BLOCK_BLOB, length, expects, "x-ms-version: 2026-04-06"]);
  check(put, 413, "RequestBodyTooLarge");
  assert.match(put, /<MaxLimit>5242880000<\/MaxLimit>/);
  const old = ["Content-Length: 67108865", expects, "x-ms-version: 2015-12-11"];
  check(await send("", [BLOCK_BLOB, ...old]), 413, "RequestBodyTooLarge");
  const block = ["Content-Length: 4194305", expects, "x-ms-version: 2015-12-11"];
  check(await send("comp=block&blockid=AAAA", block), 413, "RequestBodyTooLarge");
  const list = ["Content-Length: 10000000", expects];
  check(await send("comp=blocklist", list), 413, "RequestBodyTooLarge");
});

test("a client that expects 100-continue is refused before it sends the body, if possible", async () => {
  const head = ["Content-Length: 1000", "Expect: 100-continue"];
  const answer = await send("comp=block&blockid=%21", head);
  check(answer, 400, "InvalidBlockId");
});

test("damaged frames are refused, and nothing is stored", async () => {
  const framed = (bytes: Buffer, length: number) =>
    send(
      "",
      [
        BLOCK_BLOB,
        `Content-Length: ${bytes.length}`,
        "x-ms-structured-body: XSM/1.0; properties=crc64",
        `x-ms-structured-content-length: ${length}`,
      ],
      bytes,
    );
  const good = Buffer.from(
    "013000000000000000010001000100090000000000000031323334353637383988987" +
      "90a86148bae8898790a86148bae",
    "hex",
  );
  const spoilt = Buffer.from(good);
  spoilt[25] = 0x30;
  check(await framed(spoilt, 9), 400, "Crc64Mismatch");
  check(await framed(good, 8), 400, "InvalidInput");
  check(await framed(Buffer.alloc(48), 9), 400, "InvalidInput");
  assert.equal(await container.getBlobClient("new").exists(), false);
  assert.match(await framed(good, 9), /^HTTP\/1\.1 201 /);
  assert.equal((await container.getBlobClient("new").downloadToBuffer()).toString(), "123456789");
});

/** Request headers, and the expected refusal. */
type Refusal = [headers: Record<string, string>, status: number, code: string];

test("invalid headers are refused by name", async () => {
  const path = `/${container.containerName}/blob`;
  const puts: Refusal[] = [
    [{}, 400, "MissingRequiredHeader"],
    [{ "x-ms-blob-type": "Blob" }, 400, "InvalidHeaderValue"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-lease-id": "me" }, 400, "InvalidHeaderValue"],
    [{ "x-ms-blob-type": "BlockBlob", "content-md5": "AAAA" }, 400, "InvalidMd5"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-content-crc64": "AAAA" }, 400, "Crc64Mismatch"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-content-crc64": "no" }, 400, "InvalidHeaderValue"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-blob-content-md5": "no" }, 400, "InvalidMd5"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-meta-1a": "x" }, 400, "InvalidMetadata"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-meta-": "x" }, 400, "EmptyMetadataKey"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-meta-a": "x".repeat(8_192) }, 400, "MetadataTooLarge"],
    [{ "x-ms-blob-type": "BlockBlob", "x-ms-structured-body": "XSM" }, 400, "InvalidHeaderValue"],
  ];
  for (const [headers, status, code] of puts) {
    const answer = await rawRequest(server, { method: "PUT", path, headers, body: "x" });
    assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(headers));
  }
  const snapshots = { "x-ms-delete-snapshots": "all" };
  const gone = await rawRequest(server, { method: "DELETE", path, headers: snapshots });
  assert.deepEqual([gone.status, gone.code], [400, "InvalidHeaderValue"]);
});

test("snapshots are deleted with the current blob only, not with a snapshot or version", async () => {
  const headers = { "x-ms-delete-snapshots": "include" };
  const stamp = "2026-01-02T03:04:05.1234567Z";
  for (const [name, subject] of [
    ["snapshot", "Snapshot"],
    ["versionid", "Version id"],
  ] as const) {
    const path = `/${container.containerName}/blob?${name}=${stamp}`;
    const answer = await rawRequest(server, { method: "DELETE", path, headers });
    assert.deepEqual([answer.status, answer.code], [400, "InvalidQueryParameterValue"]);
    const reason = `This operation is only allowed on the root blob. ${subject} should not be provided.`;
    assert.ok(answer.text.includes(`<QueryParameterName>${name}</QueryParameterName>`));
    assert.ok(answer.text.includes(`<Reason>${reason}</Reason>`));
  }
});

test("invalid ranges are refused or ignored, depending on the header", async () => {
  const path = `/${container.containerName}/blob`;
  const get = (headers: Record<string, string>) => rawRequest(server, { path, headers });
  assert.equal((await get({ "x-ms-range": "bytes=-5" })).code, "InvalidHeaderValue");
  assert.equal((await get({ "x-ms-range": "bytes=5-4" })).code, "InvalidHeaderValue");
  const suffix = await get({ range: "bytes=-5" });
  assert.deepEqual([suffix.status, suffix.text], [200, "0123456789"]);
  const both = await get({ range: "bytes=0-1", "x-ms-range": "bytes=8-" });
  assert.deepEqual([both.status, both.text], [206, "89"]);
  const beyond = await get({ range: "bytes=10-" });
  assert.deepEqual([beyond.status, beyond.code], [416, "InvalidRange"]);
  assert.equal(beyond.headers.get("content-range"), "bytes */10");
});
