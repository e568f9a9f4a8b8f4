import assert from "node:assert/strict";
import { test } from "node:test";
import { TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import type { Page } from "playwright-core";
import { skipWithoutBrowser } from "./browser.ts";
import { insertEntities, putBlobs } from "./many-objects.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

const COUNT = 100_000;
const PAGE_ROWS = 1_000;
/** Rows in sight, and some before and behind them. */
const ROWS_IN_PAGE_MAX = 60;

const names = Array.from({ length: COUNT }, (_, at) => `b${String(at).padStart(6, "0")}`);

/** Scrolls to the end again and again, until all rows are there. Returns the most rows in the page. */
async function scrollThrough(page: Page, label: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const box = document.querySelector("section[aria-label='${label}'].rows");
    let most = 0;
    const step = () => {
      most = Math.max(most, box.querySelectorAll("tbody tr").length);
      const count = Number(box.querySelector("table").getAttribute("aria-rowcount"));
      if (count > ${COUNT} && box.textContent.includes("${names.at(-1)}")) return resolve(most);
      box.scrollTop = box.scrollHeight;
      requestAnimationFrame(step);
    };
    step();
  })`);
}

/** Requests of the page to lists. */
function countLists(page: Page, isList: (url: URL) => boolean): { count: number } {
  const seen = { count: 0 };
  page.on("request", (request) => {
    if (isList(new URL(request.url()))) seen.count++;
  });
  return seen;
}

test("100,000 blobs scroll: few rows are in the page, and each page of the list is asked once", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  await blobs.getContainerClient("many").create();
  await putBlobs(server.urls.blob ?? "", "many", names);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Browse" }).click();
  const lists = countLists(
    page,
    ({ pathname, search }) => pathname.endsWith("/many") && search.includes("comp=list"),
  );
  await page.getByRole("button", { name: "many", exact: true }).click();
  await page.getByRole("button", { name: names[0] ?? "", exact: true }).waitFor();
  // Nothing is loaded before somebody scrolls.
  assert.equal(lists.count, 1);
  await page.getByText("1,000+ shown").waitFor();
  const most = await scrollThrough(page, "Blobs");
  assert.ok(most <= ROWS_IN_PAGE_MAX, `${most} rows`);
  assert.equal(lists.count, COUNT / PAGE_ROWS);
  await page.getByText("100,000 shown").waitFor();
  const list = page.getByRole("region", { name: "Blobs", exact: true });
  await list.focus();
  await page.keyboard.press("Home");
  await page.getByRole("button", { name: names[0] ?? "", exact: true }).waitFor();
  const index = page.locator(`tr[aria-rowindex="2"]`);
  assert.match((await index.textContent()) ?? "", /^b000000/);
  assert.equal(lists.count, COUNT / PAGE_ROWS);
  assert.deepEqual(errors, []);
});

test("100,000 entities scroll the same way, by continuation", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { connectionString } = server;
  const tables = TableServiceClient.fromConnectionString(connectionString, {
    allowInsecureConnection: true,
  });
  await tables.createTable("many");
  const rows = names.map((name) => ({ PartitionKey: "p", RowKey: name }));
  await insertEntities(server.urls.table ?? "", "many", rows);
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Browse" }).click();
  await page.getByRole("link", { name: "Tables" }).click();
  const lists = countLists(page, ({ pathname }) => pathname.endsWith("/many%28%29"));
  await page.getByRole("button", { name: "many", exact: true }).click();
  await page.getByRole("cell", { name: names[0] ?? "", exact: true }).waitFor();
  assert.equal(lists.count, 1);
  const most = await scrollThrough(page, "Entities");
  assert.ok(most <= ROWS_IN_PAGE_MAX, `${most} rows`);
  assert.equal(lists.count, COUNT / PAGE_ROWS);
  await page.getByText("100,000 shown").waitFor();
  assert.deepEqual(errors, []);
});
