import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { KIB } from "../../src/base/limits.ts";
import { assertAccessible, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

test("space is shown as tiles and as a table, by size, and a tile leads to what it shows", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const { connectionString } = server;
  const blobs = BlobServiceClient.fromConnectionString(connectionString);
  const photos = blobs.getContainerClient("photos");
  await photos.create();
  for (const name of ["a", "b"]) {
    await photos.getBlockBlobClient(name).uploadData(Buffer.alloc(300 * KIB));
  }
  await photos.getBlobClient("a").createSnapshot();
  await blobs.getContainerClient("empty").create();
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("docs");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("plan");
  await file.create(100 * KIB);
  await file.uploadRange(Buffer.alloc(100 * KIB), 0, 100 * KIB);
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("work");
  await queue.create();
  await queue.sendMessage("x".repeat(20_000));
  const tiny = blobs.getContainerClient("tiny");
  await tiny.create();
  await tiny.uploadBlockBlob("dot", ".", 1);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Space", exact: true }).click();
  const tiles = page.getByRole("list", { name: /^Space by container/ }).getByRole("link");
  await tiles.first().waitFor();
  const names = await tiles.allTextContents();
  assert.equal(names.length, 3);
  assert.match(names[0] ?? "", /^photos container, 900 KiB, \d+\.\d %$/);
  assert.match(names[1] ?? "", /^docs share, 100 KiB, \d+\.\d %$/);
  assert.match(names[2] ?? "", /^work queue, /);
  // Too small to be seen, but there.
  await page.locator(".tile.others").waitFor({ state: "attached" });
  const table = page.getByRole("region", { name: "Space as a table" });
  await table.getByRole("row").filter({ hasText: "photos" }).getByText("snapshots").waitFor();
  await table.getByText("/tiny").waitFor();
  assert.equal(await table.getByText("/empty").count(), 0);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await assertAccessible(page);
  }
  await page.setViewportSize({ width: 400, height: 800 });
  assert.ok((await page.evaluate<number>("document.documentElement.scrollWidth")) <= 400);
  await page.setViewportSize({ width: 1280, height: 900 });
  await blobs
    .getContainerClient("empty")
    .uploadBlockBlob("x", Buffer.alloc(2000 * KIB), 2000 * KIB);
  await page.getByRole("button", { name: "Measure again" }).click();
  await page.getByRole("link", { name: "empty container" }).waitFor();
  assert.match((await tiles.first().textContent()) ?? "", /^empty/);
  await page.getByRole("link", { name: "docs share" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "plan", exact: true }).waitFor();
  assert.deepEqual(errors, []);
});

test("an empty server says what to do", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { page } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Space", exact: true }).click();
  await page.getByText("Nothing is stored yet").waitFor();
});
