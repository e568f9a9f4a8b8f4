import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { syncFolder } from "./sync-folder.ts";

const MISSING = join(import.meta.dirname, "no-such-folder");

test("a folder is synced on Linux and macOS; Windows, which cannot open one, is not asked", async () => {
  for (const platform of ["linux", "darwin"] as const) {
    await assert.rejects(syncFolder(MISSING, platform), { code: "ENOENT" });
  }
  await syncFolder(MISSING, "win32");
});
