import assert from "node:assert/strict";
import { test } from "node:test";
import azure from "azure-storage";
import { startFileServer } from "../sdk/file-server.ts";
import { forThisFile } from "../sdk/server.ts";
import { answerOf, hostsOf, refusedLegacy } from "./legacy-answer.ts";

const server = await forThisFile(startFileServer());
const files = azure.createFileService(server.account, server.key, hostsOf(server.url));
let count = 0;

async function makeShare(options: object = {}): Promise<string> {
  const name = `legacy-${++count}`;
  await answerOf(files, "createShare", name, options);
  return name;
}

function putText(share: string, directory: string, file: string, text: string): Promise<unknown> {
  return answerOf(files, "createFileFromText", share, directory, file, text);
}

test("shares are created, listed, described, measured and deleted", async () => {
  const name = await makeShare({ metadata: { a: "b" }, quota: 7 });
  const list = await answerOf<azure.FileService.ListSharesResult>(
    ...([files, "listSharesSegmentedWithPrefix", name, null, { include: "metadata" }] as const),
  );
  assert.deepEqual(
    list.entries.map(({ name, metadata }) => [name, metadata]),
    [[name, { a: "b" }]],
  );
  const found = await answerOf<azure.FileService.ShareResult>(files, "getShareProperties", name);
  assert.deepEqual([found.metadata, Number(found.quota)], [{ a: "b" }, 7]);
  await putText(name, "", "file", "hello");
  const stats = await answerOf<{ shareStats: { shareUsage: number } }>(
    files,
    "getShareStats",
    name,
  );
  assert.equal(Number(stats.shareStats.shareUsage), 1, "in whole gibibytes");
  await answerOf(files, "deleteShare", name, {});
  assert.equal(await answerOf(files, "deleteShareIfExists", name), false);
});

test("a text is put, read, described, listed, copied and deleted", async () => {
  const share = await makeShare();
  await answerOf(files, "createDirectory", share, "dir", {});
  await putText(share, "dir", "file", "hello");
  assert.equal(await answerOf(files, "getFileToText", share, "dir", "file"), "hello");
  const found = await answerOf<azure.FileService.FileResult>(
    ...([files, "getFileProperties", share, "dir", "file"] as const),
  );
  assert.equal(Number(found.contentLength), 5);
  assert.equal(found.serverEncrypted, "true");
  const source = `${server.url}/${share}/dir/file`;
  await answerOf(files, "startCopyFile", source, share, "dir", "copy", {});
  const list = await answerOf<azure.FileService.ListFilesAndDirectoriesResult>(
    ...([files, "listFilesAndDirectoriesSegmented", share, "dir", null, {}] as const),
  );
  assert.deepEqual(
    list.entries.files.map(({ name }) => name),
    ["copy", "file"],
  );
  await answerOf(files, "deleteFile", share, "dir", "file", {});
  const again = answerOf(files, "getFileToText", share, "dir", "file");
  await refusedLegacy(again, 404, "ResourceNotFound");
});

test("ranges are written, listed and cleared", async () => {
  const share = await makeShare();
  await answerOf(files, "createFile", share, "", "ranges", 4_096, {});
  const on = (method: string, ...sent: unknown[]) => answerOf(files, method, share, "", ...sent);
  await on("clearRange", "ranges", 0, 511, {});
  await putText(share, "", "text", "hello");
  assert.deepEqual(await on("listRanges", "text", {}), [{ start: 0, end: 4 }]);
  assert.deepEqual(await on("listRanges", "ranges", {}), []);
});
