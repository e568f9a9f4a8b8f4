import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import type {
  AppendBlobClient,
  BlockBlobClient,
  ContainerClient,
  PageBlobClient,
} from "@azure/storage-blob";
import { crc64 } from "../../src/machine/crc64.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";
import { sweep } from "./sweep.ts";

const BYTES = randomBytes(300_000);
const STALE = { ifMatch: '"0x8D000000000000"' };
const WRONG_MD5 = Buffer.alloc(16);

const server = await forThisFile(startServer());
let box: ContainerClient;
let source: BlockBlobClient;
let blob: BlockBlobClient;
let log: AppendBlobClient;
let pages: PageBlobClient;

beforeEach(async () => {
  box = await server.makeContainer();
  source = box.getBlockBlobClient("source");
  blob = box.getBlockBlobClient("blob");
  log = box.getAppendBlobClient("log");
  pages = box.getPageBlobClient("pages");
  await source.uploadData(BYTES);
  await log.create();
  await pages.create(400_384);
});

function md5Of(bytes: Buffer): Buffer {
  return createHash("md5").update(bytes).digest();
}

test("blocks are staged from ranges of a source, in any order, and outlive it", async () => {
  const ranges = [
    [200_000, 100_000],
    [0, 5],
    [10_000, 150_000],
  ] as const;
  const ids = ["AAAA", "BBBB", "CCCC"];
  for (const [at, [from, length]] of ranges.entries()) {
    await blob.stageBlockFromURL(ids[at] ?? "", source.url, from, length);
  }
  await source.delete();
  await blob.commitBlockList(ids);
  const expected = Buffer.concat(
    ranges.map(([from, length]) => BYTES.subarray(from, from + length)),
  );
  assert.ok((await blob.downloadToBuffer()).equals(expected));
  const { committedBlocks = [] } = await blob.getBlockList("committed");
  assert.deepEqual(
    committedBlocks.map(({ name, size }) => [name, size]),
    [
      ["AAAA", 100_000],
      ["BBBB", 5],
      ["CCCC", 150_000],
    ],
  );
});

test("a block from a source of many blocks is one block, repeatedly", async () => {
  const parts = [randomBytes(50_000), randomBytes(10), randomBytes(70_000)];
  for (const [at, part] of parts.entries()) {
    await source.stageBlock(`AAA${at}`, part, part.length);
  }
  await source.commitBlockList(["AAA0", "AAA1", "AAA2"]);
  await blob.stageBlockFromURL("AAAA", source.url, 10_000, 100_000);
  await blob.stageBlock("BBBB", "end", 3);
  await blob.commitBlockList(["AAAA", "BBBB", "AAAA"]);
  const slice = Buffer.concat(parts).subarray(10_000, 110_000);
  const expected = Buffer.concat([slice, Buffer.from("end"), slice]);
  assert.ok((await blob.downloadToBuffer()).equals(expected));
  const next = box.getBlockBlobClient("next");
  await next.stageBlockFromURL("AAAA", blob.url, 50_000, 150_000);
  await next.commitBlockList(["AAAA"]);
  await blob.delete();
  await source.delete();
  await sweep(server);
  assert.ok((await next.downloadToBuffer()).equals(expected.subarray(50_000, 200_000)));
  const { committedBlocks = [] } = await next.getBlockList("committed");
  assert.deepEqual([committedBlocks.length, committedBlocks[0]?.size], [1, 150_000]);
});

test("a block from a page blob has its bytes, including unwritten pages", async () => {
  await pages.uploadPages(Buffer.alloc(512, 7), 512, 512);
  await blob.stageBlockFromURL("AAAA", pages.url, 0, 1_536);
  await blob.commitBlockList(["AAAA"]);
  const expected = Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, 7), Buffer.alloc(512)]);
  assert.ok((await blob.downloadToBuffer()).equals(expected));
});

test("bytes are appended from a source, and from the blob itself", async () => {
  const first = await log.appendBlockFromURL(source.url, 0, 100_000);
  assert.deepEqual([first.blobAppendOffset, first.blobCommittedBlockCount], ["0", 1]);
  const next = await log.appendBlockFromURL(log.url, 50_000, 50_000);
  assert.deepEqual([next.blobAppendOffset, next.blobCommittedBlockCount], ["100000", 2]);
  const whole = BYTES.subarray(0, 100_000);
  assert.ok((await log.downloadToBuffer()).equals(Buffer.concat([whole, whole.subarray(50_000)])));
  const position = { conditions: { appendPosition: 1 } };
  await refused(
    log.appendBlockFromURL(source.url, 0, 10, position),
    412,
    "AppendPositionConditionNotMet",
  );
  const size = { conditions: { maxSize: 150_005 } };
  for (const length of [10, 50_000]) {
    await refused(
      log.appendBlockFromURL(source.url, 0, length, size),
      412,
      "MaxBlobSizeConditionNotMet",
    );
  }
  await log.seal();
  await refused(log.appendBlockFromURL(source.url, 0, 10), 409, "BlobIsSealed");
});

test("pages are written from a source, over old pages and within one blob", async () => {
  await pages.uploadPages(Buffer.alloc(1_024, 9), 0, 1_024);
  await pages.uploadPagesFromURL(source.url, 100, 512, 102_400);
  const expected = Buffer.alloc(400_384);
  expected.fill(9, 0, 512);
  BYTES.copy(expected, 512, 100, 102_500);
  assert.ok((await pages.downloadToBuffer()).equals(expected));
  await pages.uploadPagesFromURL(pages.url, 0, 51_200, 102_400);
  Buffer.from(expected.subarray(0, 102_400)).copy(expected, 51_200);
  assert.ok((await pages.downloadToBuffer()).equals(expected));
});

test("page conditions also apply to pages from a source", async () => {
  const write = (conditions: object) =>
    pages.uploadPagesFromURL(source.url, 0, 0, 512, { conditions });
  await refused(write(STALE), 412, "ConditionNotMet");
  await refused(write({ ifSequenceNumberEqualTo: 5 }), 412, "SequenceNumberConditionNotMet");
  await refused(pages.uploadPagesFromURL(source.url, 0, 400_384, 512), 416, "InvalidPageRange");
  await refused(pages.uploadPagesFromURL(source.url, 299_990, 0, 512), 416, "InvalidRange");
  const path = `/${box.containerName}/pages?comp=page`;
  const headers = { "x-ms-copy-source": source.url, "x-ms-page-write": "update" };
  for (const [more, status, code] of [
    [{ "x-ms-range": "bytes=0-511" }, 400, "MissingRequiredHeader"],
    [{ "x-ms-range": "bytes=0-511", "x-ms-source-range": "bytes=0-" }, 400, "InvalidHeaderValue"],
    [{ "x-ms-range": "bytes=0-511", "x-ms-source-range": "bytes=0-9" }, 416, "InvalidPageRange"],
    [{ "x-ms-page-write": "clear" }, 400, "InvalidHeaderValue"],
  ] as const) {
    const asked = { method: "PUT", path, headers: { ...headers, ...more } };
    const answer = await rawRequest(server, asked);
    assert.deepEqual([answer.status, answer.code], [status, code]);
  }
});

test("source conditions, digests, ranges and leases are checked everywhere", async () => {
  const block = (more: object) => blob.stageBlockFromURL("AAAA", source.url, 0, 1_000, more);
  const append = (more: object) => log.appendBlockFromURL(source.url, 0, 1_000, more);
  const page = (more: object) => pages.uploadPagesFromURL(source.url, 0, 0, 512, more);
  const piece = BYTES.subarray(0, 1_000);
  for (const [write, bytes] of [
    [block, piece],
    [append, piece],
    [page, BYTES.subarray(0, 512)],
  ] as const) {
    if (write !== block) {
      await refused(write({ sourceConditions: STALE }), 412, "CannotVerifyCopySource");
      await refused(write({ conditions: STALE }), 412, "ConditionNotMet");
    }
    await refused(write({ sourceContentMD5: WRONG_MD5 }), 400, "Md5Mismatch");
    await refused(write({ sourceContentCrc64: Buffer.alloc(8) }), 400, "Crc64Mismatch");
    await refused(write({ sourceContentCrc64: Buffer.alloc(4) }), 400, "Crc64Mismatch");
    await write({ sourceContentMD5: md5Of(bytes) });
    await write({ sourceContentCrc64: crc64(bytes) });
  }
  await refused(blob.stageBlockFromURL("AAAA", source.url, 300_000, 1), 416, "InvalidRange");
  await refused(log.appendBlockFromURL(source.url, 300_000, 1), 416, "InvalidRange");
  await blob.upload("old", 3);
  for (const one of [blob, log, pages]) await one.getBlobLeaseClient().acquireLease(-1);
  for (const write of [block, append, page]) await refused(write({}), 412, "LeaseIdMissing");
});

test("unmet conditions on a source are answered like those of a read", async () => {
  const { etag = "", lastModified = new Date() } = await source.getProperties();
  const shifted = (ms: number) => new Date(lastModified.getTime() + ms).toUTCString();
  const paths = ["blob?comp=block&blockid=AAAA", "log?comp=appendblock", "pages?comp=page"];
  for (const [headers, status] of [
    [{ "x-ms-source-if-match": '"0x8D0"' }, 412],
    [{ "x-ms-source-if-unmodified-since": shifted(-10_000) }, 412],
    [{ "x-ms-source-if-none-match": etag }, 304],
    [{ "x-ms-source-if-modified-since": shifted(0) }, 304],
  ] as const) {
    for (const path of paths) {
      const answer = await rawRequest(server, {
        method: "PUT",
        path: `/${box.containerName}/${path}`,
        headers: {
          "x-ms-copy-source": source.url,
          "x-ms-source-range": "bytes=0-511",
          ...(path.endsWith("=page") && {
            "x-ms-page-write": "update",
            "x-ms-range": "bytes=0-511",
          }),
          ...headers,
        },
      });
      const found = [
        answer.status,
        answer.code,
        answer.headers.get("x-ms-copy-source-status-code"),
      ];
      assert.deepEqual(found, [status, "CannotVerifyCopySource", String(status)], path);
    }
  }
});

test("a source that is too large, empty, malformed or of another type is refused", async () => {
  const url = source.url;
  const large = box.getPageBlobClient("large");
  await large.create(5 * 1024 * 1024);
  await refused(
    large.uploadPagesFromURL(large.url, 0, 0, 4 * 1024 * 1024 + 512),
    413,
    "RequestBodyTooLarge",
  );
  const path = `/${box.containerName}/log?comp=appendblock`;
  const old = await rawRequest(server, {
    method: "PUT",
    path: `/${box.containerName}/blob?comp=block&blockid=AAAA`,
    headers: { "x-ms-copy-source": large.url },
    version: "2015-02-21",
  });
  assert.deepEqual([old.status, old.code], [413, "RequestBodyTooLarge"]);
  const empty = box.getBlockBlobClient("empty");
  await empty.upload("", 0);
  await refused(blob.stageBlockFromURL("AAAA", empty.url), 400, "InvalidInput");
  await refused(log.appendBlockFromURL(empty.url, 0, 1), 416, "InvalidRange");
  const headers = { "x-ms-copy-source": url, "x-ms-source-range": "1-2" };
  const range = await rawRequest(server, { method: "PUT", path, headers });
  assert.deepEqual([range.status, range.code], [400, "InvalidHeaderValue"]);
  await refused(blob.stageBlockFromURL("!", url), 400, "InvalidBlockId");
  await refused(
    box.getAppendBlobClient("pages").appendBlockFromURL(url, 0, 1),
    409,
    "InvalidBlobType",
  );
  await refused(
    box.getBlockBlobClient("log").stageBlockFromURL("AAAA", url),
    409,
    "InvalidBlobType",
  );
  await refused(
    box.getPageBlobClient("log").uploadPagesFromURL(url, 0, 0, 512),
    409,
    "InvalidBlobType",
  );
  const missing = box.getBlobClient("missing").url;
  await refused(blob.stageBlockFromURL("AAAA", missing), 404, "CannotVerifyCopySource");
});

test("copies within the server take no additional space", async () => {
  const used = () =>
    server.context.store.read(
      (view) => view.range(Buffer.from([6]), Buffer.from([7]), { limit: 99_999 }).length,
    );
  const before = await used();
  await blob.syncUploadFromURL(source.url);
  await blob.stageBlockFromURL("AAAA", source.url, 1_000, 200_000);
  await blob.commitBlockList(["AAAA"]);
  await log.appendBlockFromURL(source.url, 5, 100_000);
  await pages.uploadPagesFromURL(source.url, 9, 0, 100_352);
  assert.equal(await used(), before);
});
