import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient, ShareFileClient } from "@azure/storage-file-share";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

let server: FileServer;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function newFile(bytes: number): Promise<{ share: ShareClient; file: ShareFileClient }> {
  const share = await server.newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(bytes);
  return { share, file };
}

const SECTOR = 512;

test("a clear that ends within a sector leaves the rest of it as a range, even if never written", async () => {
  const { share, file } = await newFile(SECTOR + 1);
  await file.uploadRange("HelloWorld", 0, 10);
  await file.clearRange(0, SECTOR + 1);
  const { snapshot = "" } = await share.createSnapshot();
  await file.uploadRange("Hello", 0, 5);
  const { rangeList } = await file.withShareSnapshot(snapshot).getRangeList();
  assert.deepEqual(rangeList, [{ start: SECTOR, end: SECTOR }]);
});

test("a clear that begins within a sector leaves the start of it as a range", async () => {
  const { file } = await newFile(4 * SECTOR);
  await file.clearRange(SECTOR - 12, 2 * SECTOR + 12);
  const { rangeList } = await file.getRangeList();
  assert.deepEqual(rangeList, [{ start: SECTOR - 12, end: SECTOR - 1 }]);
});

test("changes since a snapshot are listed in whole sectors", async () => {
  const { share, file } = await newFile(4 * SECTOR + 1);
  await file.uploadRange("Hello", 0, 5);
  const { snapshot: first = "" } = await share.createSnapshot();
  await file.clearRange(0, 2 * SECTOR);
  await file.uploadRange("World", 2 * SECTOR - 1, 5);
  const { snapshot: second = "" } = await share.createSnapshot();
  await file.uploadRange("!", 4 * SECTOR, 1);

  const between = await file.withShareSnapshot(second).getRangeListDiff(first);
  assert.deepEqual(between.clearRanges, [{ start: 0, end: SECTOR - 1 }]);
  assert.deepEqual(between.ranges, [{ start: SECTOR, end: 3 * SECTOR - 1 }]);
  const sinceSecond = await file.getRangeListDiff(second);
  // The last sector ends with the file.
  assert.deepEqual(sinceSecond.ranges, [{ start: 4 * SECTOR, end: 4 * SECTOR }]);
  const part = await file.getRangeListDiff(first, {
    range: { offset: 2 * SECTOR + 100, count: 10 },
  });
  assert.deepEqual(part.ranges, [{ start: 2 * SECTOR + 100, end: 2 * SECTOR + 109 }]);
});

test("a partly cleared sector is listed as written, so that its rest is read again", async () => {
  const { share, file } = await newFile(4 * SECTOR);
  await file.uploadRange("x".repeat(4 * SECTOR), 0, 4 * SECTOR);
  const { snapshot = "" } = await share.createSnapshot();
  await file.resize(SECTOR + 100);
  await file.resize(4 * SECTOR);
  const { ranges, clearRanges } = await file.getRangeListDiff(snapshot);
  assert.deepEqual(ranges, [{ start: SECTOR, end: 2 * SECTOR - 1 }]);
  assert.deepEqual(clearRanges, [{ start: 2 * SECTOR, end: 4 * SECTOR - 1 }]);
});

test("range lists are paged since version 2026-10-06, and whole before", async () => {
  const { share, file } = await newFile(16 * SECTOR);
  const { snapshot = "" } = await share.createSnapshot();
  for (const at of [0, 4, 8]) await file.uploadRange("hello", at * SECTOR, 5);
  await file.clearRange(12 * SECTOR, SECTOR);
  const page = async (query: string, version = "2026-10-06") => {
    const path = `/${share.name}/file?comp=rangelist&${query}`;
    const { status, text, code } = await rawRequest(server, { path, version });
    if (status !== 200) return { code, starts: [], next: "" };
    const starts = [...text.matchAll(/<Start>(\d+)</g)].map(([, start]) => Number(start) / SECTOR);
    return { code, starts, next: /<NextMarker>(.+)<\/NextMarker>/.exec(text)?.[1] ?? "" };
  };
  const first = await page("maxresults=2");
  assert.deepEqual(first.starts, [0, 4]);
  assert.notEqual(first.next, "");
  const second = await page(`maxresults=2&marker=${first.next}`);
  assert.deepEqual([second.starts, second.next], [[8], ""]);
  assert.deepEqual((await page("")).starts, [0, 4, 8]);

  const diff = `prevsharesnapshot=${encodeURIComponent(snapshot)}&maxresults=3`;
  const changed = await page(diff);
  assert.deepEqual(changed.starts, [0, 4, 8]);
  assert.deepEqual((await page(`${diff}&marker=${changed.next}`)).starts, [12]);

  assert.equal((await page("maxresults=0")).code, "OutOfRangeQueryParameterValue");
  assert.equal((await page("marker=none")).code, "InvalidQueryParameterValue");
  const older = await page("maxresults=2&marker=none", "2026-04-06");
  assert.deepEqual([older.starts, older.next], [[0, 4, 8], ""]);
});

test("a list of changes since a snapshot continues where its page ended, by sector", async () => {
  const { share, file } = await newFile(8 * SECTOR);
  const { snapshot = "" } = await share.createSnapshot();
  // More changes than fit a page, all in one sector.
  for (let at = 0; at < 10; at++) await file.uploadRange("x", 2 * SECTOR + 2 * at, 1);
  await file.uploadRange("x", 6 * SECTOR, 1);
  const query = `comp=rangelist&prevsharesnapshot=${encodeURIComponent(snapshot)}&maxresults=1`;
  const pages: string[][] = [];
  for (let marker: string | undefined = ""; marker !== undefined; ) {
    const path: string = `/${share.name}/file?${query}&marker=${marker}`;
    const { text } = await rawRequest(server, { path, version: "2026-10-06" });
    const found = [...text.matchAll(/<Start>(\d+)<.*?<End>(\d+)</g)];
    pages.push(found.map(([, start, end]) => `${start}-${end}`));
    marker = /<NextMarker>(.+)<\/NextMarker>/.exec(text)?.[1];
  }
  assert.deepEqual(pages, [["1024-1535"], ["3072-3583"]]);
});

test("changes since a snapshot newer than the listed one are refused", async () => {
  const { share, file } = await newFile(SECTOR);
  const { snapshot: first = "" } = await share.createSnapshot();
  const { snapshot: second = "" } = await share.createSnapshot();
  const older = file.withShareSnapshot(first);
  await refused(older.getRangeListDiff(second), 400, "InvalidQueryParameterValue");
});
