import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "lazuli";
import { skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, certificateFiles, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();
const EVERYWHERE = "0.0.0.0";

test("a console beyond loopback without HTTPS is refused", async () => {
  const started = start({ consolePort: 0, consoleHost: EVERYWHERE });
  await assert.rejects(started, /console on 0\.0\.0\.0 needs HTTPS.*cert/);
});

test("over HTTPS a console beyond loopback works, and its cookie stays on HTTPS", {
  skip,
}, async (t) => {
  const { consoleUrl } = await startedConsole(t, {
    consoleHost: EVERYWHERE,
    ...certificateFiles(t),
  });
  const url = new URL(consoleUrl);
  assert.equal(url.protocol, "https:");
  url.hostname = "127.0.0.1";
  const { page, errors } = await openPage(t, url.href);
  await page.getByRole("heading", { name: "Lazuli", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Who holds what" }).click();
  await page.getByRole("heading", { name: "Who holds what", level: 1 }).waitFor();
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie?.secure, cookie?.httpOnly, cookie?.sameSite], [true, true, "Strict"]);
  assert.deepEqual(errors, []);
});
