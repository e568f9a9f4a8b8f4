import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { startDataLake } from "../sdk/datalake-server.ts";
import { startFileServer } from "../sdk/file-server.ts";
import { startServer } from "../sdk/server.ts";

/** Only ends a run that hangs: far more than it needs on a busy machine. */
const AZ_MS_MAX = 10 * 60_000;
/** Not installed by the test, as it needs its own Python and hundreds of packages. */
const isThere = spawnSync("sh", ["-c", "command -v az"]).status === 0;
const skip = isThere ? false : "az is not installed: install Debian's azure-cli to run this";

/** Makes a function that runs `az storage` against one service and returns its output. */
async function azFor(t: TestContext, connection: string) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-az-"));
  t.after(() => rm(folder, { recursive: true }));
  const az = async (...args: string[]) => {
    const more = ["--connection-string", connection, "--only-show-errors", "--output", "json"];
    const { stdout } = await promisify(execFile)("az", ["storage", ...args, ...more], {
      env: { ...process.env, AZURE_CONFIG_DIR: folder },
      timeout: AZ_MS_MAX,
    });
    return stdout.trim() === "" ? null : JSON.parse(stdout);
  };
  return { az, folder };
}

test("az copies a blob whose source has a cloud host name", { skip }, async (t) => {
  const server = await startServer();
  t.after(() => server.close());
  const box = await server.makeContainer();
  await box.getBlockBlobClient("source").upload("hello", 5);
  const { az } = await azFor(t, `DefaultEndpointsProtocol=http;${server.connectionString}`);
  const names = ["--source-container", box.containerName, "--source-blob", "source"];
  const to = ["--destination-container", box.containerName, "--destination-blob", "copy"];
  await az("blob", "copy", "start", ...names, ...to);
  const copy = box.getBlobClient("copy");
  const { copySource = "" } = await copy.getProperties();
  assert.equal(new URL(copySource).hostname, `${server.account}.blob.core.windows.net`);
  assert.equal((await copy.downloadToBuffer()).toString("utf8"), "hello");
  assert.deepEqual(server.failures, []);
});

test("az creates a share, uploads a file, lists it and downloads it", { skip }, async (t) => {
  const server = await startFileServer();
  t.after(() => server.close());
  const { account, key, url } = server;
  const connection = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};FileEndpoint=${url};`;
  const { az, folder } = await azFor(t, connection);
  const source = join(folder, "source");
  const target = join(folder, "target");
  await writeFile(source, "hello");
  assert.equal((await az("share", "create", "--name", "box")).created, true);
  await az("directory", "create", "--share-name", "box", "--name", "dir");
  const there = ["--share-name", "box", "--path", "dir/file.txt"];
  await az("file", "upload", "--source", source, ...there);
  const listed = await az("file", "list", "--share-name", "box", "--path", "dir");
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    ["file.txt"],
  );
  await az("file", "download", "--dest", target, ...there);
  assert.equal(await readFile(target, "utf8"), "hello");
  await az("file", "delete", ...there);
  assert.equal((await az("share", "delete", "--name", "box")).deleted, true);
  assert.deepEqual(server.failures, []);
});

test("az works in a file system of Data Lake", { skip }, async (t) => {
  const server = await startDataLake();
  t.after(() => server.close());
  const { account, key, url } = server;
  const endpoints = `BlobEndpoint=${url};DfsEndpoint=${url};`;
  const connection = `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};${endpoints}`;
  const { az, folder } = await azFor(t, connection);
  const source = join(folder, "source");
  const target = join(folder, "target");
  await writeFile(source, "hello");
  const there = ["--file-system", "lake"];
  await az("fs", "create", "--name", "lake");
  await az("fs", "directory", "create", ...there, "--name", "d");
  await az("fs", "file", "upload", ...there, "--source", source, "--path", "d/f");
  await az("fs", "directory", "move", ...there, "--name", "d", "--new-directory", "lake/e");
  const listed = await az("fs", "file", "list", ...there);
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    ["e", "e/f"],
  );
  const shown = await az("fs", "access", "show", ...there, "--path", "e/f");
  assert.equal(shown.permissions, "rw-r-----");
  await az("fs", "file", "download", ...there, "--path", "e/f", "--destination", target);
  assert.equal(await readFile(target, "utf8"), "hello");
  await az("fs", "delete", "--name", "lake", "--yes");
  assert.deepEqual(server.failures, []);
});
