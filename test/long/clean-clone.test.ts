import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

test("a first npm start in a clean clone serves, and prints no warning of npm's about a package", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-clone-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  for (const file of files.split("\0").filter(Boolean))
    cpSync(join(ROOT, file), join(folder, file));
  const npm = spawn("npm", ["start", "--", "--inMemoryPersistence", ...ANY_PORTS], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => npm.kill());
  let [out, err] = ["", ""];
  npm.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  npm.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (/^SMB service is successfully listening/m.test(out)) npm.kill();
  });
  await once(npm, "close");
  assert.match(out, /^SMB service is successfully listening/m, err);
  // Warnings about the settings of this machine's npm are not ours.
  const warnings = err.split("\n").filter((line) => /^npm warn (?!Unknown)/i.test(line));
  assert.deepEqual(warnings, []);
});
