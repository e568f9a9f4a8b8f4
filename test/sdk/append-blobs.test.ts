import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { AppendBlobClient, ContainerClient, RestError } from "@azure/storage-blob";
import { COMMITTED_BLOCKS_MAX, MIB } from "../../src/base/limits.ts";
import { crc64 } from "../../src/machine/crc64.ts";
import { readBlob, readContainer, writeBlob } from "../../src/service/blob/records.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";
import { sweep } from "./sweep.ts";

const APPENDERS = 20;

for (const engine of ["memory", "embedded"] as const) {
  describe(`append blobs on the ${engine} engine`, () => {
    let server: TestServer;
    let container: ContainerClient;
    let blobs = 0;

    before(async () => {
      server = await startServer({ engine });
      container = server.client().getContainerClient("appends");
      await container.create();
    });

    after(async () => {
      await server.close();
      assert.deepEqual(server.failures, []);
    });

    async function newBlob(...texts: string[]): Promise<AppendBlobClient> {
      const blob = container.getAppendBlobClient(`blob-${blobs++}`);
      await blob.create();
      for (const text of texts) await blob.appendBlock(text, text.length);
      return blob;
    }

    function ask(
      blob: AppendBlobClient,
      query: string,
      headers: Record<string, string> = {},
      body?: string,
      version?: string,
    ): Promise<RawAnswer> {
      return rawRequest(server, {
        method: "PUT",
        path: `/${container.containerName}/${blob.name}${query === "" ? "" : `?${query}`}`,
        headers,
        ...(body !== undefined && { body }),
        ...(version !== undefined && { version }),
      });
    }

    test("blocks are appended in order, and each response gives the offset of its block", async () => {
      const blob = container.getAppendBlobClient("log");
      const created = await blob.create({
        blobHTTPHeaders: { blobContentType: "text/plain" },
        metadata: { colour: "blue" },
      });
      const first = await blob.appendBlock("first,", 6);
      assert.deepEqual([first.blobAppendOffset, first.blobCommittedBlockCount], ["0", 1]);
      assert.notEqual(first.etag, created.etag);
      const large = Buffer.alloc(100_000, "lazuli");
      const second = await blob.appendBlock(large, large.length);
      assert.deepEqual([second.blobAppendOffset, second.blobCommittedBlockCount], ["6", 2]);
      const found = await blob.getProperties();
      assert.equal(found.blobType, "AppendBlob");
      assert.equal(found.blobCommittedBlockCount, 2);
      assert.equal(found.contentLength, 100_006);
      assert.equal(found.contentType, "text/plain");
      assert.equal(found.etag, second.etag);
      assert.notEqual(found.isSealed, true);
      assert.deepEqual(found.metadata, { colour: "blue" });
      assert.ok(
        (await blob.downloadToBuffer()).equals(Buffer.concat([Buffer.from("first,"), large])),
      );
      assert.equal((await blob.downloadToBuffer(4, 5)).toString(), "t,laz");
    });

    test("20 concurrent appends lose and tear nothing", async () => {
      const blob = await newBlob();
      const bodies = Array.from({ length: APPENDERS * 3 }, (_, at) =>
        Buffer.alloc(at % 3 === 0 ? 40_000 : 1_000 + at, at + 1),
      );
      const done = await Promise.all(bodies.map((body) => blob.appendBlock(body, body.length)));
      const found = await blob.downloadToBuffer();
      assert.equal(
        found.length,
        bodies.reduce((sum, { length }) => sum + length, 0),
      );
      for (const [at, { blobAppendOffset }] of done.entries()) {
        const body = bodies[at] as Buffer;
        const offset = Number(blobAppendOffset);
        assert.ok(found.subarray(offset, offset + body.length).equals(body), `block ${at}`);
      }
      const counts = done.map(({ blobCommittedBlockCount }) => blobCommittedBlockCount ?? 0);
      assert.deepEqual(
        counts.toSorted((a, b) => a - b),
        bodies.map((_, at) => at + 1),
      );
      assert.equal(new Set(done.map(({ etag }) => etag)).size, bodies.length);
    });

    test("of 20 concurrent appends at one position, exactly one succeeds", async () => {
      const blob = await newBlob("old");
      const tries = await Promise.allSettled(
        Array.from({ length: APPENDERS }, () =>
          blob.appendBlock("new", 3, { conditions: { appendPosition: 3 } }),
        ),
      );
      const lost = tries.flatMap((one) =>
        one.status === "rejected" ? [(one.reason as RestError).code] : [],
      );
      const code = "AppendPositionConditionNotMet";
      assert.deepEqual(
        lost,
        Array.from({ length: APPENDERS - 1 }, () => code),
      );
      assert.equal((await blob.downloadToBuffer()).toString(), "oldnew");
    });

    test("an append heeds its conditions on position and size", async () => {
      const blob = await newBlob("0123456789");
      const at = (appendPosition: number) =>
        blob.appendBlock("x", 1, { conditions: { appendPosition } });
      await refused(at(9), 412, "AppendPositionConditionNotMet");
      await refused(at(11), 412, "AppendPositionConditionNotMet");
      await at(10);
      const upTo = (maxSize: number) => blob.appendBlock("yz", 2, { conditions: { maxSize } });
      await refused(upTo(12), 412, "MaxBlobSizeConditionNotMet");
      await upTo(13);
      assert.equal((await blob.downloadToBuffer()).toString(), "0123456789xyz");
    });

    test("a sealed blob refuses more blocks and says so", async () => {
      const blob = await newBlob("text");
      const before = await blob.getProperties();
      await refused(
        blob.seal({ conditions: { appendPosition: 3 } }),
        412,
        "AppendPositionConditionNotMet",
      );
      const done = await blob.seal({ conditions: { appendPosition: 4 } });
      assert.equal(done._response.headers.get("x-ms-blob-sealed"), "true");
      assert.notEqual(done.etag, before.etag);
      assert.equal((await blob.seal()).etag, done.etag);
      await refused(blob.appendBlock("more", 4), 409, "BlobIsSealed");
      const found = await blob.getProperties();
      assert.deepEqual([found.isSealed, found.etag], [true, done.etag]);
      assert.equal((await blob.download()).isSealed, true);
      await blob.setMetadata({ still: "possible" });
      for await (const item of container.listBlobsFlat({ prefix: blob.name })) {
        assert.equal(item.properties.blobType, "AppendBlob");
      }
      const list = await rawRequest(server, {
        path: `/${container.containerName}?restype=container&comp=list&prefix=${blob.name}`,
      });
      assert.match(list.text, /<BlobType>AppendBlob<\/BlobType><Sealed>true<\/Sealed>/);
      await blob.create();
      await blob.appendBlock("a new blob", 10);
    });

    test("a blob takes 50,000 blocks and no more", async () => {
      const blob = await newBlob("x");
      const at = { account: server.account, container: container.containerName };
      await server.context.store.transact((tx) => {
        const parent = readContainer(tx, at) ?? assert.fail();
        const record = readBlob(tx, { parent, name: blob.name }) ?? assert.fail();
        const appendedBlocks = COMMITTED_BLOCKS_MAX - 1;
        writeBlob(tx, { parent, name: blob.name }, { ...record, appendedBlocks });
      });
      assert.equal((await blob.appendBlock("y", 1)).blobCommittedBlockCount, COMMITTED_BLOCKS_MAX);
      await refused(blob.appendBlock("z", 1), 409, "BlockCountExceedsLimit");
      assert.equal((await blob.downloadToBuffer()).toString(), "xy");
    });

    test("a block with a wrong digest is refused, and nothing changes", async () => {
      const blob = await newBlob("old");
      const md5 = createHash("md5").update("right").digest("base64");
      const wrong = await ask(blob, "comp=appendblock", { "content-md5": md5 }, "wrong");
      assert.deepEqual([wrong.status, wrong.code], [400, "Md5Mismatch"]);
      const crc = { "x-ms-content-crc64": crc64(Buffer.from("right")).toString("base64") };
      const torn = await ask(blob, "comp=appendblock", crc, "wrong");
      assert.deepEqual([torn.status, torn.code], [400, "Crc64Mismatch"]);
      const both = await ask(blob, "comp=appendblock", { "content-md5": md5, ...crc }, "right");
      assert.equal(both.code, "BothCrc64AndMd5HeaderPresent");
      const right = await ask(blob, "comp=appendblock", { "content-md5": md5 }, "right");
      assert.deepEqual([right.status, right.headers.get("content-md5")], [201, md5]);
      assert.equal((await blob.downloadToBuffer()).toString(), "oldright");
    });

    test("invalid input is refused by name", async () => {
      const blob = await newBlob("old");
      const type = { "x-ms-blob-type": "AppendBlob" };
      const refusals: [Promise<RawAnswer>, number, string][] = [
        [ask(blob, "", type, "body"), 400, "InvalidHeaderValue"],
        [ask(blob, "", { ...type, "x-ms-blob-content-length": "512" }), 400, "UnsupportedHeader"],
        [ask(blob, "", type, "x", "2014-02-14"), 409, "FeatureVersionMismatch"],
        [ask(blob, "comp=appendblock", {}, ""), 400, "InvalidHeaderValue"],
        [ask(blob, "comp=appendblock", {}, "x", "2014-02-14"), 409, "FeatureVersionMismatch"],
        [
          ask(blob, "comp=appendblock", { "x-ms-blob-condition-appendpos": "-1" }, "x"),
          400,
          "InvalidHeaderValue",
        ],
        [
          ask(blob, "comp=appendblock", { "x-ms-blob-condition-maxsize": "many" }, "x"),
          400,
          "InvalidHeaderValue",
        ],
        [ask(blob, "comp=seal", {}, "x", "2014-02-14"), 409, "FeatureVersionMismatch"],
      ];
      for (const [answer, status, code] of refusals) {
        const found = await answer;
        assert.deepEqual([found.status, found.code], [status, code], found.text);
      }
      assert.equal((await blob.downloadToBuffer()).toString(), "old");
    });

    test("the largest block depends on the protocol version", async () => {
      const blob = await newBlob();
      const body = "x".repeat(4 * MIB + 1);
      const old = await ask(blob, "comp=appendblock", {}, body, "2021-12-02");
      assert.deepEqual([old.status, old.code], [413, "RequestBodyTooLarge"]);
      assert.equal((await ask(blob, "comp=appendblock", {}, body)).status, 201);
    });

    test("other blob types refuse appends, and append blobs refuse blocks and pages", async () => {
      const append = await newBlob("text");
      const block = container.getBlockBlobClient(append.name);
      const page = container.getPageBlobClient(append.name);
      const code = "InvalidBlobType";
      await refused(block.stageBlock("AAAA", "x", 1), 409, code);
      await refused(block.commitBlockList([]), 409, code);
      await refused(block.getBlockList("all"), 409, code);
      await refused(page.uploadPages(Buffer.alloc(512), 0, 512), 409, code);
      await refused(page.clearPages(0, 512), 409, code);
      await refused(page.getPageRanges(), 409, code);
      await refused(page.resize(512), 409, code);
      await refused(page.updateSequenceNumber("increment"), 409, code);
      assert.equal((await append.downloadToBuffer()).toString(), "text");
      await block.upload("block", 5);
      await refused(append.appendBlock("x", 1), 409, code);
      await refused(append.seal(), 409, code);
    });

    test("an append to a missing blob or container is refused", async () => {
      const missing = container.getAppendBlobClient("missing");
      await refused(missing.appendBlock("x", 1), 404, "BlobNotFound");
      await refused(missing.seal(), 404, "BlobNotFound");
      const elsewhere = server.client().getContainerClient("nowhere").getAppendBlobClient("blob");
      await refused(elsewhere.create(), 404, "ContainerNotFound");
      await refused(elsewhere.appendBlock("x", 1), 404, "ContainerNotFound");
    });

    test("create-if-not-exists never empties an existing blob", async () => {
      const blob = await newBlob("text");
      assert.equal((await blob.createIfNotExists()).succeeded, false);
      assert.equal((await blob.downloadToBuffer()).toString(), "text");
      await blob.create();
      assert.equal((await blob.getProperties()).contentLength, 0);
    });

    test("a reader gets the version it began with while others append and delete", async () => {
      const blob = await newBlob();
      const blocks = Array.from({ length: 700 }, (_, at) => Buffer.alloc(64, at));
      for (const block of blocks) await blob.appendBlock(block, block.length);
      const got = await blob.download();
      const parts: Buffer[] = [];
      for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) {
        if (parts.length === 0) {
          await blob.appendBlock("late", 4);
          await sweep(server);
          await blob.delete();
          await sweep(server);
        }
        parts.push(part);
      }
      assert.ok(Buffer.concat(parts).equals(Buffer.concat(blocks)));
    });
  });
}
