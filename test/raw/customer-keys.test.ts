import assert from "node:assert/strict";
import { test } from "node:test";
import { testKey } from "../sdk/customer-keys.ts";
import { startDataLake } from "../sdk/datalake-server.ts";
import { type RawAnswer, type RawAsked, rawRequest } from "../sdk/raw-request.ts";
import { forThisFile, startServer, type TestService } from "../sdk/server.ts";

/** What clients hide of customer-provided keys. */

const VERSIONED = { versioning: true, containerRetentionDays: null };
const server = await forThisFile(startServer({ blob: VERSIONED }));
const lake = await forThisFile(startDataLake());
await server.client().getContainerClient("box").create();
await lake.client().getFileSystemClient("tree").create();

const KEY = testKey(1);
const OTHER = testKey(2);
const BLOCK_BLOB = { "x-ms-blob-type": "BlockBlob" };

const USES = "BlobUsesCustomerSpecifiedEncryption";
const USES_NOT = "BlobDoesNotUseCustomerSpecifiedEncryption";
const MISMATCH = "BlobCustomerSpecifiedEncryptionMismatch";

const asking =
  (at: TestService) =>
  (line: string, headers: RawAsked["headers"] = {}, body = "") => {
    const [method = "", path = ""] = line.split(" ");
    return rawRequest(at, { method, path, headers, ...(body !== "" && { body }) });
  };
const ask = asking(server);
const askLake = asking(lake);

async function done(answer: Promise<RawAnswer>): Promise<RawAnswer> {
  const { status, text } = await answer;
  assert.ok(status < 300, `${status} ${text}`);
  return answer;
}

async function refused(answer: Promise<RawAnswer>, status: number, code: string): Promise<void> {
  const got = await answer;
  assert.deepEqual([got.status, got.code], [status, code]);
  assert.ok(!got.text.includes(KEY.headers["x-ms-encryption-key"] ?? ""), "the key is shown");
}

test("a malformed key is refused before anything is written, without being repeated", async () => {
  const whole = KEY.headers;
  const { "x-ms-encryption-key-sha256": _, ...withoutHash } = whole;
  const put = (headers: object) => ask("PUT /box/bad", { ...BLOCK_BLOB, ...headers }, "text");
  await refused(put(withoutHash), 400, "MissingRequiredHeader");
  await refused(put({ "x-ms-encryption-algorithm": "AES256" }), 400, "MissingRequiredHeader");
  const other = OTHER.headers["x-ms-encryption-key-sha256"];
  await refused(put({ ...whole, "x-ms-encryption-key-sha256": other }), 400, "InvalidHeaderValue");
  await refused(put({ ...whole, "x-ms-encryption-key": "c2hvcnQ=" }), 400, "InvalidHeaderValue");
  await refused(put({ ...whole, "x-ms-encryption-algorithm": "A" }), 400, "InvalidHeaderValue");
  await refused(ask("GET /box/bad"), 404, "BlobNotFound");
});

test("metadata alone is read with the key, too", async () => {
  const headers = { ...BLOCK_BLOB, ...KEY.headers, "x-ms-meta-colour": "green" };
  await done(ask("PUT /box/blob", headers, "text"));
  await refused(ask("GET /box/blob?comp=metadata"), 409, USES);
  await refused(ask("GET /box/blob?comp=metadata", OTHER.headers), 409, MISMATCH);
  const got = await done(ask("GET /box/blob?comp=metadata", KEY.headers));
  assert.equal(got.headers.get("x-ms-meta-colour"), "green");
});

test("each version of a blob has the key that it was written with", async () => {
  const put = async (body: string, headers: object) => {
    const answer = await done(ask("PUT /box/versions", { ...BLOCK_BLOB, ...headers }, body));
    return encodeURIComponent(answer.headers.get("x-ms-version-id") ?? "");
  };
  const one = await put("one", KEY.headers);
  const two = await put("two", {});
  const three = await put("three", OTHER.headers);
  const get = (version: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(`GET /box/versions?versionid=${version}`, headers);
  assert.equal((await get(one, KEY.headers)).text, "one");
  assert.equal((await get(two)).text, "two");
  assert.equal((await get(three, OTHER.headers)).text, "three");
  await refused(get(one), 409, USES);
  await refused(get(one, OTHER.headers), 409, MISMATCH);
  await refused(get(two, KEY.headers), 409, USES_NOT);
  // A new version without new bytes has the key of the old one.
  await done(ask("PUT /box/versions?comp=metadata", { ...OTHER.headers, "x-ms-meta-a": "b" }));
  assert.equal((await ask("GET /box/versions", OTHER.headers)).text, "three");
});

test("a key may be sent with new properties of a blob, and is judged", async () => {
  const path = "PUT /box/blob?comp=properties";
  await refused(ask(path, OTHER.headers), 409, MISMATCH);
  await done(ask(path, KEY.headers));
  await done(ask(path));
});

test("Data Lake: properties and status of a path with a key", async () => {
  const properties = { "x-ms-properties": `colour=${Buffer.from("green").toString("base64")}` };
  await done(askLake("PUT /tree/file?resource=file", { ...KEY.headers, ...properties }));
  await refused(askLake("HEAD /tree/file"), 409, USES);
  const found = await done(askLake("HEAD /tree/file", KEY.headers));
  assert.equal(found.headers.get("x-ms-encryption-key-sha256"), KEY.sha256);
  assert.equal(found.headers.get("x-ms-properties"), properties["x-ms-properties"]);
  const status = await done(askLake("HEAD /tree/file?action=getStatus"));
  assert.equal(status.headers.get("x-ms-properties"), null);

  const set = "PATCH /tree/file?action=setProperties";
  const red = { "x-ms-properties": `colour=${Buffer.from("red").toString("base64")}` };
  await refused(askLake(set, red), 409, USES);
  await refused(askLake(set, { ...red, ...OTHER.headers }), 409, MISMATCH);
  await done(askLake(set, { ...red, ...KEY.headers }));
  const now = await done(askLake("HEAD /tree/file", KEY.headers));
  assert.equal(now.headers.get("x-ms-properties"), red["x-ms-properties"]);
});

test("Data Lake: operations that take no key refuse one by name", async () => {
  await done(askLake("PUT /tree/plain?resource=file"));
  const moved = { "x-ms-rename-source": "/tree/plain", ...KEY.headers };
  await refused(askLake("PUT /tree/moved", moved), 400, "UnsupportedHeader");
  const acl = { ...KEY.headers, "x-ms-acl": "user::rwx,group::r--,other::---" };
  const set = "PATCH /tree/plain?action=setAccessControl";
  await refused(askLake(set, acl), 400, "UnsupportedHeader");
  await refused(askLake("DELETE /tree/plain", KEY.headers), 400, "UnsupportedHeader");
});

test("Data Lake: an append with a flush needs the key as well", async () => {
  await done(askLake("PUT /tree/both?resource=file", KEY.headers));
  const append = "PATCH /tree/both?action=append&position=0&flush=true";
  await refused(askLake(append, {}, "text"), 409, USES);
  await done(askLake(append, KEY.headers, "text"));
  assert.equal((await done(askLake("GET /tree/both", KEY.headers))).text, "text");
});
