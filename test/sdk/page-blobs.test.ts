import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { ContainerClient, PageBlobClient } from "@azure/storage-blob";
import { key, keyAfter, SPACE } from "../../src/base/keys.ts";
import { MIB, TIB } from "../../src/base/limits.ts";
import { crc64 } from "../../src/machine/crc64.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";
import { sweep } from "./sweep.ts";

const PAGE = 512;

for (const engine of ["memory", "embedded"] as const) {
  describe(`page blobs on the ${engine} engine`, () => {
    let server: TestServer;
    let container: ContainerClient;
    let blobs = 0;

    before(async () => {
      server = await startServer({ engine });
      container = server.client().getContainerClient("pages");
      await container.create();
    });

    after(async () => {
      await server.close();
      assert.deepEqual(server.failures, []);
    });

    async function newBlob(size = 8 * PAGE): Promise<PageBlobClient> {
      const blob = container.getPageBlobClient(`blob-${blobs++}`);
      await blob.create(size);
      return blob;
    }

    /** Returns the first and last byte of each range; the client's count is their difference. */
    async function rangesOf(blob: PageBlobClient, ...range: number[]): Promise<number[][]> {
      const { pageRange = [] } = await blob.getPageRanges(...range);
      return pageRange.map(({ offset, count }) => [offset, offset + (count ?? 0)]);
    }

    function ask(
      blob: PageBlobClient,
      query: string,
      headers: Record<string, string> = {},
      body?: string,
    ): Promise<RawAnswer> {
      return rawRequest(server, {
        method: "PUT",
        path: `/${container.containerName}/${blob.name}${query === "" ? "" : `?${query}`}`,
        headers,
        ...(body !== undefined && { body }),
      });
    }

    test("a new blob is all zeroes, with the requested size and sequence number", async () => {
      const blob = container.getPageBlobClient("new");
      await blob.create(4 * PAGE, {
        blobSequenceNumber: 7,
        blobHTTPHeaders: { blobContentType: "application/x-disk" },
        metadata: { colour: "blue" },
      });
      const found = await blob.getProperties();
      assert.deepEqual(
        [found.blobType, found.contentLength, found.blobSequenceNumber, found.contentType],
        ["PageBlob", 4 * PAGE, 7, "application/x-disk"],
      );
      assert.deepEqual(found.metadata, { colour: "blue" });
      assert.ok((await blob.downloadToBuffer()).equals(Buffer.alloc(4 * PAGE)));
      assert.deepEqual(await rangesOf(blob), []);
      for await (const item of container.listBlobsFlat({ prefix: "new" })) {
        assert.equal(item.properties.blobType, "PageBlob");
        assert.equal(item.properties.blobSequenceNumber, 7);
        assert.equal(item.properties.contentLength, 4 * PAGE);
      }
    });

    test("pages are written, overwritten and cleared, and only they change", async () => {
      const blob = await newBlob();
      const expected = Buffer.alloc(8 * PAGE);
      const write = async (at: number, pages: number, fill: number) => {
        await blob.uploadPages(Buffer.alloc(pages * PAGE, fill), at * PAGE, pages * PAGE);
        expected.fill(fill, at * PAGE, (at + pages) * PAGE);
      };
      await write(1, 4, 1);
      await write(2, 1, 2);
      await write(6, 2, 3);
      await blob.clearPages(4 * PAGE, 3 * PAGE);
      expected.fill(0, 4 * PAGE, 7 * PAGE);
      assert.ok((await blob.downloadToBuffer()).equals(expected));
      assert.deepEqual(await rangesOf(blob), [
        [PAGE, 4 * PAGE - 1],
        [7 * PAGE, 8 * PAGE - 1],
      ]);
      const part = await blob.downloadToBuffer(700, 1_000);
      assert.ok(part.equals(expected.subarray(700, 1_700)));
    });

    test("a write returns the new version, its checksum and the sequence number", async () => {
      const blob = await newBlob();
      await blob.updateSequenceNumber("update", 5);
      const body = Buffer.alloc(PAGE, 1);
      const done = await blob.uploadPages(body, 0, PAGE);
      const found = await blob.getProperties();
      assert.deepEqual([done.etag, done.lastModified], [found.etag, found.lastModified]);
      assert.equal(done.blobSequenceNumber, 5);
      assert.deepEqual(Buffer.from(done.xMsContentCrc64 as Uint8Array), crc64(body));
      const cleared = await blob.clearPages(0, PAGE);
      assert.notEqual(cleared.etag, done.etag);
      assert.equal(cleared.blobSequenceNumber, 5);
    });

    test("large writes, ranges with checksums and a copy of a whole disk round-trip", async () => {
      const blob = await newBlob(12 * MIB);
      const disk = Buffer.alloc(12 * MIB);
      for (const [at, length] of [
        [0, 4 * MIB],
        [2 * MIB, 4 * MIB],
        [9 * MIB + PAGE, 20 * PAGE],
      ] as const) {
        const bytes = Buffer.alloc(length, at / PAGE + 1);
        await blob.uploadPages(bytes, at, length);
        bytes.copy(disk, at);
      }
      assert.ok((await blob.downloadToBuffer()).equals(disk));
      const answer = await blob.download(MIB + 5, 2 * MIB, { rangeGetContentMD5: true });
      const part = disk.subarray(MIB + 5, 3 * MIB + 5);
      assert.deepEqual(
        Buffer.from(answer.contentMD5 as Uint8Array),
        createHash("md5").update(part).digest(),
      );
    });

    test("a blob can have eight tebibytes, and its last page can be written", async () => {
      const blob = await newBlob(8 * TIB);
      await blob.uploadPages(Buffer.alloc(PAGE, 1), 8 * TIB - PAGE, PAGE);
      assert.equal((await blob.getProperties()).contentLength, 8 * TIB);
      assert.deepEqual(await rangesOf(blob), [[8 * TIB - PAGE, 8 * TIB - 1]]);
      const end = await blob.downloadToBuffer(8 * TIB - 2 * PAGE, 2 * PAGE);
      assert.ok(end.equals(Buffer.concat([Buffer.alloc(PAGE), Buffer.alloc(PAGE, 1)])));
      await blob.clearPages(0, 8 * TIB);
      assert.deepEqual(await rangesOf(blob), []);
      const large = container.getPageBlobClient("too-large");
      await refused(large.create(8 * TIB + PAGE), 400, "InvalidHeaderValue");
    });

    test("truncated pages are gone, even if the blob grows again", async () => {
      const blob = await newBlob(4 * PAGE);
      await blob.uploadPages(Buffer.alloc(4 * PAGE, 1), 0, 4 * PAGE);
      await blob.setHTTPHeaders({ blobContentType: "text/plain" });
      await blob.resize(PAGE);
      assert.equal((await blob.getProperties()).contentLength, PAGE);
      await refused(blob.uploadPages(Buffer.alloc(PAGE), PAGE, PAGE), 416, "InvalidPageRange");
      const { etag } = await blob.resize(3 * PAGE);
      const found = await blob.getProperties();
      assert.deepEqual([found.etag, found.contentType], [etag, "text/plain"]);
      const expected = Buffer.concat([Buffer.alloc(PAGE, 1), Buffer.alloc(2 * PAGE)]);
      assert.ok((await blob.downloadToBuffer()).equals(expected));
      await blob.resize(0);
      assert.deepEqual(await rangesOf(blob), []);
    });

    test("the sequence number is set, raised and incremented, and nothing else changes", async () => {
      const blob = await newBlob();
      await blob.setHTTPHeaders({ blobContentLanguage: "en" });
      const steps = [
        ["update", 10, 10],
        ["max", 5, 10],
        ["max", 15, 15],
        ["update", 3, 3],
        ["increment", undefined, 4],
      ] as const;
      for (const [action, number, expected] of steps) {
        const done = await blob.updateSequenceNumber(action, number);
        assert.equal(done.blobSequenceNumber, expected);
        assert.equal((await blob.getProperties()).etag, done.etag);
      }
      assert.equal((await blob.getProperties()).contentLanguage, "en");
      const action = (value: string, number?: string) =>
        ask(blob, "comp=properties", {
          "x-ms-sequence-number-action": value,
          ...(number !== undefined && { "x-ms-blob-sequence-number": number }),
        });
      assert.equal((await action("update", "9223372036854775807")).status, 200);
      assert.equal((await action("increment")).code, "SequenceNumberIncrementTooLarge");
      assert.equal((await action("increment")).status, 409);
      const number = (await blob.getProperties())._response.headers.get(
        "x-ms-blob-sequence-number",
      );
      assert.equal(number, "9223372036854775807");
    });

    test("a write heeds its conditions on the sequence number", async () => {
      const blob = await newBlob();
      await blob.updateSequenceNumber("update", 5);
      const write = (conditions: object) =>
        blob.uploadPages(Buffer.alloc(PAGE, 1), 0, PAGE, { conditions });
      const clear = (conditions: object) => blob.clearPages(0, PAGE, { conditions });
      for (const act of [write, clear]) {
        for (const met of [
          { ifSequenceNumberLessThanOrEqualTo: 5 },
          { ifSequenceNumberLessThan: 6 },
          { ifSequenceNumberEqualTo: 5 },
        ]) {
          await act(met);
        }
        for (const unmet of [
          { ifSequenceNumberLessThanOrEqualTo: 4 },
          { ifSequenceNumberLessThan: 5 },
          { ifSequenceNumberEqualTo: 6 },
        ]) {
          await refused(act(unmet), 412, "SequenceNumberConditionNotMet");
        }
      }
    });

    test("ranges are listed within a range, and in pages", async () => {
      const blob = await newBlob(100 * PAGE);
      for (const at of [0, 2, 3, 10, 50]) {
        await blob.uploadPages(Buffer.alloc(PAGE, 1), at * PAGE, PAGE);
      }
      const all = [
        [0, PAGE - 1],
        [2 * PAGE, 4 * PAGE - 1],
        [10 * PAGE, 11 * PAGE - 1],
        [50 * PAGE, 51 * PAGE - 1],
      ];
      assert.deepEqual(await rangesOf(blob), all);
      assert.deepEqual(await rangesOf(blob, 3 * PAGE + 5, 8 * PAGE), [
        [3 * PAGE, 4 * PAGE - 1],
        [10 * PAGE, 11 * PAGE - 1],
      ]);
      const pages: number[][] = [];
      let count = 0;
      for await (const page of blob.listPageRanges().byPage({ maxPageSize: 3 })) {
        count++;
        for (const { start, end } of page.pageRange ?? []) pages.push([start, end]);
      }
      assert.deepEqual([count, pages], [2, all]);
      await refused(blob.getPageRanges(100 * PAGE), 416, "InvalidRange");
    });

    test("versions without paging get all ranges at once", async () => {
      const blob = await newBlob(8 * PAGE);
      for (const at of [0, 2, 4]) await blob.uploadPages(Buffer.alloc(PAGE, 1), at * PAGE, PAGE);
      const path = `/${container.containerName}/${blob.name}?comp=pagelist&maxresults=1`;
      const paged = await rawRequest(server, { path });
      assert.equal(paged.text.match(/<PageRange>/g)?.length, 1);
      assert.match(paged.text, /<NextMarker>.+<\/NextMarker>/);
      const old = await rawRequest(server, { path, version: "2019-12-12" });
      assert.equal(old.text.match(/<PageRange>/g)?.length, 3);
      assert.equal(old.headers.get("x-ms-blob-content-length"), String(8 * PAGE));
    });

    test("a write with a wrong digest is refused, and nothing changes", async () => {
      const blob = await newBlob();
      const body = "x".repeat(PAGE);
      const write = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };
      const md5 = createHash("md5").update("other").digest("base64");
      const crc = crc64(Buffer.from("other")).toString("base64");
      const wrong = await ask(blob, "comp=page", { ...write, "content-md5": md5 }, body);
      assert.deepEqual([wrong.status, wrong.code], [400, "Md5Mismatch"]);
      const torn = await ask(blob, "comp=page", { ...write, "x-ms-content-crc64": crc }, body);
      assert.deepEqual([torn.status, torn.code], [400, "Crc64Mismatch"]);
      assert.deepEqual(await rangesOf(blob), []);
      const right = createHash("md5").update(body).digest("base64");
      const done = await ask(blob, "comp=page", { ...write, "content-md5": right }, body);
      assert.deepEqual([done.status, done.headers.get("content-md5")], [201, right]);
    });

    test("invalid input is refused by name", async () => {
      const blob = await newBlob();
      const body = "x".repeat(PAGE);
      const update = { "x-ms-page-write": "update" };
      const page = { ...update, "x-ms-range": "bytes=0-511" };
      const type = { "x-ms-blob-type": "PageBlob" };
      const properties = (headers: Record<string, string>) => ask(blob, "comp=properties", headers);
      const create = (headers: Record<string, string>, text?: string) =>
        ask(blob, "", { ...type, ...headers }, text);
      const write = (headers: Record<string, string>, text: string | undefined = body) =>
        ask(blob, "comp=page", headers, text);
      const length = (text: string) => ({ "x-ms-blob-content-length": text });
      const number = (text: string) => ({ "x-ms-blob-sequence-number": text });
      const action = (text: string) => ({ "x-ms-sequence-number-action": text });
      const range = (text: string) => ({ ...update, "x-ms-range": text });
      const refusals: [Promise<RawAnswer>, number, string][] = [
        [create({}), 400, "MissingRequiredHeader"],
        [create(length("100")), 400, "InvalidHeaderValue"],
        [create(length("-512")), 400, "InvalidHeaderValue"],
        [create({ ...length("512"), ...number("-1") }), 400, "InvalidHeaderValue"],
        [create({ ...length("512"), ...number("9223372036854775808") }), 400, "InvalidHeaderValue"],
        [create(length("512"), "body"), 400, "InvalidHeaderValue"],
        [write({ "x-ms-range": "bytes=0-511" }), 400, "MissingRequiredHeader"],
        [write({ ...page, "x-ms-page-write": "append" }), 400, "InvalidHeaderValue"],
        [write(update), 400, "MissingRequiredHeader"],
        [write(range("bytes=0-510")), 416, "InvalidPageRange"],
        [write(range("bytes=1-512")), 416, "InvalidPageRange"],
        [write(range("bytes=0-")), 416, "InvalidPageRange"],
        [write(range("bytes=4096-4607")), 416, "InvalidPageRange"],
        [write(range("bytes=0-1023")), 400, "InvalidHeaderValue"],
        [write({ ...page, "x-ms-page-write": "clear" }), 400, "InvalidHeaderValue"],
        [write({ ...page, "x-ms-if-sequence-number-le": "x" }), 400, "InvalidHeaderValue"],
        [properties(length("100")), 400, "InvalidHeaderValue"],
        [properties(action("double")), 400, "InvalidHeaderValue"],
        [properties(action("max")), 400, "MissingRequiredHeader"],
        [properties(number("1")), 400, "MissingRequiredHeader"],
        [properties({ ...action("increment"), ...number("1") }), 400, "InvalidHeaderValue"],
      ];
      for (const [at, [answer, status, code]] of refusals.entries()) {
        const found = await answer;
        assert.deepEqual([found.status, found.code], [status, code], `${at}: ${found.text}`);
      }
      const large = "x".repeat(4 * MIB + PAGE);
      const tooLarge = await write(range(`bytes=0-${large.length - 1}`), large);
      assert.deepEqual([tooLarge.status, tooLarge.code], [413, "RequestBodyTooLarge"]);
      assert.deepEqual(await rangesOf(blob), []);
    });

    test("versions before page blobs are refused", async () => {
      const blob = await newBlob();
      const path = `/${container.containerName}/${blob.name}`;
      const old = { version: "2009-04-14" };
      const headers = { "content-length": "0", "x-ms-copy-source": blob.url };
      for (const asked of [
        { method: "PUT", path, headers: { "x-ms-blob-type": "PageBlob", "content-length": "0" } },
        { method: "PUT", path: `${path}?comp=page`, headers: { "content-length": "0" } },
        { method: "PUT", path: `${path}?comp=page`, headers },
        { method: "PUT", path: `${path}?comp=incrementalcopy`, headers },
        { path: `${path}?comp=pagelist` },
      ]) {
        const { status, code } = await rawRequest(server, { ...asked, ...old });
        assert.deepEqual([status, code], [400, "InvalidVersionForPageBlobOperation"], asked.path);
      }
    });

    test("a comparison with a missing or foreign snapshot is refused", async () => {
      const blob = await newBlob();
      const snapshot = "2026-11-16T00:17:23.1234567Z";
      await refused(blob.getPageRangesDiff(0, 8 * PAGE, snapshot), 409, "PreviousSnapshotNotFound");
      await refused(
        blob.getPageRangesDiff(0, 8 * PAGE, "yesterday"),
        400,
        "InvalidQueryParameterValue",
      );
      await refused(blob.withSnapshot(snapshot).getPageRanges(), 404, "BlobNotFound");
      const path = `/${container.containerName}/${blob.name}?comp=pagelist`;
      const headers = { "x-ms-previous-snapshot-url": blob.url };
      assert.equal((await rawRequest(server, { path, headers })).code, "UnsupportedHeader");
      const marker = await rawRequest(server, { path: `${path}&marker=x` });
      assert.equal(marker.code, "InvalidQueryParameterValue");
      const none = await rawRequest(server, { path: `${path}&maxresults=0` });
      assert.equal(none.code, "OutOfRangeQueryParameterValue");
    });

    test("other blob types have no pages, and page blobs have no blocks", async () => {
      const page = await newBlob();
      const block = container.getBlockBlobClient(page.name);
      const append = container.getAppendBlobClient(page.name);
      const code = "InvalidBlobType";
      await refused(block.stageBlock("AAAA", "x", 1), 409, code);
      await refused(block.commitBlockList([]), 409, code);
      await refused(block.getBlockList("all"), 409, code);
      await refused(append.appendBlock("x", 1), 409, code);
      await refused(append.seal(), 409, code);
      await block.upload("block", 5);
      await refused(page.uploadPages(Buffer.alloc(PAGE), 0, PAGE), 409, code);
      await refused(page.clearPages(0, PAGE), 409, code);
      await refused(page.getPageRanges(), 409, code);
      await refused(page.resize(PAGE), 409, code);
      await refused(page.updateSequenceNumber("increment"), 409, code);
      assert.equal((await block.downloadToBuffer()).toString(), "block");
      const missing = container.getPageBlobClient("missing");
      await refused(missing.uploadPages(Buffer.alloc(PAGE), 0, PAGE), 404, "BlobNotFound");
      await refused(missing.getPageRanges(), 404, "BlobNotFound");
      await refused(missing.resize(PAGE), 404, "BlobNotFound");
    });

    test("replacing or deleting a page blob frees its space", async () => {
      const count = () => recordsOfMaps(server);
      await sweep(server);
      const before = await count();
      const blob = await newBlob(4 * MIB);
      for (let at = 0; at < 20; at++) {
        await blob.uploadPages(Buffer.alloc(40 * PAGE, 1), at * 50 * PAGE, 40 * PAGE);
      }
      await blob.create(PAGE);
      await blob.uploadPages(Buffer.alloc(PAGE, 1), 0, PAGE);
      await blob.delete();
      await sweep(server);
      assert.ok((await count()) <= before);
    });
  });
}

/** Counts the records of stored bytes. */
function recordsOfMaps({ context }: TestServer): Promise<number> {
  const until = keyAfter(key(SPACE.doomedRangeLayer));
  return context.store.read(
    (view) => view.range(key(SPACE.content), until, { limit: 100_000 }).length,
  );
}
