import assert from "node:assert/strict";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { assertFitsAll, type ConsolePage, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, type ConsoleServer, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

async function openAt(page: ConsolePage["page"], ...way: string[]) {
  await page.getByRole("link", { name: "Browse" }).waitFor();
  await page.evaluate(`location.hash = ${JSON.stringify(`#/browse/${ACCOUNT}/${way.join("/")}`)}`);
}

function sharesOf({ connectionString }: ConsoleServer) {
  return ShareServiceClient.fromConnectionString(connectionString);
}

test("a queue is peeked at without an effect, shows how often messages came, and is cleared", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const queues = QueueServiceClient.fromConnectionString(server.connectionString);
  const queue = queues.getQueueClient("work");
  await queue.create();
  await queue.sendMessage("came twice");
  for (const count of [1, 2]) {
    const [got] = (await queue.receiveMessages({ visibilityTimeout: 600 })).receivedMessageItems;
    assert.equal(got?.dequeueCount, count);
    await queue.updateMessage(got?.messageId ?? "", got?.popReceipt ?? "", undefined, 0);
  }
  await queue.sendMessage("new");
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "queues", "work");
  const messages = page.getByRole("region", { name: "Messages", exact: true });
  const countOf = (text: string) =>
    messages.getByRole("row").filter({ hasText: text }).getByRole("cell").nth(1).textContent();
  await messages.getByText("came twice").waitFor();
  assert.deepEqual([await countOf("came twice"), await countOf("new")], ["2", "0"]);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.getByText("About 2 messages").waitFor();
  assert.equal((await queue.peekMessages()).peekedMessageItems[0]?.dequeueCount, 2);
  await queue.receiveMessages({ visibilityTimeout: 600 });
  await page.getByRole("button", { name: "Clear queue" }).click();
  await page.getByText("also those that clients are working on").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Clear" }).click();
  await page.getByText("No message is visible").waitFor();
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
  assert.deepEqual(errors, []);
});

test("an entity shows its types, is replaced with the ETag that was read, and can be forced", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const table = TableClient.fromConnectionString(server.connectionString, "cities", {
    allowInsecureConnection: true,
  });
  await table.createTable();
  const keys = { partitionKey: "eu", rowKey: "Bern" };
  await table.createEntity({
    ...keys,
    Area: 51.6,
    Big: { type: "Int64", value: "9007199254740993" },
    Capital: true,
    Founded: new Date(0),
    Id: { type: "Guid", value: "0c0ffee0-0000-4000-8000-00000000000a" },
    Seal: Buffer.from("bear"),
  });
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "tables", "cities");
  const types = ["Area (Double)", "Big (Int64)", "Capital (Boolean)", "Founded (DateTime)"];
  for (const name of [...types, "Id (Guid)", "Seal (Binary)"]) {
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  }
  await page.getByRole("cell", { name: "9007199254740993" }).waitFor();
  const dialog = page.getByRole("dialog");
  const properties = dialog.getByLabel("Properties");
  const edit = async (capital: boolean) => {
    const text = await properties.inputValue();
    await properties.fill(text.replace(/"Capital": (true|false)/, `"Capital": ${capital}`));
  };
  await page.getByRole("button", { name: "eu", exact: true }).click();
  assert.match(await properties.inputValue(), /"Seal@odata.type": "Edm.Binary"/);
  await edit(false);
  // Somebody else is faster.
  await table.updateEntity({ ...keys, Area: 52 }, "Merge");
  await dialog.getByRole("button", { name: "Replace" }).click();
  await dialog.getByText("412 UpdateConditionNotSatisfied").waitFor();
  assert.equal((await table.getEntity("eu", "Bern")).Capital, true);
  await dialog.getByLabel("Whatever its ETag is").check();
  await dialog.getByRole("button", { name: "Replace" }).click();
  await dialog.waitFor({ state: "detached" });
  const { Area, Big, Capital, Founded, Id, Seal } = await table.getEntity("eu", "Bern");
  assert.deepEqual([Area, Big, Capital, Founded], [51.6, 9007199254740993n, false, new Date(0)]);
  assert.equal((Id as { value: string }).value, "0c0ffee0-0000-4000-8000-00000000000a");
  assert.equal(Buffer.from(Seal as Uint8Array).toString(), "bear");
  await page.getByRole("button", { name: "eu", exact: true }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("The table is empty").waitFor();
  assert.deepEqual(
    errors.filter((text) => !text.includes("412")),
    [],
  );
});

test("a share shows what SMB clients have open in it, and closes a handle", { skip }, async (t) => {
  const server = await startedConsole(t);
  const share = sharesOf(server).getShareClient("docs");
  await share.create();
  for (const name of ["plans", "notes"]) {
    const directory = share.getDirectoryClient(name);
    await directory.create();
    await directory.getFileClient("a.txt").create(10);
  }
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "shares", "docs");
  await page.getByRole("button", { name: "plans/", exact: true }).waitFor();
  const handles = page.getByRole("region", { name: "Handles" });
  assert.equal(await handles.count(), 0);
  const files = await SmbFiles.connect(Number(server.urls.smb?.split(":").at(-1)), "docs");
  t.after(() => files.close());
  const handle = await files.open("plans\\a.txt", { access: READ | WRITE, share: READ });
  await files.open("notes\\a.txt", { access: READ, share: READ });
  const row = handles.getByRole("row").filter({ hasText: "plans/a.txt" });
  await row.getByText("read, write; others: read").waitFor();
  await row.getByText("127.0.0.1").waitFor();
  await handles.getByRole("cell", { name: "notes/a.txt", exact: true }).waitFor();
  await assertFitsAll(page);
  // In a directory: what is open there.
  await page.getByRole("button", { name: "plans/", exact: true }).click();
  const other = handles.getByRole("cell", { name: "notes/a.txt", exact: true });
  await other.waitFor({ state: "detached" });
  await row.getByRole("button", { name: "Close handle of plans/a.txt" }).click();
  await page.getByText("The handle of 127.0.0.1 becomes invalid").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close handle" }).click();
  await handles.waitFor({ state: "detached" });
  assert.notEqual(await files.end(handle), 0);
  assert.deepEqual(errors, []);
});

test("files of a share go up, come down and are deleted, and a deleted share comes back", {
  skip,
}, async (t) => {
  const server = await startedConsole(t, {
    config: { accounts: [{ name: ACCOUNT, keys: [KEY], file: { shareRetentionDays: 7 } }] },
  });
  const share = sharesOf(server).getShareClient("docs");
  await share.create();
  const { page, errors } = await openPage(t, server.consoleUrl);
  await openAt(page, "shares", "docs");
  const file = { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("plan") };
  await page.getByLabel("Upload files").setInputFiles(file);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "a.txt", exact: true }).click();
  assert.equal((await saving).suggestedFilename(), "a.txt");
  await page.getByRole("button", { name: "Delete a.txt" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("The directory is empty").waitFor();
  await page.getByRole("link", { name: "shares", exact: true }).click();
  await page.getByRole("button", { name: "Delete docs" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("There is no share yet").waitFor();
  await page.getByLabel("Deleted ones").check();
  await page.getByRole("button", { name: "Undelete docs" }).click();
  await page.getByRole("button", { name: "docs", exact: true }).waitFor();
  assert.equal(await share.exists(), true);
  assert.deepEqual(errors, []);
});
