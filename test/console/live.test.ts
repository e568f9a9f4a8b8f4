import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { Lab } from "lazuli/lab";
import { MIB } from "../../src/base/limits.ts";
import { TestSource } from "../sdk/test-source.ts";
import { skipWithoutBrowser, waitUntil } from "./browser.ts";
import { browserOfFile, type ConsoleServer, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

function blobsOf({ connectionString }: ConsoleServer) {
  return BlobServiceClient.fromConnectionString(connectionString, {
    retryOptions: { maxTries: 1 },
  });
}

test("holders are filtered by kind and name, and sorted by the time that is left", {
  skip,
}, async (t) => {
  const server = await startedConsole(t, { lab: true });
  // The clock stands, so that no lease ends while a busy machine is slow.
  await new Lab(server).freeze();
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  for (const [name, seconds] of [
    ["a", -1],
    ["b", 60],
    ["c", 30],
  ] as const) {
    await container.uploadBlockBlob(name, name, 1);
    await container.getBlobClient(name).getBlobLeaseClient().acquireLease(seconds);
  }
  const service = QueueServiceClient.fromConnectionString(server.connectionString);
  const queue = service.getQueueClient("work");
  await queue.create();
  await queue.sendMessage("later", { visibilityTimeout: 3_600 });
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Who holds what" }).click();
  const names = page.getByRole("region", { name: "Holders" }).locator("tbody td:first-child");
  const isShown = (...wanted: string[]) =>
    waitUntil(
      page,
      `JSON.stringify([...document.querySelectorAll("tbody td:first-child")].map((one) => one.textContent)) === ${JSON.stringify(JSON.stringify(wanted))}`,
    );
  await isShown("box/a", "box/b", "box/c", "work");
  const row = (name: string) => page.getByRole("row").filter({ hasText: name });
  await row("box/a").getByText("until released").waitFor();
  await row("box/b")
    .getByText(/^(1 min|\d+ s).* left$/)
    .waitFor();
  await page.getByLabel("Show").selectOption("lease");
  await page.getByLabel("Sort by").selectOption("time");
  await isShown("box/c", "box/b", "box/a");
  await page.getByLabel("Filter by name").fill("BOX/B");
  await isShown("box/b");
  await page.getByLabel("Filter by name").fill("nothing");
  await page.getByText("Nothing fits the filter.").waitFor();
  assert.equal(await names.count(), 0);
  assert.deepEqual(errors, []);
});

test("a copy that runs appears with its progress, and can be aborted", { skip }, async (t) => {
  const elsewhere = await TestSource.start();
  t.after(() => elsewhere.close());
  elsewhere.bytes = Buffer.alloc(10 * MIB, "lazuli");
  elsewhere.hold(5 * MIB);
  const server = await startedConsole(t, {
    config: { copySources: { origins: [elsewhere.origin] } },
  });
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  const blob = container.getBlobClient("copied");
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Who holds what" }).click();
  await blob.beginCopyFromURL(`${elsewhere.origin}/object`);
  const row = page.getByRole("row").filter({ hasText: "box/copied" });
  await row.getByText("copy to a blob").waitFor();
  await row.getByText(`${elsewhere.origin}/object`).waitFor();
  await row.getByText(/ of 10 MiB$/).waitFor();
  await row.getByRole("button", { name: "Abort copy" }).click();
  await page.getByText("The copy stops. Its target stays, with no bytes.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Abort copy" }).click();
  await row.waitFor({ state: "detached" });
  const { contentLength, copyStatus } = await blob.getProperties();
  assert.deepEqual([copyStatus, contentLength], ["aborted", 0]);
  assert.deepEqual(errors, []);
});

test("live requests stop at Pause, go on, are cleared and filtered", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Live requests" }).click();
  await page.getByText("No requests since").waitFor();
  await container.create();
  const row = (text: string) => page.getByRole("row").filter({ hasText: text });
  await row("CreateContainer").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Go on" }).waitFor();
  // A second listener gets each event after the page has it.
  const came = page.evaluate(`new Promise((resolve) => {
    const source = new EventSource("/api/events?of=requests");
    source.addEventListener("open", () => { window.isListening = true; });
    source.addEventListener("requests", ({ data }) => {
      if (!data.includes("while-paused")) return;
      source.close();
      requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
    });
  })`);
  await waitUntil(page, "window.isListening");
  await container.uploadBlockBlob("while-paused", "", 0);
  await came;
  assert.equal(await row("while-paused").count(), 0);
  await page.getByRole("button", { name: "Go on" }).click();
  // Nothing is missing afterwards.
  await row("while-paused").waitFor();
  await container.uploadBlockBlob("after", "", 0);
  await row("box/after").waitFor();
  await assert.rejects(container.getBlobClient("none").downloadToBuffer());
  await row("BlobNotFound").waitFor();
  await page.getByLabel("Show").selectOption("errors");
  await row("box/after").waitFor({ state: "detached" });
  await page.getByLabel("Show").selectOption("writes");
  await row("BlobNotFound").waitFor({ state: "detached" });
  await row("box/after").waitFor();
  await page.getByLabel("Filter by operation, path, code or address").fill("createcont");
  await row("box/after").waitFor({ state: "detached" });
  await row("CreateContainer").waitFor();
  await page.getByLabel("Filter by operation, path, code or address").fill("");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("No requests since").waitFor();
  await container.uploadBlockBlob("later", "", 0);
  await row("box/later").waitFor();
  assert.equal(await row("box/after").count(), 0);
  assert.deepEqual(errors, []);
});

test("there is a plot of each figure, with percentiles and conflicts by kind", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Plots" }).click();
  const plot = (name: string) => page.getByRole("region", { name, exact: true });
  for (const name of ["Bytes per second", "Connections", "Messages in queues", "Space"]) {
    await plot(name).locator("canvas").waitFor();
  }
  await plot("Checkpoints").waitFor();
  await plot("Time of requests").getByText("99 %").waitFor();
  const { etag } = await container.uploadBlockBlob("a", "1", 1).then(({ response }) => response);
  await container.uploadBlockBlob("a", "2", 1);
  const late = container.getBlockBlobClient("a");
  await assert.rejects(late.upload("3", 1, { conditions: { ifMatch: etag ?? "" } }));
  await plot("Conflicts per second, by kind").locator("canvas").waitFor();
  await plot("Errors per second, by status").getByText("412").waitFor();
  assert.deepEqual(errors, []);
});

test("pages, rows and dialogs are reached and left by keys alone", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByText("Connection string", { exact: true }).waitFor();
  /** Presses Tab until what has the focus is called this. */
  const tabTo = async (name: string) => {
    const focused = "document.activeElement?.textContent ?? ''";
    for (let at = 0; at < 60; at++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate<string>(focused)) === name) return;
    }
    assert.fail(`no key leads to ${name}`);
  };
  await tabTo("Browse");
  const outline = await page.evaluate<string>(
    "getComputedStyle(document.activeElement).outlineStyle",
  );
  assert.notEqual(outline, "none", "the focus can be seen");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "box", exact: true }).waitFor();
  await tabTo("Delete box");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Delete container box" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await tabTo("Delete box").catch(() => {});
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await tabTo("Delete");
  await page.keyboard.press("Enter");
  await page.getByText("There is no container yet").waitFor();
  assert.equal(await container.exists(), false);
  assert.deepEqual(errors, []);
});
