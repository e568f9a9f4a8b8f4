import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { ShareServiceClient } from "@azure/storage-file-share";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { giveUp, nextBreak, openLeased } from "../smb/smb-leases.ts";
import { assertAccessible, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

type Test = Parameters<typeof startedConsole>[0];

async function opened(t: Test) {
  const server = await startedConsole(t);
  const service = ShareServiceClient.fromConnectionString(server.connectionString);
  const share = service.getShareClient("docs");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("plan.txt");
  await file.create(10);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Who holds what" }).click();
  const files = await SmbFiles.connect(Number(server.urls.smb?.split(":").at(-1)), "docs");
  t.after(() => files.close());
  const rowOf = (kind: string) =>
    page.getByRole("row").filter({ hasText: "docs/plan.txt" }).filter({ hasText: kind });
  return { page, errors, file, files, rowOf };
}

test("a client is asked to write back what it caches, and keeps its handle", {
  skip,
}, async (t) => {
  const { page, errors, files, rowOf } = await opened(t);
  const key = randomBytes(16);
  const { handle, state } = await openLeased(files.client, "plan.txt", key, "RHW");
  assert.equal(state, "RHW");
  const row = rowOf("SMB lease");
  await row.getByText("RWH").waitFor();
  await row.getByRole("button", { name: "Ask to write back" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("nothing is lost").waitFor();
  await dialog.getByText("It concerns 1 handle of 127.0.0.1").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Ask to write back" }).click();
  assert.deepEqual((await nextBreak(files.client)).to, "RH");
  assert.equal(await giveUp(files.client, key, "RH"), 0);
  await dialog.waitFor({ state: "detached" });
  // The row of a cache that holds no writes has one button less.
  await row.getByRole("button", { name: "Ask to write back" }).waitFor({ state: "detached" });
  await row.getByRole("button", { name: "Close handles" }).waitFor();
  assert.equal(await files.end(handle), 0);
  await row.waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
});

test("closing the handles of a cached file ends its caches, and its client learns of it", {
  skip,
}, async (t) => {
  const { page, errors, files, rowOf } = await opened(t);
  const { handle } = await openLeased(files.client, "plan.txt", randomBytes(16), "RH");
  await rowOf("SMB lease").getByRole("button", { name: "Close handles" }).click();
  await page.getByText("what clients have cached and not yet written is lost").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close handles" }).click();
  await rowOf("SMB lease").waitFor({ state: "detached" });
  await rowOf("open file").waitFor({ state: "detached" });
  assert.notEqual(await files.end(handle), 0);
  assert.deepEqual(errors, []);
});

test("a file that waits for its deletion can be deleted at once", { skip }, async (t) => {
  const { page, errors, file, files, rowOf } = await opened(t);
  const all = READ | WRITE | DELETE;
  const handle = await files.open("plan.txt", { access: READ | DELETE, share: all });
  const other = await files.open("plan.txt", { share: all });
  assert.equal(await files.markDeleted(handle, true), 0);
  const row = rowOf("delete pending");
  await row.getByRole("button", { name: "Delete now" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("It concerns 2 handles of 127.0.0.1").waitFor();
  await dialog.getByRole("button", { name: "Delete now" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal(await file.exists(), false);
  assert.notEqual(await files.end(other), 0);
  assert.deepEqual(errors, []);
});

test("a lock is released by closing its handle, and the dialog names the client", {
  skip,
}, async (t) => {
  const { page, errors, files, rowOf } = await opened(t);
  const handle = await files.open("plan.txt", { access: READ | WRITE });
  assert.equal(await files.lock(handle, 2, 5, 2 | 0x10), 0);
  const row = rowOf("exclusive lock");
  await row.getByText("5 bytes from 2").waitFor();
  await row.getByRole("button", { name: "Close handle" }).click();
  await page.getByText("It concerns 1 handle of 127.0.0.1").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close handle" }).click();
  await row.waitFor({ state: "detached" });
  assert.notEqual(await files.end(handle), 0);
  assert.deepEqual(errors, []);
});

test("an SMB client appears when it logs on, and all that it has open can be closed at once", {
  skip,
}, async (t) => {
  const { page, errors, files } = await opened(t);
  const row = page.getByRole("row").filter({ hasText: "SMB session" });
  await row.getByText("SMB 3.1.1").waitFor();
  // A client without handles stands in nobody's way.
  assert.equal(await row.getByRole("button").count(), 0);
  const handle = await files.open("plan.txt", { access: READ, share: READ });
  await row.getByText("1 handle").waitFor();
  await row.getByRole("button", { name: "Close handles" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Everything that 127.0.0.1 has open becomes invalid (1 handle)").waitFor();
  await dialog.getByRole("button", { name: "Close handles" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("open file").waitFor({ state: "detached" });
  assert.notEqual(await files.end(handle), 0);
  await row.getByText("0 handles").waitFor();
  await files.close();
  await row.waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
});
