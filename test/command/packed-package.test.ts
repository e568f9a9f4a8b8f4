import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import * as nodeModule from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { installPackedPackage, npm, type PackedPackage } from "./packed-package.ts";
import { LazuliProcess } from "./process.ts";

const MIB = 1024 * 1024;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-packed-"));
let packed: PackedPackage;
before(() => {
  packed = installPackedPackage(scratch);
});
after(() => rmSync(scratch, { recursive: true }));

function start(t: TestContext, args: readonly string[], env: Record<string, string> = {}) {
  const bin = join(packed.root, "bin");
  const lazuli = new LazuliProcess([...args, ...ANY_PORTS], env, [], { bin });
  t.after(() => lazuli.kill());
  return lazuli;
}

function bundleOf({ root }: PackedPackage): string {
  return readFileSync(join(root, "dist/bundle/lazuli.cjs"), "utf8");
}

test("the packed package contains every program, and npx finds it", () => {
  const { folder, version } = packed;
  for (const name of ["lazuli", "azurite", "azurite-blob", "azurite-queue", "azurite-table"]) {
    assert.equal(npm(folder, "exec", "--offline", "--", name, "--version").trim(), version, name);
  }
});

test("the packed package contains the bundle, documents and examples, and no compiled module or test", () => {
  const known =
    /^(bin|deploy|docs|examples|dist\/(bundle|examples|types))\/|^[^/]+\.(md|json)$|^LICENSE$/;
  const { files } = packed;
  assert.deepEqual(
    files.filter((file) => !known.test(file) || /^dist.*\.test\./.test(file)),
    [],
  );
  for (const file of ["README.md", "examples/concurrency.ts", "dist/examples/concurrency.js"]) {
    assert.ok(files.includes(file), file);
  }
});

test("the packed server is ASCII, of which V8 needs half the memory", () => {
  assert.doesNotMatch(bundleOf(packed), /[\x80-\uffff]/);
});

test("the packed package contains every worker thread that its server starts", () => {
  const started = [...bundleOf(packed).matchAll(/new URL\("\.\/([\w-]+\.js)"/g)].map(
    ([, name]) => `dist/bundle/${name}`,
  );
  assert.ok(started.length >= 2, `only ${started}`);
  for (const file of started) assert.ok(packed.files.includes(file), file);
});

test("the packed server stores and returns a blob that takes its worker threads", async (t) => {
  const lazuli = start(t, ["--location", join(scratch, "data")]);
  const client = new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL);
  const container = client.getContainerClient("box");
  await container.create();
  const blob = container.getBlockBlobClient("large");
  const bytes = randomBytes(4 * MIB);
  const { contentMD5 } = await blob.upload(bytes, bytes.length);
  assert.deepEqual(Buffer.from(contentMD5 ?? ""), createHash("md5").update(bytes).digest());
  assert.deepEqual(await blob.downloadToBuffer(), bytes);
  lazuli.signal("SIGTERM");
  const { code, err } = await lazuli.ended();
  assert.deepEqual([code, err], [0, ""]);
});

test("without the optional packages, a start that needs one says so in one line", async (t) => {
  const postgres = ["--records", "postgres://user:secret@127.0.0.1:1/x", "--bytes", scratch];
  const bucket = ["--location", join(scratch, "other"), "--bytes", "s3://bucket/x"];
  const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
  const cases = [
    [postgres, /^The records .* the package pg is not installed: run `npm install pg`\.\n$/],
    [bucket, /^--bytes s3:.* the package aws4fetch, .*: run npm install aws4fetch\.\n$/],
  ] as const;
  for (const [args, line] of cases) {
    const { code, out, err } = await start(t, ["start", ...args], keys).ended();
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, line);
    assert.doesNotMatch(err, /secret/);
  }
});

test("the packed source map leads from the bundle to the lines of the sources", () => {
  const map = new nodeModule.SourceMap(
    JSON.parse(readFileSync(join(packed.root, "dist/bundle/lazuli.cjs.map"), "utf8")),
  );
  const lines = bundleOf(packed).split("\n");
  const found = map.findEntry(
    lines.findIndex((line) => line.startsWith("async function putBlob(")),
    0,
  );
  assert.ok("originalSource" in found);
  assert.match(found.originalSource, /src\/service\/blob\/put-blob\.ts$/);
  const source = readFileSync(
    new URL(`../../../${pathInProject(found.originalSource)}`, import.meta.url),
    "utf8",
  );
  assert.match(source.split("\n")[found.originalLine] ?? "", /function putBlob\(/);
});

function pathInProject(source: string): string {
  return source.slice(source.indexOf("src/"));
}

test("compiled code is stored in the user's cache folder, unless that is turned off", async (t) => {
  const XDG_CACHE_HOME = join(scratch, "cache");
  const folder = join(XDG_CACHE_HOME, "lazuli");
  const serve = async (env: Record<string, string>) => {
    const lazuli = start(t, ["--inMemoryPersistence"], { XDG_CACHE_HOME, ...env });
    await lazuli.urlOf("Blob");
    lazuli.signal("SIGTERM");
    assert.equal((await lazuli.ended()).code, 0);
  };
  await serve({ NODE_DISABLE_COMPILE_CACHE: "1" });
  assert.equal(existsSync(folder), false);
  await serve({});
  await serve({});
  const stored = `lazuli.cjs-${process.version}-${process.arch}`;
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("lazuli")),
    [stored],
  );
});

test("a cache folder that cannot be written does not keep the server from starting", async (t) => {
  const file = join(scratch, "no-folder");
  writeFileSync(file, "");
  const lazuli = start(t, ["--inMemoryPersistence"], { XDG_CACHE_HOME: file });
  await lazuli.urlOf("Blob");
  lazuli.signal("SIGTERM");
  const { code, err } = await lazuli.ended();
  assert.deepEqual([code, err], [0, ""]);
});
