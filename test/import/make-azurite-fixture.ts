// Writes the data folder of a real Azurite, filled with one of everything:
// `node dist/test/import/make-azurite-fixture.js <version> <folder with node_modules/azurite>`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packFolder } from "../upgrade/fixture.ts";
import { azuriteFixturePath, writeAzuriteFixture } from "./azurite-fixture.ts";
import { type AccountUrls, fillAccount } from "./fill-account.ts";

const [version = "", installed = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "lazuli-azurite-"));
try {
  const script = join(installed, "node_modules/azurite/dist/src/azurite.js");
  const ports = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"];
  const flags = ["--silent", "--skipApiVersionCheck", "--location", folder, ...ports];
  const child = spawn(process.execPath, [script, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const urls: Record<string, string> = {};
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    child.on("close", () => reject(new Error(`it did not start: ${printed}`)));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      const ready = /^Azurite (\w+) service is successfully listening at (\S+)\n/gm;
      for (const [, service = "", origin = ""] of printed.matchAll(ready)) {
        urls[service.toLowerCase()] = `${origin}/devstoreaccount1`;
      }
      if (Object.keys(urls).length === 3) resolve();
    });
  });
  const filledMs = Date.now();
  try {
    await fillAccount(urls as unknown as AccountUrls);
  } finally {
    child.kill("SIGINT");
    await closed;
  }
  writeAzuriteFixture(azuriteFixturePath(version), { filledMs, files: packFolder(folder) });
} finally {
  rmSync(folder, { recursive: true });
}
