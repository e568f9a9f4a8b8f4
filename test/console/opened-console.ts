import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import {
  AccountSASPermissions,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { type RunningServer, type StartOptions, start } from "lazuli";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { Browsers, type ConsolePage } from "./browser.ts";

export type ConsoleServer = RunningServer & { readonly consoleUrl: string };

/** A server with a console, until the test ends. */
export async function startedConsole(
  t: TestContext,
  options: StartOptions = {},
): Promise<ConsoleServer> {
  const server = await start({ consolePort: 0, ...options });
  t.after(() => server.stop());
  assert.ok(server.consoleUrl !== null);
  return { ...server, consoleUrl: server.consoleUrl };
}

/** Pages of one browser, which is closed after all tests of the file. */
export function browserOfFile(): (
  t: TestContext,
  url: string,
  size?: { width: number; height: number },
) => Promise<ConsolePage> {
  const browsers = new Browsers();
  after(() => browsers.close());
  return async (t, url, size) => {
    const opened = await browsers.open(url, size);
    t.after(() => opened.close());
    return opened;
  };
}

/** Permits everything in all services, without a signature for each request. */
export function wholeSas(): string {
  const terms = {
    expiresOn: new Date(Date.now() + 24 * 3_600_000),
    permissions: AccountSASPermissions.parse("rwdlacup"),
    services: "bqtf",
    resourceTypes: "sco",
  };
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  return generateAccountSASQueryParameters(terms, credential).toString();
}

/** The certificate of the tests in files, until the test ends. */
export function certificateFiles(t: TestContext): { cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-console-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  return { cert, key };
}
