import assert from "node:assert/strict";
import { test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { REQUESTS_MAX } from "../../console/request-list.ts";
import { MIB } from "../../src/base/limits.ts";
import { skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();
/** Requests of a stay. */
const MANY = 6_000;
const AT_ONCE = 32;
/** Far less than what the page would hold if it forgot nothing. */
const GROWTH_BYTES_MAX = 2 * MIB;
const PAGES = [
  "Home",
  "Browse",
  "Who holds what",
  "Plots",
  "Space",
  "SAS",
  "Why 403?",
  "Scenes",
  "Live requests",
];

test("a page left open forgets what it no longer shows", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { page, errors } = await openPage(t, server.consoleUrl);
  const blobs = `${server.urls.blob}/devstoreaccount1/box`;
  await page.getByRole("link", { name: "Live requests" }).click();
  await page.getByText("No requests since").waitFor();
  const cdp = await page.context().newCDPSession(page);
  let stays = 0;
  const stay = async () => {
    stays++;
    await sendMany(blobs, `${stays}`);
    await page.getByText(`last-of-${stays}`).first().waitFor();
  };
  // The stream leaves out requests that come fast: how many a page gets of a stay is not certain.
  const stayUntilFull = async () => {
    do await stay();
    while (Number(await page.getByRole("table").getAttribute("aria-rowcount")) <= REQUESTS_MAX);
  };
  await visitAll(page);
  await stayUntilFull();
  const before = await measure(cdp);
  await stay();
  await stay();
  assertSame(before, await measure(cdp), "while it stays at one page");
  for (let i = 0; i < 5; i++) await visitAll(page);
  await stayUntilFull();
  assertSame(before, await measure(cdp), "after visits of all pages");
  assert.deepEqual(errors, []);
});

test("an open page whose session ends asks to sign in, and shows no old state as live", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const { page } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Who holds what" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  const other = await page.context().newPage();
  await other.goto(server.consoleUrl.replace(/#.*/, ""));
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Key or SAS").waitFor();
});

async function visitAll(page: Page): Promise<void> {
  for (const title of PAGES) {
    await page.getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
}

async function sendMany(blobs: string, name: string): Promise<void> {
  let sent = 0;
  const send = async () => {
    while (sent < MANY) await (await fetch(`${blobs}/${name}-${sent++}`)).text();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  await (await fetch(`${blobs}/last-of-${name}`)).text();
}

interface Measured {
  readonly heapBytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

async function measure(cdp: CDPSession): Promise<Measured> {
  await cdp.send("HeapProfiler.collectGarbage");
  await cdp.send("Performance.enable");
  const { metrics } = await cdp.send("Performance.getMetrics");
  const metric = (wanted: string) => metrics.find((one) => one.name === wanted)?.value ?? 0;
  return {
    heapBytes: metric("JSHeapUsedSize"),
    nodes: metric("Nodes"),
    listeners: metric("JSEventListeners"),
  };
}

function assertSame(before: Measured, after: Measured, when: string): void {
  const both = `${when}: ${JSON.stringify(before)}, then ${JSON.stringify(after)}`;
  assert.ok(after.heapBytes - before.heapBytes < GROWTH_BYTES_MAX, both);
  assert.ok(after.nodes <= before.nodes * 1.1, both);
  assert.ok(after.listeners <= before.listeners * 1.1, both);
}
