import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import type { ShareClient, ShareFileClient } from "@azure/storage-file-share";
import { crc64 } from "../../src/machine/crc64.ts";
import { READ } from "../../src/rules/share-mode.ts";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { ALL, Handles } from "./smb-handles.ts";

let server: FileServer;
let share: ShareClient;
let source: ShareFileClient;
let count = 0;
const bytes = randomBytes(200_000);

before(async () => {
  server = await startFileServer();
  share = server.client().getShareClient("share");
  await share.create();
  source = share.rootDirectoryClient.getFileClient("source");
  await source.create(bytes.length);
  await source.uploadRange(bytes, 0, bytes.length);
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function newFile(length: number): Promise<ShareFileClient> {
  const file = share.rootDirectoryClient.getFileClient(`file${++count}`);
  await file.create(length);
  return file;
}

test("a range is copied from another file, and later changes there do not show", async () => {
  const file = await newFile(150_000);
  await file.uploadRangeFromURL(source.url, 50_000, 1_000, 100_000);
  const found = await file.downloadToBuffer();
  assert.ok(found.subarray(1_000, 101_000).equals(bytes.subarray(50_000, 150_000)));
  assert.ok(found.subarray(0, 1_000).every((byte) => byte === 0));
  await source.uploadRange("changed", 50_000, 7);
  assert.ok((await file.downloadToBuffer(1_000, 100)).equals(bytes.subarray(50_000, 50_100)));
  await source.uploadRange(bytes, 0, bytes.length);
});

test("overwriting a range from elsewhere does not change snapshots", async () => {
  const file = await newFile(100_000);
  await file.uploadRange("before", 0, 6);
  const { snapshot } = await share.createSnapshot();
  await file.uploadRangeFromURL(source.url, 0, 0, 100_000);
  const old = share.withSnapshot(snapshot as string).rootDirectoryClient.getFileClient(file.name);
  assert.equal((await old.downloadToBuffer(0, 6)).toString(), "before");
  assert.ok((await file.downloadToBuffer()).equals(bytes.subarray(0, 100_000)));
});

test("the CRC-64 of the source's bytes is checked, and can be a condition", async () => {
  const file = await newFile(1_000);
  const right = crc64(bytes.subarray(0, 1_000));
  const wrong = Buffer.alloc(8, 1);
  await file.uploadRangeFromURL(source.url, 0, 0, 1_000, { sourceContentCrc64: right });
  const mismatch = file.uploadRangeFromURL(source.url, 0, 0, 1_000, { sourceContentCrc64: wrong });
  await refused(mismatch, 400, "Crc64Mismatch");
  const put = (sourceConditions: {
    sourceIfMatchCrc64?: Uint8Array;
    sourceIfNoneMatchCrc64?: Uint8Array;
  }) => file.uploadRangeFromURL(source.url, 0, 0, 1_000, { sourceConditions });
  await put({ sourceIfMatchCrc64: right });
  await refused(put({ sourceIfMatchCrc64: wrong }), 412, "SourceConditionNotMet");
  await put({ sourceIfNoneMatchCrc64: wrong });
  await refused(put({ sourceIfNoneMatchCrc64: right }), 412, "SourceConditionNotMet");
});

test("handles and leases are respected at both ends", async () => {
  const handles = new Handles(server, "share");
  const file = await newFile(1_000);
  const put = () => file.uploadRangeFromURL(source.url, 0, 0, 10);
  const reading = await handles.open(file.name, { access: READ, share: READ });
  await refused(put(), 409, "SharingViolation");
  await handles.close(reading);
  const held = await handles.open("source", { access: READ, share: ALL & ~READ });
  await refused(put(), 409, "CannotVerifyCopySource");
  await handles.close(held);
  await file.getShareLeaseClient("aaaaaaaa-0000-4000-8000-000000000001").acquireLease();
  await refused(put(), 412, "LeaseIdMissing");
});

test("ranges that do not match are refused by name", async () => {
  const file = await newFile(1_000);
  const asked = async (range: string, sourceRange: string, more: Record<string, string> = {}) => {
    const headers: Record<string, string> = {
      "x-ms-write": "update",
      "x-ms-range": range,
      "x-ms-copy-source": source.url,
      "x-ms-source-range": sourceRange,
      ...more,
    };
    const path = `/share/${file.name}?comp=range`;
    const answer = await rawRequest(server, { method: "PUT", path, headers });
    return [answer.status, answer.code];
  };
  assert.deepEqual(await asked("bytes=0-9", "bytes=0-9"), [201, ""]);
  assert.deepEqual(await asked("bytes=0-9", "bytes=0-8"), [416, "InvalidRange"]);
  assert.deepEqual(await asked("bytes=995-1004", "bytes=0-9"), [416, "InvalidRange"]);
  assert.deepEqual(await asked("bytes=0-9", "bytes=199995-200004"), [416, "InvalidRange"]);
  assert.deepEqual(await asked("bytes=0-9", "bytes=0-"), [400, "InvalidHeaderValue"]);
  assert.deepEqual(await asked("bytes=0-", "bytes=0-9"), [400, "InvalidHeaderValue"]);
  assert.deepEqual(await asked("bytes=0-9", "bytes=0-9", { "x-ms-write": "clear" }), [
    400,
    "InvalidHeaderValue",
  ]);
  const large = 4 * 1024 * 1024;
  await file.resize(large + 1);
  const big = await newFile(large + 1);
  const range = `bytes=0-${large}`;
  assert.deepEqual(await asked(range, range, { "x-ms-copy-source": big.url }), [
    413,
    "RequestBodyTooLarge",
  ]);
});
