import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

/** A port that nothing listens on: npm cannot fetch anything. */
const NO_REGISTRY = "http://127.0.0.1:9/";
const MODULE = resolve("tools/node-versions.mjs");

async function supportedVersions(): Promise<Record<string, string>> {
  return (await import(pathToFileURL(MODULE).href)).NODE_VERSIONS;
}

test("package.json, README.md and the tests name the same versions of Node", async () => {
  const versions = await supportedVersions();
  const [[, oldest = ""] = [], ...others] = Object.entries(versions);
  const least = oldest.split(".").slice(0, 2).join(".");
  const { engines } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.equal(engines.node, `>=${least}`);
  const [last, ...between] = others.map(([major]) => major).reverse();
  const named = `Node ${[least, ...between.reverse()].join(", ")} or ${last}`;
  assert.ok(readFileSync("README.md", "utf8").includes(named), named);
  assert.match(readFileSync("bin/run.cjs", "utf8"), new RegExp(`needs Node ${least} or newer`));
});

test("an unknown version of Node is refused with the known ones", () => {
  const { status, stderr } = spawnSync(process.execPath, ["tools/test.mjs", "--node", "19"], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stderr], [1, "--node wants one of 20, 22, 24.\n"]);
});

test("a version of Node that was asked for and cannot be fetched fails with what to do", async (t) => {
  // No version has been fetched beside a copy of the tools.
  const folder = mkdtempSync(join(tmpdir(), "lazuli-nodes-"));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync("tools", join(folder, "tools"), { recursive: true });
  const other = Object.keys(await supportedVersions()).find(
    (major) => major !== process.versions.node.split(".")[0],
  );
  const { status, stderr } = spawnSync(
    process.execPath,
    ["tools/test.mjs", "--node", String(other), "lint"],
    {
      cwd: folder,
      encoding: "utf8",
      env: {
        ...process.env,
        npm_config_registry: NO_REGISTRY,
        npm_config_cache: join(folder, "empty-cache"),
        npm_config_fetch_retries: "0",
      },
    },
  );
  assert.equal(status, 1);
  assert.match(stderr, /^Node \S+ for this system could not be fetched .* Install it, and run /m);
});
