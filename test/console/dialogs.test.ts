import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient } from "@azure/storage-file-datalake";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import type { Locator, Page } from "playwright-core";
import { READ } from "../../src/rules/share-mode.ts";
import { DATALAKE_CREDENTIAL } from "../sdk/datalake-server.ts";
import { ACCOUNT } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { assertAccessible, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, type ConsoleServer, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();
const PHONE = { width: 400, height: 700 };

// As long as they may be, and without a place to break: such names push dialogs wide.
const LONG = "a".repeat(63);
const LONG_PATH = `${"directory".repeat(12)}/${"file".repeat(20)}.txt`;

interface Opening {
  /** The file of the dialog: a file with one that is not opened here fails the test. */
  readonly file: string;
  readonly title: string;
  /** Below `#/`, with the account first in `browse`. */
  readonly way: readonly string[];
  readonly open: (page: Page) => Promise<void>;
}

const click = (name: string, within?: string) => async (page: Page) => {
  const place: Page | Locator =
    within === undefined ? page : page.getByRole("region", { name: within });
  await place.getByRole("button", { name, exact: true }).first().click();
};

const browse = (...way: string[]) => ["browse", ACCOUNT, ...way];
const [DIRECTORY = "", FILE = ""] = LONG_PATH.split("/");

const OPENINGS: readonly Opening[] = [
  {
    file: "browse-containers.tsx",
    title: `Delete container ${LONG}`,
    way: browse("blobs"),
    open: click(`Delete ${LONG}`),
  },
  {
    file: "blob-details.tsx",
    title: `Delete ${LONG_PATH}`,
    way: browse("blobs", LONG, DIRECTORY),
    open: async (page) => {
      await click(FILE)(page);
      await click("Delete", `Blob ${LONG_PATH}`)(page);
    },
  },
  {
    file: "directory-tools.tsx",
    title: "Create directory",
    way: browse("blobs", LONG, DIRECTORY),
    open: click("Create directory"),
  },
  {
    file: "directory-tools.tsx",
    title: "Rename directory",
    way: browse("blobs", LONG, DIRECTORY),
    open: click("Rename directory"),
  },
  {
    file: "directory-tools.tsx",
    title: `Delete ${DIRECTORY}`,
    way: browse("blobs", LONG, DIRECTORY),
    open: click("Delete directory"),
  },
  {
    file: "access-control.tsx",
    title: `Access control of ${DIRECTORY}`,
    way: browse("blobs", LONG, DIRECTORY),
    open: async (page) => {
      await click("Access control")(page);
      await page.getByRole("dialog").getByRole("textbox", { name: "ACL" }).waitFor();
    },
  },
  {
    file: "browse-queue.tsx",
    title: `Clear ${LONG}`,
    way: browse("queues", LONG),
    open: click("Clear queue"),
  },
  {
    file: "hidden-messages.tsx",
    title: `Show again: ${LONG}`,
    way: browse("queues", LONG),
    open: async (page) => {
      await page.getByRole("button", { name: "Show again" }).click();
    },
  },
  {
    file: "browse-table.tsx",
    title: "Insert an entity",
    way: browse("tables", "people"),
    open: click("Insert"),
  },
  {
    file: "browse-table.tsx",
    title: `${LONG} / row`,
    way: browse("tables", "people"),
    open: click(LONG),
  },
  {
    file: "browse-table.tsx",
    title: `Delete ${LONG} / row`,
    way: browse("tables", "people"),
    open: async (page) => {
      await click(LONG)(page);
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    },
  },
  {
    file: "browse-share.tsx",
    title: `Delete ${LONG}.txt`,
    way: browse("shares", LONG),
    open: click(`Delete ${LONG}.txt`),
  },
  {
    file: "share-handles.tsx",
    title: `Close handle: ${LONG}/${LONG}.txt`,
    way: browse("shares", LONG),
    open: async (page) => {
      const handles = page.getByRole("region", { name: "Handles" });
      await handles.getByRole("button", { name: "Close handle" }).click();
    },
  },
  {
    file: "share-snapshots.tsx",
    title: "Delete the snapshot of",
    way: browse("shares", LONG),
    open: async (page) => {
      const choice = page.getByLabel("Show");
      await choice.getByRole("option").nth(1).waitFor({ state: "attached" });
      await choice.selectOption({ index: 1 });
      await click("Delete this snapshot")(page);
    },
  },
  {
    file: "holders.tsx",
    title: `Break lease: ${ACCOUNT}/${LONG}/${LONG_PATH}`,
    way: ["holders"],
    open: click("Break lease"),
  },
  {
    file: "requests.tsx",
    title: "blob PutBlob",
    way: ["requests"],
    open: async (page) => {
      await page.getByLabel("Show").selectOption("conflicts");
      await page.getByRole("row").filter({ hasText: "LeaseIdMissing" }).getByRole("button").click();
      await page.getByRole("region", { name: "Explanation" }).waitFor();
    },
  },
];

test("each dialog of the page is opened by these tests", () => {
  const folder = new URL("../../../console/", import.meta.url);
  const withDialogs = readdirSync(folder)
    .filter((name) => name.endsWith(".tsx") && name !== "parts.tsx")
    .filter((name) => /<(Dialog|Confirm)\b/.test(readFileSync(new URL(name, folder), "utf8")));
  assert.deepEqual([...new Set(OPENINGS.map(({ file }) => file))].sort(), withDialogs.sort());
});

test("each dialog fits a phone, with all of its buttons in reach, in light and dark", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const { page, errors } = await openPage(t, server.consoleUrl, PHONE);
  await page.getByRole("link", { name: "Browse" }).waitFor();
  await fill(server);
  const files = await SmbFiles.connect(Number(server.urls.smb?.split(":").at(-1)), LONG);
  t.after(() => files.close());
  await files.open(`${LONG}.txt`, { access: READ, share: READ });
  for (const { title, way, open } of OPENINGS) {
    await t.test(title.slice(0, 60), async () => {
      // Nothing of the dialog before is left, even if that failed.
      await page.evaluate("location.hash = '#/home'");
      await page.getByRole("heading", { name: "Lazuli", level: 1 }).waitFor();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${way.join("/")}`)}`);
      await open(page);
      const dialog = page.getByRole("dialog", { name: title });
      await dialog.waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await assertAccessible(page);
      }
      await assertInReach(page, dialog);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    });
  }
  assert.deepEqual(errors, []);
});

/** Nothing is wider than its box, and each control can be scrolled to and is not cut off. */
async function assertInReach(page: Page, dialog: Locator): Promise<void> {
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
  assert.ok(wide <= PHONE.width, `the page is ${wide} pixels wide`);
  const [inner = 0, outer = 0] = await dialog.evaluate(
    (box: { scrollWidth: number; clientWidth: number }) => [box.scrollWidth, box.clientWidth],
  );
  assert.ok(inner <= outer, `${inner} pixels in a dialog of ${outer}`);
  const controls = dialog.locator("button, input, textarea, select, a");
  for (let at = 0; at < (await controls.count()); at++) {
    const control = controls.nth(at);
    await control.scrollIntoViewIfNeeded();
    const box = await control.boundingBox();
    const name = (await control.textContent()) ?? "";
    assert.ok(box !== null && box.x >= 0 && box.x + box.width <= PHONE.width, `${name}: across`);
    assert.ok(box.y >= 0 && box.y + box.height <= PHONE.height, `${name}: down`);
  }
}

async function fill(server: ConsoleServer): Promise<void> {
  const { connectionString, urls } = server;
  const lake = new DataLakeServiceClient(`${urls.dfs}/${ACCOUNT}`, DATALAKE_CREDENTIAL);
  await lake.getFileSystemClient(LONG).create();
  const blobs = BlobServiceClient.fromConnectionString(connectionString).getContainerClient(LONG);
  const blob = blobs.getBlockBlobClient(LONG_PATH);
  await blob.upload("text", 4, { blobHTTPHeaders: { blobContentType: "text/plain" } });
  await blob.getBlobLeaseClient().acquireLease(-1);
  await assert.rejects(blob.upload("late", 4), { statusCode: 412 });
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient(LONG);
  await queue.create();
  await queue.sendMessage("job", { visibilityTimeout: 3_600 });
  const table = TableClient.fromConnectionString(connectionString, "people", {
    allowInsecureConnection: true,
  });
  await table.createTable();
  await table.createEntity({ partitionKey: LONG, rowKey: "row", text: LONG });
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient(LONG);
  await share.create();
  await share.rootDirectoryClient.getFileClient(`${LONG}.txt`).create(10);
  await share.createSnapshot();
}
