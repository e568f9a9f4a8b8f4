import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { odata, TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { MIB } from "../../src/base/limits.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { assertAccessible, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, type ConsoleServer, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

function tableOf({ connectionString }: ConsoleServer, name: string) {
  return TableClient.fromConnectionString(connectionString, name, {
    allowInsecureConnection: true,
  });
}

function lakeOf({ urls }: ConsoleServer, name: string) {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  return new DataLakeServiceClient(`${urls.dfs}/${ACCOUNT}`, credential).getFileSystemClient(name);
}

/** The place in the page, below the printed address, whose token signs in. */
async function openAt(page: Page, ...way: string[]) {
  await page.getByRole("link", { name: "Browse" }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(`#/browse/${ACCOUNT}/${way.join("/")}`)}`);
}

type Page = Awaited<ReturnType<typeof openPage>>["page"];

test("a filter is completed by keys: property, operator, value, joint", { skip }, async (t) => {
  const server = await startedConsole(t);
  const table = tableOf(server, "cities");
  await table.createTable();
  for (const [rowKey, population] of [
    ["Bern", 134_000],
    ["Graz", 292_000],
  ] as const) {
    await table.createEntity({
      partitionKey: "eu",
      rowKey,
      Population: population,
      Since: new Date(0),
    });
  }
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "tables", "cities");
  await page.getByText("2 shown").waitFor();
  await page.getByRole("columnheader", { name: "Population (Int32)" }).waitFor();
  await page.getByRole("columnheader", { name: "Since (DateTime)" }).waitFor();
  const filter = page.getByRole("combobox", { name: "Filter" });
  const options = page.getByRole("listbox", { name: "Suggestions" }).getByRole("option");
  await filter.click();
  await page.keyboard.type("pop");
  await options.getByText("Population").waitFor();
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await assertAccessible(page);
  }
  await page.keyboard.press("ArrowDown");
  assert.equal(await filter.getAttribute("aria-activedescendant"), "filter-choices-0");
  await page.keyboard.press("Enter");
  await options.getByText("greater than", { exact: true }).waitFor();
  assert.equal(await filter.inputValue(), "Population ");
  await page.keyboard.type("g");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await options.getByText("134000").waitFor();
  assert.equal(await filter.inputValue(), "Population gt ");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await options.getByText("at least one").waitFor();
  await page.keyboard.press("Escape");
  await options.first().waitFor({ state: "hidden" });
  // Without a choice, Enter sends the filter.
  await page.keyboard.press("Enter");
  await page.getByText("1 shown").waitFor();
  await page.getByRole("cell", { name: "Graz" }).waitFor();
  await filter.fill("RowKey eq ");
  await options.getByText("'Bern'").click();
  await page.getByRole("button", { name: "Query" }).click();
  await page.getByRole("cell", { name: "Bern" }).waitFor();
  await filter.fill("Population than 3");
  await page.getByRole("button", { name: "Query" }).click();
  await page.getByText("InvalidInput").waitFor();
  const found = table.listEntities({ queryOptions: { filter: odata`RowKey eq 'Bern'` } });
  assert.equal((await found.next()).value?.rowKey, "Bern");
  // The browser reports a refused query, too.
  assert.deepEqual(
    errors.filter((text) => !text.includes("400")),
    [],
  );
});

test("a download shows its progress, and what failed says why", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = BlobServiceClient.fromConnectionString(
    server.connectionString,
  ).getContainerClient("box");
  await container.create();
  const bytes = Buffer.alloc(40 * MIB, "0123456789abcdef");
  await container.getBlockBlobClient("large.bin").uploadData(bytes);
  const { page } = await openPage(t, server.consoleUrl);
  await openAt(page, "blobs", "box");
  await page.getByRole("button", { name: "large.bin" }).click();
  await page.evaluate(`(() => {
    window.seen = new Set();
    new MutationObserver(() => {
      const bar = document.querySelector("progress");
      if (bar !== null && bar.value > 0) window.seen.add(bar.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  })()`);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await saving;
  assert.equal(download.suggestedFilename(), "large.bin");
  assert.ok((await readFile(await download.path())).equals(bytes));
  const seen = await page.evaluate<number[]>("[...window.seen]");
  assert.ok(seen.length > 3 && seen.every((done) => done <= bytes.length), `progress at ${seen}`);
  await page.locator("progress").waitFor({ state: "detached" });
  await container.deleteBlob("large.bin");
  await page.getByRole("button", { name: "Download" }).click();
  await page.getByText("BlobNotFound").waitFor();
  await page.getByRole("button", { name: "Dismiss large.bin" }).click();
  await page.getByText("BlobNotFound").waitFor({ state: "detached" });
});

test("a download that is cancelled ends, and leaves nothing behind", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = BlobServiceClient.fromConnectionString(
    server.connectionString,
  ).getContainerClient("box");
  await container.create();
  await container.uploadBlockBlob("slow.bin", "slow", 4);
  const { page } = await openPage(t, server.consoleUrl);
  await openAt(page, "blobs", "box");
  await page.getByRole("button", { name: "slow.bin" }).click();
  await page.getByText("Copy path").waitFor();
  // Never answered, so that there is time to cancel it.
  await page.route("**/services/blob/*/box/slow.bin", () => {});
  await page.getByRole("button", { name: "Download" }).click();
  await page.getByRole("button", { name: "Cancel slow.bin" }).click();
  await page.locator("progress").waitFor({ state: "detached" });
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("directories of a hierarchical container show and change their ACL", { skip }, async (t) => {
  const server = await startedConsole(t);
  const lake = lakeOf(server, "lake");
  await lake.create();
  await lake.getFileClient("raw/events.json").upload(Buffer.from("{}"));
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "blobs", "lake");
  await page.getByRole("button", { name: "raw/" }).click();
  await page.getByRole("button", { name: "events.json" }).waitFor();
  await page.getByRole("button", { name: "Access control" }).click();
  const dialog = page.getByRole("dialog", { name: "Access control of raw" });
  const acl = dialog.getByRole("textbox", { name: "ACL" });
  await acl.waitFor();
  assert.equal(await dialog.getByLabel("Permissions").inputValue(), "rwxr-x---");
  assert.equal(await acl.inputValue(), "user::rwx\ngroup::r-x\nother::---");
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await assertAccessible(page);
  }
  const raw = lake.getDirectoryClient("raw");
  const entries = ["user::rwx", "user:0c0ffee0-0000-4000-8000-00000000000a:r-x", "group::r-x"];
  await acl.fill([...entries, "mask::r-x", "other::---"].join("\n"));
  await dialog.getByLabel("Owner").fill("alice");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Saved.").waitFor();
  assert.equal((await raw.getAccessControl()).owner, "alice");
  await dialog.getByRole("button", { name: "Add the ACL's entries to everything below" }).click();
  await dialog.getByText("2 paths changed, 0 refused.").waitFor();
  const file = await lake.getFileClient("raw/events.json").getAccessControl();
  assert.equal(file.acl.filter(({ entityId }) => entityId.startsWith("0c0ffee0")).length, 1);
  // Somebody else is faster.
  await raw.setMetadata({ changed: "yes" });
  await dialog.getByLabel("Owner").fill("bob");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("412").waitFor();
  assert.equal((await raw.getAccessControl()).owner, "alice");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "events.json" }).click();
  const details = page.getByRole("region", { name: "Blob raw/events.json" });
  await details.getByText("ETag", { exact: true }).waitFor();
  await details.getByRole("button", { name: "Access control" }).click();
  assert.match(await page.getByRole("textbox", { name: "ACL" }).inputValue(), /user:0c0ffee0/);
  assert.deepEqual(
    errors.filter((text) => !text.includes("412")),
    [],
  );
});

test("directories are created, renamed and deleted as one", { skip }, async (t) => {
  const server = await startedConsole(t);
  const lake = lakeOf(server, "lake");
  await lake.create();
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "blobs", "lake");
  await page.getByRole("button", { name: "Create directory" }).click();
  await page.getByLabel("Name of the directory").fill("2026 & on");
  await page.getByRole("dialog").getByRole("button", { name: "Create directory" }).click();
  await page.getByRole("button", { name: "2026 & on/" }).click();
  await lake.getFileClient("2026 & on/a.txt").upload(Buffer.from("a"));
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByRole("button", { name: "a.txt" }).waitFor();
  await page.getByRole("button", { name: "Rename directory" }).click();
  await page.getByLabel("New path in the container").fill("archive");
  await page.getByRole("dialog").getByRole("button", { name: "Rename directory" }).click();
  await page.getByRole("link", { name: "archive" }).waitFor();
  await page.getByRole("button", { name: "a.txt" }).waitFor();
  assert.equal(await lake.getFileClient("archive/a.txt").exists(), true);
  await page.getByRole("button", { name: "Delete directory" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("Nothing is here").waitFor();
  assert.equal(await lake.getDirectoryClient("archive").exists(), false);
  assert.deepEqual(errors, []);
});

test("a flat container has no tools for directories", { skip }, async (t) => {
  const server = await startedConsole(t);
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  await blobs.getContainerClient("flat").create();
  const { page } = await openPage(t, server.consoleUrl);
  const told = page.waitForResponse((one) => one.url().includes("resource=filesystem"));
  await openAt(page, "blobs", "flat");
  await page.getByText("Nothing is here").waitFor();
  assert.equal((await told).headers()["x-ms-namespace-enabled"], "false");
  assert.equal(await page.getByRole("button", { name: "Access control" }).count(), 0);
});

test("snapshots of a share are made, opened and deleted", { skip }, async (t) => {
  const server = await startedConsole(t);
  const service = ShareServiceClient.fromConnectionString(server.connectionString);
  const share = service.getShareClient("docs");
  await share.create();
  await service.getShareClient("docs-of-others").create();
  await service.getShareClient("docs-of-others").createSnapshot();
  const directory = share.getDirectoryClient("plans");
  await directory.create();
  const file = directory.getFileClient("plan.txt");
  await file.create(5);
  await file.uploadRange("first", 0, 5);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "shares", "docs");
  await page.getByRole("button", { name: "plans/" }).waitFor();
  const choice = page.getByLabel("Show");
  assert.equal(await choice.getByRole("option").count(), 1);
  await page.getByRole("button", { name: "Make snapshot" }).click();
  await choice.getByRole("option").nth(1).waitFor({ state: "attached" });
  await file.uploadRange("later", 0, 5);
  await directory.getFileClient("new.txt").create(0);
  await page.getByRole("button", { name: "plans/" }).click();
  await page.getByRole("button", { name: "new.txt", exact: true }).waitFor();
  await choice.selectOption({ index: 1 });
  await page.getByRole("button", { name: "new.txt", exact: true }).waitFor({ state: "detached" });
  await assertAccessible(page);
  // Nothing in a snapshot can be changed.
  for (const name of ["Delete plan.txt", "Create directory"]) {
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  }
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "plan.txt", exact: true }).click();
  assert.equal((await readFile(await (await saving).path())).toString(), "first");
  await page.getByRole("button", { name: "Delete this snapshot" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "new.txt", exact: true }).waitFor();
  await choice.getByRole("option").nth(1).waitFor({ state: "detached" });
  const left = [];
  for await (const one of service.listShares({ includeSnapshots: true })) left.push(one);
  assert.deepEqual(
    left.filter(({ snapshot }) => snapshot !== undefined).map(({ name }) => name),
    ["docs-of-others"],
  );
  assert.deepEqual(errors, []);
});

test("a queue shows how long its messages are hidden, and can show them again", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const queues = QueueServiceClient.fromConnectionString(server.connectionString);
  const queue = queues.getQueueClient("work");
  await queue.create();
  await queue.sendMessage("job");
  await queue.sendMessage("later", { visibilityTimeout: 3_600 });
  await queue.receiveMessages({ visibilityTimeout: 600 });
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "queues", "work");
  const hidden = page.getByRole("region", { name: "Hidden messages" });
  const job = hidden.getByRole("row").filter({ hasText: "a client works on it" });
  await job.getByText(/^in (9|10) min \d+ s, at /).waitFor();
  await job.getByText(/^\d+ s$/).waitFor();
  const later = hidden.getByRole("row").filter({ hasText: "waits for its time" });
  await later.getByText(/^in (59 min|1 h)/).waitFor();
  await assertAccessible(page);
  await job.getByRole("button", { name: "Show again" }).click();
  await page.getByText("another client may get it a second time").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Show again" }).click();
  await page.getByRole("region", { name: "Messages", exact: true }).getByText("job").waitFor();
  await job.waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
});
