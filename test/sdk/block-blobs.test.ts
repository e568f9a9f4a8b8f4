import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { crc64 } from "../../src/machine/crc64.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

for (const engine of ["memory", "embedded"] as const) {
  describe(`block blobs on the ${engine} engine`, () => {
    let server: TestServer;
    let container: ContainerClient;
    let blobs = 0;

    before(async () => {
      server = await startServer({ engine });
      container = server.client().getContainerClient("block-blobs");
      await container.create();
    });

    after(async () => {
      await server.close();
      assert.deepEqual(server.failures, []);
    });

    function newBlob(): BlockBlobClient {
      return container.getBlockBlobClient(`blob-${blobs++}`);
    }

    /** Puts a block list verbatim, for lists that the SDK cannot send. */
    function putList(blob: BlockBlobClient, body: string, headers: Record<string, string> = {}) {
      const path = `/${container.containerName}/${blob.name}?comp=blocklist`;
      return rawRequest(server, { method: "PUT", path, headers, body });
    }

    test("a blob has its blocks in the order of the list, however they were staged", async () => {
      const blob = newBlob();
      await stage(blob, "c", "three");
      await stage(blob, "a", "one");
      await stage(blob, "b", "two");
      await blob.commitBlockList([idOf("a"), idOf("b"), idOf("c")]);
      assert.equal(await textOf(blob), "onetwothree");
      assert.equal((await blob.downloadToBuffer(2, 4)).toString(), "etwo");
      assert.deepEqual(await listOf(blob), { committed: "a:3 b:3 c:5", uncommitted: "" });
    });

    test("uncommitted blocks make no blob, but can be listed", async () => {
      const blob = newBlob();
      await refused(blob.getBlockList("all"), 404, "BlobNotFound");
      await stage(blob, "b", "two");
      await stage(blob, "a", "one");
      await refused(blob.download(), 404, "BlobNotFound");
      await refused(blob.getProperties(), 404, "BlobNotFound");
      assert.equal(await blob.exists(), false);
      assert.deepEqual(await listOf(blob), { committed: "", uncommitted: "a:3 b:3" });
      const list = await blob.getBlockList("uncommitted");
      assert.deepEqual([list.etag, list.lastModified], [undefined, undefined]);
      assert.equal(list.blobContentLength, 0);
    });

    test("staging a block changes nothing about the blob", async () => {
      const blob = newBlob();
      await blob.upload("old", 3);
      const before = await blob.getProperties();
      server.clock.advance(5_000);
      await stage(blob, "a", "new");
      const found = await blob.getProperties();
      assert.deepEqual([found.etag, found.lastModified], [before.etag, before.lastModified]);
      assert.equal(await textOf(blob), "old");
      const list = await blob.getBlockList("committed");
      assert.equal(list.etag, before.etag);
      assert.equal(list.blobContentLength, 3);
    });

    test("staging a block again replaces the earlier one", async () => {
      const blob = newBlob();
      await stage(blob, "a", "old");
      await stage(blob, "a", "newer");
      assert.deepEqual(await listOf(blob), { committed: "", uncommitted: "a:5" });
      await blob.commitBlockList([idOf("a")]);
      assert.equal(await textOf(blob), "newer");
    });

    test("blocks may be used twice, taken over from the old blob, and left out", async () => {
      const blob = newBlob();
      for (const name of ["a", "b", "c"]) await stage(blob, name, name.repeat(3));
      await blob.commitBlockList([idOf("a"), idOf("b"), idOf("b"), idOf("a")]);
      assert.equal(await textOf(blob), "aaabbbbbbaaa");
      assert.deepEqual(await listOf(blob), { committed: "a:3 b:3 b:3 a:3", uncommitted: "" });
      await stage(blob, "d", "ddd");
      await blob.commitBlockList([idOf("b"), idOf("d"), idOf("b")]);
      assert.equal(await textOf(blob), "bbbdddbbb");
      await refused(blob.commitBlockList([idOf("a")]), 400, "InvalidBlockList");
      await refused(blob.commitBlockList([idOf("c")]), 400, "InvalidBlockList");
      assert.equal(await textOf(blob), "bbbdddbbb");
    });

    test("a list says where to look for each block", async () => {
      const blob = newBlob();
      await stage(blob, "a", "old");
      await stage(blob, "b", "bbb");
      await blob.commitBlockList([idOf("a"), idOf("b")]);
      const commit = (kind: string) =>
        putList(blob, `<BlockList><${kind}>${idOf("a")}</${kind}></BlockList>`);
      assert.equal((await commit("Uncommitted")).code, "InvalidBlockList");
      await stage(blob, "a", "new");
      assert.equal((await commit("Committed")).status, 201);
      assert.equal(await textOf(blob), "old");
      await stage(blob, "a", "new");
      assert.equal((await commit("Latest")).status, 201);
      assert.equal(await textOf(blob), "new");
      await stage(blob, "a", "newest");
      assert.equal((await commit("Uncommitted")).status, 201);
      assert.equal(await textOf(blob), "newest");
      assert.equal((await commit("Latest")).status, 201);
      assert.equal(await textOf(blob), "newest");
    });

    test("committing discards the blocks that were not used", async () => {
      const blob = newBlob();
      for (const name of ["a", "b", "c"]) await stage(blob, name, name);
      await blob.commitBlockList([idOf("b")]);
      assert.deepEqual(await listOf(blob), { committed: "b:1", uncommitted: "" });
    });

    test("an empty list makes an empty blob", async () => {
      const blob = newBlob();
      await stage(blob, "a", "left out");
      const done = await blob.commitBlockList([]);
      assert.equal((await blob.getProperties()).etag, done.etag);
      assert.equal(await textOf(blob), "");
      assert.deepEqual(await listOf(blob), { committed: "", uncommitted: "" });
    });

    test("putting or deleting the blob discards its uncommitted blocks", async () => {
      const blob = newBlob();
      await stage(blob, "a", "one");
      await blob.upload("whole", 5);
      assert.deepEqual(await listOf(blob), { committed: "", uncommitted: "" });
      await stage(blob, "a", "one");
      await blob.delete();
      await refused(blob.getBlockList("all"), 404, "BlobNotFound");
    });

    test("a commit sets the properties it sends and clears the others", async () => {
      const blob = newBlob();
      await blob.upload("x", 1, {
        metadata: { a: "1" },
        blobHTTPHeaders: { blobContentType: "text/plain", blobContentLanguage: "en" },
      });
      const md5 = new Uint8Array(16).fill(7);
      await blob.commitBlockList([], {
        metadata: { b: "2" },
        blobHTTPHeaders: { blobContentLanguage: "de", blobContentMD5: md5 },
      });
      const found = await blob.getProperties();
      assert.deepEqual(found.metadata, { b: "2" });
      assert.equal(found.contentLanguage, "de");
      assert.equal(found.contentType, "application/octet-stream");
      // Stored as sent: the server never has these bytes in one piece.
      assert.deepEqual(found.contentMD5, Buffer.from(md5));
    });

    test("deleting a blob that has uncommitted blocks only deletes these", async () => {
      const blob = newBlob();
      await blob.stageBlock(idOf("a"), "x", 1);
      const stale = { conditions: { ifMatch: '"0x1"' } };
      await refused(blob.delete(stale), 412, "ConditionNotMet");
      assert.equal((await blob.delete())._response.status, 202);
      await refused(blob.getBlockList("all"), 404, "BlobNotFound");
      await refused(blob.delete(), 404, "BlobNotFound");
    });

    test("block ids are Base64 of up to 64 bytes, and all have the same length", async () => {
      const blob = newBlob();
      const put = (id: string) => blob.stageBlock(id, "x", 1);
      await refused(put("not Base64!"), 400, "InvalidBlockId");
      await refused(put(Buffer.alloc(65).toString("base64")), 400, "InvalidBlockId");
      await put(Buffer.alloc(64, 1).toString("base64"));
      await refused(put(Buffer.alloc(63, 1).toString("base64")), 400, "InvalidBlobOrBlock");
      const path = `/${container.containerName}/${blob.name}?comp=block`;
      const answer = await rawRequest(server, { method: "PUT", path, body: "x" });
      assert.equal(answer.code, "MissingRequiredQueryParameter");
      // Once these are committed, new ids may have another length.
      await blob.commitBlockList([]);
      await put(idOf("a"));
    });

    test("a block has at least one byte", async () => {
      const blob = newBlob();
      await refused(blob.stageBlock(idOf("a"), "", 0), 400, "InvalidHeaderValue");
    });

    test("the response to a block has the digest that was sent, or else a CRC-64", async () => {
      const blob = newBlob();
      const md5 = createHash("md5").update("x").digest();
      const plain = await blob.stageBlock(idOf("a"), "x", 1);
      assert.deepEqual(plain.xMsContentCrc64, crc64(Buffer.from("x")));
      assert.equal(plain.contentMD5, undefined);
      const digested = await blob.stageBlock(idOf("a"), "x", 1, { transactionalContentMD5: md5 });
      assert.deepEqual(digested.contentMD5, md5);
      assert.equal(digested.xMsContentCrc64, undefined);
    });

    test("wrong digests of blocks and of lists are refused", async () => {
      const blob = newBlob();
      const wrong = new Uint8Array(16);
      await refused(
        blob.stageBlock(idOf("a"), "x", 1, { transactionalContentMD5: wrong }),
        400,
        "Md5Mismatch",
      );
      await refused(
        blob.stageBlock(idOf("a"), "x", 1, { transactionalContentCrc64: wrong.subarray(0, 8) }),
        400,
        "Crc64Mismatch",
      );
      await refused(blob.getBlockList("all"), 404, "BlobNotFound");
      const zeros = Buffer.alloc(16).toString("base64");
      const list = await putList(blob, "<BlockList/>", { "content-md5": zeros });
      assert.equal(list.code, "Md5Mismatch");
      const body = "<BlockList></BlockList>";
      const md5 = createHash("md5").update(body).digest("base64");
      const done = await putList(blob, body, { "content-md5": md5 });
      assert.equal(done.headers.get("content-md5"), md5);
      const undigested = await putList(blob, body);
      const crc = crc64(Buffer.from(body)).toString("base64");
      assert.equal(undigested.headers.get("x-ms-content-crc64"), crc);
    });

    test("malformed block lists are refused", async () => {
      const blob = newBlob();
      const refusals: [body: string, code: string][] = [
        ["", "InvalidXmlDocument"],
        ["<BlockList>", "InvalidXmlDocument"],
        ["<Blocks/>", "InvalidXmlDocument"],
        ["<BlockList><Newest>AAAA</Newest></BlockList>", "UnsupportedXmlNode"],
        ["<BlockList><constructor>AAAA</constructor></BlockList>", "UnsupportedXmlNode"],
        ["<BlockList><Latest>AAAA</Latest></BlockList>", "InvalidBlockList"],
        ["<BlockList><Latest></Latest></BlockList>", "InvalidBlockList"],
        [`<BlockList>${"<Latest>AAAA</Latest>".repeat(50_001)}</BlockList>`, "BlockListTooLong"],
      ];
      for (const [body, code] of refusals) {
        const answer = await putList(blob, body);
        assert.deepEqual([answer.status, answer.code], [400, code], body.slice(0, 60));
      }
      assert.equal(await blob.exists(), false);
    });

    test("an unknown block list type is refused", async () => {
      const blob = newBlob();
      await blob.upload("x", 1);
      const path = `/${container.containerName}/${blob.name}?comp=blocklist&blocklisttype=some`;
      const answer = await rawRequest(server, { path });
      assert.deepEqual([answer.status, answer.code], [400, "InvalidQueryParameterValue"]);
    });

    test("blocks in frames with checksums are accepted", async () => {
      const blob = newBlob();
      const bytes = Buffer.alloc(5_000_000, "lazuli");
      const done = await blob.stageBlock(idOf("a"), bytes, bytes.length, {
        contentChecksumAlgorithm: "StorageCrc64",
      });
      assert.equal(done.structuredBodyType, "XSM/1.0; properties=crc64");
      await blob.commitBlockList([idOf("a")]);
      assert.ok((await blob.downloadToBuffer()).equals(bytes));
    });

    test("a large upload in parallel blocks comes back byte for byte", async () => {
      const blob = newBlob();
      const bytes = Buffer.alloc(20_000_000);
      for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(at, at);
      await blob.uploadData(bytes, { blockSize: 1_000_000, concurrency: 8, maxSingleShotSize: 1 });
      assert.ok((await blob.downloadToBuffer()).equals(bytes));
      const { committedBlocks } = await blob.getBlockList("committed");
      assert.equal(committedBlocks?.length, 20);
    });
  });
}

function idOf(name: string): string {
  return Buffer.from(name).toString("base64");
}

async function stage(blob: BlockBlobClient, name: string, text: string): Promise<void> {
  await blob.stageBlock(idOf(name), text, Buffer.byteLength(text));
}

async function textOf(blob: BlockBlobClient): Promise<string> {
  return (await blob.downloadToBuffer()).toString();
}

/** Formats the names and sizes of the blocks as `a:1 b:2`. */
async function listOf(blob: BlockBlobClient): Promise<{ committed: string; uncommitted: string }> {
  const { committedBlocks = [], uncommittedBlocks = [] } = await blob.getBlockList("all");
  const formatted = (blocks: { name: string; size: number }[]) =>
    blocks.map(({ name, size }) => `${Buffer.from(name, "base64")}:${size}`).join(" ");
  return { committed: formatted(committedBlocks), uncommitted: formatted(uncommittedBlocks) };
}
