import assert from "node:assert/strict";
import { test } from "node:test";
import azure from "azure-storage";
import { startFileServer } from "../sdk/file-server.ts";
import { forThisFile } from "../sdk/server.ts";
import { hostsOf, refusedLegacy, told } from "./told.ts";

const server = await forThisFile(startFileServer());
const files = azure.createFileService(server.account, server.key, hostsOf(server.url));
let count = 0;

async function makeShare(options: object = {}): Promise<string> {
  const name = `legacy-${++count}`;
  await told(files, "createShare", name, options);
  return name;
}

function putText(share: string, directory: string, file: string, text: string): Promise<unknown> {
  return told(files, "createFileFromText", share, directory, file, text);
}

test("shares are created, listed, described, measured and deleted", async () => {
  const name = await makeShare({ metadata: { a: "b" }, quota: 7 });
  const list = await told<azure.FileService.ListSharesResult>(
    ...([files, "listSharesSegmentedWithPrefix", name, null, { include: "metadata" }] as const),
  );
  assert.deepEqual(
    list.entries.map(({ name, metadata }) => [name, metadata]),
    [[name, { a: "b" }]],
  );
  const found = await told<azure.FileService.ShareResult>(files, "getShareProperties", name);
  assert.deepEqual([found.metadata, Number(found.quota)], [{ a: "b" }, 7]);
  await putText(name, "", "file", "hello");
  const stats = await told<{ shareStats: { shareUsage: number } }>(files, "getShareStats", name);
  assert.equal(Number(stats.shareStats.shareUsage), 1, "in whole gibibytes");
  await told(files, "deleteShare", name, {});
  assert.equal(await told(files, "deleteShareIfExists", name), false);
});

test("a text is put, read, described, listed, copied and deleted", async () => {
  const share = await makeShare();
  await told(files, "createDirectory", share, "dir", {});
  await putText(share, "dir", "file", "hello");
  assert.equal(await told(files, "getFileToText", share, "dir", "file"), "hello");
  const found = await told<azure.FileService.FileResult>(
    ...([files, "getFileProperties", share, "dir", "file"] as const),
  );
  assert.equal(Number(found.contentLength), 5);
  assert.equal(found.serverEncrypted, "true");
  const source = `${server.url}/${share}/dir/file`;
  await told(files, "startCopyFile", source, share, "dir", "copy", {});
  const list = await told<azure.FileService.ListFilesAndDirectoriesResult>(
    ...([files, "listFilesAndDirectoriesSegmented", share, "dir", null, {}] as const),
  );
  assert.deepEqual(
    list.entries.files.map(({ name }) => name),
    ["copy", "file"],
  );
  await told(files, "deleteFile", share, "dir", "file", {});
  const again = told(files, "getFileToText", share, "dir", "file");
  await refusedLegacy(again, 404, "ResourceNotFound");
});

test("ranges are written, listed and cleared", async () => {
  const share = await makeShare();
  await told(files, "createFile", share, "", "ranges", 4_096, {});
  const on = (method: string, ...sent: unknown[]) => told(files, method, share, "", ...sent);
  await on("clearRange", "ranges", 0, 511, {});
  await putText(share, "", "text", "hello");
  assert.deepEqual(await on("listRanges", "text", {}), [{ start: 0, end: 4 }]);
  assert.deepEqual(await on("listRanges", "ranges", {}), []);
});
