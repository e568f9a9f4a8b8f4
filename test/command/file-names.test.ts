import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { clientsOf, fillData, startOn } from "./stored-data.ts";

/** Windows refuses these characters, and a dot or blank at the end. */
const REFUSED = /[<>:"/\\|?*\p{Cc}]|[. ]$/u;
/** Names of devices on Windows, with any extension. */
const RESERVED = /^(?:CON|PRN|AUX|NUL|COM\d|LPT\d)(?:\.|$)/i;

test("every file that the server makes has a name that Windows takes", async (t) => {
  const location = mkdtempSync(join(tmpdir(), "lazuli-names-"));
  t.after(() => rmSync(location, { recursive: true }));
  const lazuli = startOn(location);
  t.after(() => lazuli.kill());
  await fillData(lazuli);
  const { box } = await clientsOf(lazuli);
  // A client's names must not reach the disk.
  for (const name of ["CON", "a:b?.txt", "end.", "UPPER/case", "upper/CASE"]) {
    await box.getBlockBlobClient(name).upload(name.padEnd(20_000), 20_000);
  }
  const paths = readdirSync(location, { recursive: true, encoding: "utf8" });
  assert.ok(paths.length >= 8, paths.join());
  for (const path of paths) {
    const name = basename(path);
    assert.ok(!REFUSED.test(name) && !RESERVED.test(name), path);
  }
  const distinct = new Set(paths.map((path) => path.toLowerCase()));
  assert.equal(distinct.size, paths.length, "names differ in more than their case");
});
