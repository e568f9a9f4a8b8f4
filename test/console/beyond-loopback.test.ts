import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { start } from "lazuli";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";

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
  const folder = mkdtempSync(join(tmpdir(), "lazuli-console-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  const { consoleUrl } = await startedConsole(t, { consoleHost: EVERYWHERE, cert, key });
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
