import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { BlockBlobClient, BlockBlobUploadOptions, ContainerClient } from "@azure/storage-blob";
import { crc64 } from "../../src/machine/crc64.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

for (const engine of ["memory", "embedded"] as const) {
  describe(`blobs on the ${engine} engine`, () => {
    let server: TestServer;
    let container: ContainerClient;
    let blobs = 0;

    before(async () => {
      server = await startServer({ engine });
      container = server.client().getContainerClient("blobs");
      await container.create();
    });

    after(async () => {
      await server.close();
      assert.deepEqual(server.failures, []);
    });

    function newBlob(): BlockBlobClient {
      return container.getBlockBlobClient(`blob-${blobs++}`);
    }

    async function newBlobOf(text: string): Promise<BlockBlobClient> {
      const blob = newBlob();
      await blob.upload(text, Buffer.byteLength(text));
      return blob;
    }

    test("an upload is read back with all its properties", async () => {
      const blob = newBlob();
      const put = await blob.upload("hello", 5, {
        metadata: { colour: "blue", Mixed_Case: "x y" },
        blobHTTPHeaders: {
          blobContentType: "text/plain",
          blobContentEncoding: "identity",
          blobContentLanguage: "en",
          blobContentDisposition: "attachment",
          blobCacheControl: "no-cache",
        },
      });
      assert.deepEqual(put.contentMD5, md5("hello"));
      assert.equal(put.isServerEncrypted, true);
      assert.match(put.etag ?? "", /^"0x[0-9A-F]+"$/);

      const got = await blob.download();
      const properties = await blob.getProperties();
      for (const found of [got, properties]) {
        assert.equal(found.etag, put.etag);
        assert.deepEqual(found.lastModified, put.lastModified);
        assert.equal(found.contentLength, 5);
        assert.equal(found.contentType, "text/plain");
        assert.equal(found.contentEncoding, "identity");
        assert.equal(found.contentLanguage, "en");
        assert.equal(found.contentDisposition, "attachment");
        assert.equal(found.cacheControl, "no-cache");
        assert.deepEqual(found.contentMD5, md5("hello"));
        assert.deepEqual(found.metadata, { colour: "blue", mixed_case: "x y" });
        assert.equal(found.blobType, "BlockBlob");
        assert.equal(found.leaseState, "available");
        assert.equal(found.leaseStatus, "unlocked");
        assert.equal(found.acceptRanges, "bytes");
        assert.equal(found.isServerEncrypted, true);
        assert.ok(found.createdOn instanceof Date);
      }
      assert.equal(await bodyOf(blob), "hello");
    });

    test("a blob uploaded without a content type gets the default type", async () => {
      const blob = await newBlobOf("x");
      assert.equal((await blob.getProperties()).contentType, "application/octet-stream");
    });

    test("an empty blob can be read, but has no ranges", async () => {
      const blob = await newBlobOf("");
      const got = await blob.download();
      assert.equal(got.contentLength, 0);
      assert.equal(got._response.status, 200);
      await refused(blob.download(0, 1), 416, "InvalidRange");
    });

    test("a large blob comes back byte for byte, whole and in ranges", async () => {
      const bytes = Buffer.alloc(5_000_000);
      for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(at, at);
      const blob = newBlob();
      await blob.upload(bytes, bytes.length);
      assert.ok((await blob.downloadToBuffer()).equals(bytes));
      assert.ok(
        (await blob.downloadToBuffer(1_234_567, 100_000)).equals(
          bytes.subarray(1_234_567, 1_334_567),
        ),
      );
    });

    test("a range request gets 206, its bytes and their position", async () => {
      const blob = await newBlobOf("0123456789");
      const got = await blob.download(2, 3);
      assert.equal(got._response.status, 206);
      assert.equal(got.contentRange, "bytes 2-4/10");
      assert.equal(got.contentLength, 3);
      assert.equal(got.contentMD5, undefined);
      assert.deepEqual(got.blobContentMD5, md5("0123456789"));
      const open = await blob.download(7);
      assert.equal(open.contentRange, "bytes 7-9/10");
      const cut = await blob.download(8, 100);
      assert.equal(cut.contentRange, "bytes 8-9/10");
      const error = await refused(blob.download(10, 1), 416, "InvalidRange");
      assert.equal(error.response?.headers.get("content-range"), "bytes */10");
    });

    test("a range comes with its own MD5 or CRC-64 on request", async () => {
      const blob = await newBlobOf("0123456789");
      const withMd5 = await blob.download(2, 3, { rangeGetContentMD5: true });
      assert.deepEqual(withMd5.contentMD5, md5("234"));
      const withCrc64 = await blob.download(2, 3, { rangeGetContentCrc64: true });
      assert.deepEqual(withCrc64.contentCrc64, crc64(Buffer.from("234")));
      const large = newBlob();
      const bytes = 4 * 1024 * 1024 + 1;
      await large.upload(Buffer.alloc(bytes), bytes);
      await large.download(0, bytes - 1, { rangeGetContentMD5: true });
      await refused(large.download(0, bytes, { rangeGetContentMD5: true }), 400, "OutOfRangeInput");
    });

    test("wrong digests are refused and leave nothing behind", async () => {
      const blob = newBlob();
      const put = (options: WithDigests) => blob.upload("x", 1, options);
      const zeros = (length: number) => new Uint8Array(length);
      const right = { md5: md5("x"), crc64: crc64(Buffer.from("x")) };
      await refused(put({ transactionalContentMD5: zeros(16) }), 400, "Md5Mismatch");
      await refused(put({ transactionalContentCrc64: zeros(8) }), 400, "Crc64Mismatch");
      await refused(put({ blobHTTPHeaders: { blobContentMD5: zeros(16) } }), 400, "Md5Mismatch");
      await refused(put({ transactionalContentMD5: zeros(15) }), 400, "InvalidMd5");
      await refused(put({ transactionalContentCrc64: zeros(9) }), 400, "Crc64Mismatch");
      await refused(put({ blobHTTPHeaders: { blobContentMD5: zeros(4) } }), 400, "InvalidMd5");
      await refused(
        put({ transactionalContentMD5: right.md5, transactionalContentCrc64: right.crc64 }),
        400,
        "BothCrc64AndMd5HeaderPresent",
      );
      assert.equal(await blob.exists(), false);
      await put({
        transactionalContentMD5: right.md5,
        blobHTTPHeaders: { blobContentMD5: right.md5 },
      });
      await put({ transactionalContentCrc64: right.crc64 });
    });

    test("checksums in frames travel with the bytes in both directions", async () => {
      const bytes = Buffer.alloc(9_000_000, "lazuli");
      const blob = newBlob();
      const put = await blob.upload(bytes, bytes.length, {
        contentChecksumAlgorithm: "StorageCrc64",
      });
      assert.equal(put.structuredBodyType, "XSM/1.0; properties=crc64");
      assert.ok((await blob.downloadToBuffer()).equals(bytes));
      const got = await blob.download(0, undefined, { contentChecksumAlgorithm: "StorageCrc64" });
      assert.equal(got.structuredBodyType, "XSM/1.0; properties=crc64");
      const parts: Buffer[] = [];
      for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) parts.push(part);
      assert.ok(Buffer.concat(parts).equals(bytes));
      const range = await blob.downloadToBuffer(5_000_000, 100, {
        contentChecksumAlgorithm: "StorageCrc64",
      });
      assert.ok(range.equals(bytes.subarray(5_000_000, 5_000_100)));
    });

    test("setting metadata replaces all of it and changes the ETag", async () => {
      const blob = newBlob();
      const put = await blob.upload("x", 1, { metadata: { a: "1", b: "2" } });
      const set = await blob.setMetadata({ c: "3" });
      assert.notEqual(set.etag, put.etag);
      const found = await blob.getProperties();
      assert.deepEqual(found.metadata, { c: "3" });
      assert.equal(found.etag, set.etag);
      assert.equal(found.contentLength, 1);
      await blob.setMetadata();
      assert.deepEqual((await blob.getProperties()).metadata, {});
    });

    test("setting properties replaces all six, and clears those that are not sent", async () => {
      const blob = newBlob();
      const put = await blob.upload("x", 1, {
        metadata: { kept: "yes" },
        blobHTTPHeaders: { blobContentType: "text/plain", blobCacheControl: "no-cache" },
      });
      const set = await blob.setHTTPHeaders({ blobContentLanguage: "de" });
      assert.notEqual(set.etag, put.etag);
      const found = await blob.getProperties();
      assert.equal(found.contentLanguage, "de");
      assert.equal(found.contentType, undefined);
      assert.equal(found.cacheControl, undefined);
      assert.equal(found.contentMD5, undefined);
      assert.deepEqual(found.metadata, { kept: "yes" });
      await blob.setHTTPHeaders({});
      assert.equal((await blob.getProperties()).contentLanguage, undefined);
    });

    test("an MD5 that the service does not compute is stored as sent, whatever its length", async () => {
      const blobContentMD5 = Buffer.from([1, 2, 3, 4]);
      const blobHTTPHeaders = { blobContentMD5 };
      const { name } = newBlob();
      const block = container.getBlockBlobClient(name);
      for (const write of [
        () => block.commitBlockList([], { blobHTTPHeaders }),
        () => block.setHTTPHeaders(blobHTTPHeaders),
        () => container.getPageBlobClient(name).create(512, { blobHTTPHeaders }),
        () => container.getAppendBlobClient(name).create({ blobHTTPHeaders }),
      ]) {
        await write();
        assert.deepEqual((await block.getProperties()).contentMD5, blobContentMD5);
      }
    });

    test("a deleted blob is gone, and a new one of its name inherits nothing", async () => {
      const blob = newBlob();
      const first = await blob.upload("x", 1, { metadata: { old: "yes" } });
      await blob.delete();
      await refused(blob.download(), 404, "BlobNotFound");
      await refused(blob.getProperties(), 404, "BlobNotFound");
      await refused(blob.delete(), 404, "BlobNotFound");
      const second = await blob.upload("y", 1);
      assert.notEqual(second.etag, first.etag);
      assert.deepEqual((await blob.getProperties()).metadata, {});
    });

    test("deleting only the snapshots of a blob that has none finds nothing", async () => {
      const blob = await newBlobOf("x");
      await refused(blob.delete({ deleteSnapshots: "only" }), 404, "BlobNotFound");
      assert.equal(await blob.exists(), true);
      await blob.delete({ deleteSnapshots: "include" });
      assert.equal(await blob.exists(), false);
    });

    test("overwriting replaces everything but the time of creation", async () => {
      const blob = newBlob();
      await blob.upload("old", 3, {
        metadata: { a: "1" },
        blobHTTPHeaders: { blobContentLanguage: "en" },
      });
      const before = await blob.getProperties();
      server.clock.advance(5_000);
      await blob.upload("newer", 5);
      const found = await blob.getProperties();
      assert.deepEqual(found.metadata, {});
      assert.equal(found.contentLanguage, undefined);
      assert.deepEqual(found.createdOn, before.createdOn);
      assert.equal(found.lastModified?.getTime(), (before.lastModified?.getTime() ?? 0) + 5_000);
      assert.equal(await bodyOf(blob), "newer");
    });

    test("names are preserved as sent", async () => {
      const names = [
        "a/b/c",
        "a//b",
        "with space",
        "ünïcødé/😀",
        "100%",
        "q?x=1&y#z",
        "dir/",
        "..x",
        "+",
      ];
      for (const name of names) {
        const blob = container.getBlockBlobClient(name);
        await blob.upload(name, Buffer.byteLength(name));
        assert.equal(await bodyOf(blob), name);
      }
    });

    test("names that are too long or contain control characters are refused", async () => {
      const put = (name: string) => container.getBlockBlobClient(name).upload("x", 1);
      await put("x".repeat(1_024));
      await refused(put("x".repeat(1_025)), 400, "InvalidUri");
      await refused(put("a/".repeat(300)), 400, "InvalidUri");
      await refused(put("a\u0007b"), 400, "InvalidResourceName");
      await refused(container.getBlobClient("x".repeat(3_000)).download(), 400, "InvalidUri");
    });

    test("an upload to a missing container is refused", async () => {
      const blob = server.client().getContainerClient("missing").getBlockBlobClient("x");
      await refused(blob.upload("x", 1), 404, "ContainerNotFound");
      await refused(blob.download(), 404, "ContainerNotFound");
    });

    test("unsupported features are refused by name", async () => {
      const blob = await newBlobOf("x");
      const encryptionScope = "scope";
      await refused(blob.upload("x", 1, { encryptionScope }), 400, "UnsupportedHeader");
      const legalHold = true;
      await refused(blob.upload("x", 1, { legalHold }), 400, "UnsupportedHeader");
      const snapshot = blob.withSnapshot("2026-11-16T00:17:23.1234567Z");
      await refused(snapshot.download(), 404, "BlobNotFound");
      await refused(blob.withSnapshot("x").download(), 400, "InvalidQueryParameterValue");
    });
  });
}

function md5(text: string): Buffer {
  return createHash("md5").update(text).digest();
}

async function bodyOf(blob: BlockBlobClient): Promise<string> {
  return (await blob.downloadToBuffer()).toString();
}

/** The client sends these digests, though its types omit them. */
type WithDigests = BlockBlobUploadOptions & {
  transactionalContentMD5?: Uint8Array;
  transactionalContentCrc64?: Uint8Array;
};
