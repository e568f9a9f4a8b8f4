import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import {
  AccountSASPermissions,
  BlobServiceClient,
  generateAccountSASQueryParameters,
  type RestError,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import type { RunningServer } from "lazuli";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { assertAccessible, Browsers, type ConsolePage, skipWithoutBrowser } from "./browser.ts";
import { startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-console-"));
after(() => rmSync(scratch, { recursive: true }));

const browsers = new Browsers();
after(() => browsers.close());

async function openPage(t: TestContext, url: string): Promise<ConsolePage> {
  const opened = await browsers.open(url);
  t.after(() => opened.close());
  return opened;
}

function blobsOf({ connectionString }: RunningServer) {
  return BlobServiceClient.fromConnectionString(connectionString);
}

test("every page opens, fits a phone, and is accessible in light and dark", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  await container.uploadBlockBlob("docs/read me.txt", "hello", 5);
  const { page, errors } = await openPage(t, server.consoleUrl);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const title of ["Home", "Browse", "Who holds what", "Live requests", "Plots", "Space"]) {
      await page.getByRole("link", { name: title }).click();
      const heading = title === "Home" ? "Lazuli" : title;
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await assertAccessible(page);
      await page.setViewportSize({ width: 400, height: 800 });
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      assert.ok(wide <= 400, `${title} is ${wide} pixels wide`);
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  }
  assert.deepEqual(errors, []);
});

test("the printed address signs in once, and an account key signs in without leaving the page", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const { page } = await openPage(t, server.consoleUrl);
  await page.getByRole("heading", { name: "Lazuli", level: 1 }).waitFor();
  assert.equal(new URL(page.url()).hash.includes("token"), false);
  await page.reload();
  await page.getByText("Connection string", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Account").waitFor();
  await page.goto("about:blank");
  await page.goto(server.consoleUrl);
  await page.getByText("TokenUsed").waitFor();
  const sent: string[] = [];
  page.on("request", (request) => {
    sent.push(`${request.url()} ${request.postData()} ${JSON.stringify(request.headers())}`);
  });
  await page.getByLabel("Key or SAS").fill("c2VjcmV0");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("WrongKey").waitFor();
  await page.getByLabel("Key or SAS").fill(KEY);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Lazuli", level: 1 }).waitFor();
  assert.equal(
    sent.some((text) => text.includes(KEY)),
    false,
  );
});

test("100 MiB go up with progress, and a dropped file goes up, too", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  const file = join(scratch, "large.bin");
  writeFileSync(file, Buffer.alloc(100 * 1024 * 1024, "lazuli"));
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Browse" }).click();
  await page.getByRole("button", { name: "box", exact: true }).click();
  await page.getByText("Drop files on this place").waitFor();
  // Sees each state of the progress bar, however fast it is.
  await page.evaluate(`(() => {
    window.seen = [];
    new MutationObserver(() => {
      const bar = document.querySelector("progress");
      if (bar !== null && bar.value > 0 && bar.value < bar.max) window.seen.push(bar.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  })()`);
  await page.getByLabel("Upload files").setInputFiles(file);
  await page.getByRole("button", { name: "large.bin", exact: true }).waitFor();
  const seen = await page.evaluate<number[]>("window.seen");
  assert.ok(new Set(seen).size > 3, `progress was seen at ${seen}`);
  const { contentLength, etag } = await container.getBlobClient("large.bin").getProperties();
  assert.equal(contentLength, 100 * 1024 * 1024);
  await page.getByRole("button", { name: "large.bin", exact: true }).click();
  await page.getByText(etag ?? "").waitFor();
  await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["dropped"], "small.txt", { type: "text/plain" }));
    const place = document.querySelector("[aria-label='Blobs: files can be dropped here']");
    place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  })()`);
  await page.getByRole("button", { name: "small.txt", exact: true }).click();
  await page.getByRole("region", { name: "Preview" }).getByText("dropped").waitFor();
  const small = await container.getBlobClient("small.txt").downloadToBuffer();
  assert.equal(small.toString(), "dropped");
  assert.deepEqual(errors, []);
});

test("a SAS opens what it permits, and nothing of the server itself", { skip }, async (t) => {
  const server = await startedConsole(t);
  await blobsOf(server).getContainerClient("box").create();
  const sas = generateAccountSASQueryParameters(
    {
      expiresOn: new Date(Date.now() + 3_600_000),
      permissions: AccountSASPermissions.parse("rl"),
      services: "b",
      resourceTypes: "sco",
    },
    new StorageSharedKeyCredential(ACCOUNT, KEY),
  );
  const { page } = await openPage(t, server.consoleUrl.replace(/#.*/, ""));
  await page.getByLabel("Key or SAS").fill(`?${sas}`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "box", exact: true }).waitFor();
  const pages = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
  assert.deepEqual(await pages.allTextContents(), ["Browse"]);
  await page.getByLabel("Name of a new container").fill("other");
  await page.getByRole("button", { name: "Create container" }).click();
  await page.getByText("AuthorizationPermissionMismatch").waitFor();
});

test("a lease of an SDK client appears, and breaking it lets others write", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  const blob = container.getBlockBlobClient("held.txt");
  await blob.upload("one", 3);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Who holds what" }).click();
  await page.getByText("Nobody holds anything now").waitFor();
  await blob.getBlobLeaseClient().acquireLease(-1);
  const row = page.getByRole("row").filter({ hasText: "box/held.txt" });
  await row.getByText("blob lease").waitFor();
  await row.getByText("azsdk-js").waitFor();
  await assert.rejects(blob.upload("two", 3), (error: RestError) => error.statusCode === 412);
  await row.getByRole("button", { name: "Break lease" }).click();
  await page.getByText("The lease ends at once").waitFor();
  await assertAccessible(page);
  await page.getByRole("dialog").getByRole("button", { name: "Break lease" }).click();
  await row.waitFor({ state: "detached" });
  await blob.upload("two", 3);
  assert.deepEqual(errors, []);
});

test("an SMB open appears and vanishes, and so does a hidden message", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { connectionString, urls } = server;
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("docs");
  await share.create();
  await share.rootDirectoryClient.getFileClient("plan.txt").create(10);
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("work");
  await queue.create();
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Who holds what" }).click();
  const files = await SmbFiles.connect(Number(urls.smb?.split(":").at(-1)), "docs");
  t.after(() => files.close());
  const handle = await files.open("plan.txt", { access: READ | WRITE, share: READ });
  const row = page.getByRole("row").filter({ hasText: "docs/plan.txt" });
  await row.getByText("open file").waitFor();
  await row.getByText("read, write; others: read").waitFor();
  await files.end(handle);
  await row.waitFor({ state: "detached" });
  await queue.sendMessage("job");
  const [message] = (await queue.receiveMessages({ visibilityTimeout: 600 })).receivedMessageItems;
  const hidden = page.getByRole("row").filter({ hasText: message?.messageId ?? "none" });
  await hidden.getByText("hidden message").waitFor();
  await hidden.getByRole("button", { name: "Show again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Show again" }).click();
  await hidden.waitFor({ state: "detached" });
  const [again] = (await queue.receiveMessages()).receivedMessageItems;
  assert.equal(again?.messageText, "job");
  assert.deepEqual(errors, []);
});

test("a 412 is explained by the write that won", { skip }, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  await container.create();
  const blob = container.getBlockBlobClient("shared.txt");
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Live requests" }).click();
  await page.getByText("No requests since").waitFor();
  const { etag = "" } = await blob.upload("one", 3);
  const { etag: winner = "" } = await blob.upload("two", 3);
  const lost = blob.upload("three", 5, { conditions: { ifMatch: etag } });
  await assert.rejects(lost, (error: RestError) => error.statusCode === 412);
  await page.getByLabel("Show").selectOption("conflicts");
  const row = page.getByRole("row").filter({ hasText: "ConditionNotMet" });
  await row.getByText(`If-Match: ${etag}`).waitFor();
  await row.getByRole("button").click();
  const why = page.getByRole("dialog").getByRole("region", { name: "Explanation" });
  await why.getByText(`The ETag was ${winner} by then`).waitFor();
  await why.getByText("The write that won: PutBlob from 127.0.0.1").waitFor();
  await assertAccessible(page);
  assert.deepEqual(errors, []);
});

test("a request copied as curl does the same once more, and needs no other credentials", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const container = blobsOf(server).getContainerClient("box");
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("link", { name: "Live requests" }).click();
  await page.getByText("No requests since").waitFor();
  await container.create();
  const metadata = { motto: "it's 100 %" };
  await container.getBlockBlobClient("a b.txt").upload("one", 3, { metadata });
  await container.deleteBlob("a b.txt");
  const copied = async (operation: string) => {
    const row = page.getByRole("row").filter({ hasText: `blob ${operation}` });
    await row.getByRole("button").click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    await page.keyboard.press("Escape");
    return page.evaluate<string>("navigator.clipboard.readText()");
  };
  const put = await copied("PutBlob");
  writeFileSync(join(scratch, "body"), "two");
  const run = (command: string) => promisify(execFile)("sh", ["-c", command], { cwd: scratch });
  await run(`${put} --fail --silent --show-error`);
  const blob = container.getBlobClient("a b.txt");
  assert.equal((await blob.downloadToBuffer()).toString(), "two");
  assert.deepEqual((await blob.getProperties()).metadata, metadata);
  await run(`${await copied("DeleteBlob")} --fail --silent --show-error`);
  assert.equal(await blob.exists(), false);
  assert.equal(put.includes(KEY), false);
  assert.deepEqual(errors, []);
});

test("Home tells what is stored now, and how to reach it, also over SMB", { skip }, async (t) => {
  const location = join(scratch, "data");
  const server = await startedConsole(t, { location });
  const { page, errors } = await openPage(t, server.consoleUrl);
  const stored = page.getByRole("region", { name: "Stored" });
  await stored.getByText("Write-ahead log").waitFor();
  await stored.getByText("Free on the volume").waitFor();
  await stored.getByText("Garbage in it").waitFor();
  const containers = stored.locator("dt", { hasText: /^containers?$/ }).locator("+ dd");
  await containers.getByText("0", { exact: true }).waitFor();
  await blobsOf(server).getContainerClient("box").create();
  await containers.getByText("1", { exact: true }).waitFor();
  await page.getByText(location).waitFor();
  await page.getByText("Runs for").waitFor();
  const account = page.getByRole("region", { name: `Account ${ACCOUNT}` });
  assert.equal(await account.getByText(KEY).count(), 0);
  await account.getByRole("button", { name: "Show keys" }).click();
  await account.getByText(KEY).first().waitFor();
  for (const way of ["Connection string", "az", "Python", ".NET", "Linux mount", "smbclient"]) {
    await page.getByRole("heading", { name: way, exact: true }).waitFor();
  }
  assert.deepEqual(errors, []);
});

test("plots move while requests come", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Plots" }).click();
  const plot = page.getByRole("region", { name: "Requests per second" });
  await plot.locator("canvas").waitFor();
  await plot.getByText("Waiting for the second reading").waitFor({ state: "detached" });
  const before = await plot.screenshot();
  await blobsOf(server).getContainerClient("box").create();
  await plot.getByText("blob").waitFor();
  assert.notDeepEqual(await plot.screenshot(), before);
  assert.deepEqual(errors, []);
});

test("queues, tables and shares can be read and edited", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Browse" }).click();
  await page.getByRole("link", { name: "Queues" }).click();
  await page.getByLabel("Name of a new queue").fill("work");
  await page.getByRole("button", { name: "Create queue" }).click();
  await page.getByRole("button", { name: "work", exact: true }).click();
  await page.getByLabel("Text of a new message").fill("<first> & only");
  await page.getByRole("button", { name: "Put message" }).click();
  await page.getByText("<first> & only").waitFor();
  await page.getByRole("link", { name: "Tables" }).click();
  await page.getByLabel("Name of a new table").fill("people");
  await page.getByRole("button", { name: "Create table" }).click();
  await page.getByRole("button", { name: "people", exact: true }).click();
  await page.getByRole("button", { name: "Insert" }).click();
  const entity = { PartitionKey: "p", RowKey: "o'r", Age: 7 };
  await page.getByLabel("Properties").fill(JSON.stringify(entity));
  await page.getByRole("dialog").getByRole("button", { name: "Insert" }).click();
  await page.getByRole("button", { name: "p", exact: true }).click();
  await page.getByLabel("Properties").fill(JSON.stringify({ ...entity, Age: 8 }));
  await page.getByRole("button", { name: "Replace" }).click();
  await page.getByRole("row").filter({ hasText: "o'r" }).getByText("8", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Shares" }).click();
  await page.getByLabel("Name of a new share").fill("docs");
  await page.getByRole("button", { name: "Create share" }).click();
  await page.getByRole("button", { name: "docs", exact: true }).click();
  await page.getByLabel("Name of a new directory").fill("plans");
  await page.getByRole("button", { name: "Create directory" }).click();
  await page.getByRole("button", { name: "plans/" }).click();
  const file = { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("plan") };
  await page.getByLabel("Upload files").setInputFiles(file);
  await page.getByRole("row").filter({ hasText: "a.txt" }).getByText("4 bytes").waitFor();
  assert.deepEqual(errors, []);
  assert.equal(ACCOUNT in server.accounts, true);
});
