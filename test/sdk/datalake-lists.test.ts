import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { startDataLake } from "./datalake-server.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startDataLake({ engine: "embedded" }));

async function namesIn(filesystem: DataLakeFileSystemClient, path: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of filesystem.listPaths({ path })) names.push(String(name));
  return names;
}

test("a list that was sent before shows the new names of renamed directories", async () => {
  const filesystem = await server.makeFilesystem();
  const container = server.blobClient().getContainerClient(filesystem.name);
  const leaves = Array.from({ length: 400 }, (_, at) => `file-${String(at).padStart(3, "0")}`);
  await Promise.all(
    leaves.map((leaf) => container.getBlockBlobClient(`a/b/${leaf}`).upload("x", 1)),
  );
  const expected = (path: string) => leaves.map((leaf) => `${path}/${leaf}`);
  assert.deepEqual(await namesIn(filesystem, "a/b"), expected("a/b"));
  assert.deepEqual(await namesIn(filesystem, "a/b"), expected("a/b"));
  await filesystem.getDirectoryClient("a/b").move("a/c");
  assert.deepEqual(await namesIn(filesystem, "a/c"), expected("a/c"));
  await filesystem.getDirectoryClient("a").move("z");
  assert.deepEqual(await namesIn(filesystem, "z/c"), expected("z/c"));
  const blobs: string[] = [];
  for await (const { name } of container.listBlobsFlat({ prefix: "z/c/" })) blobs.push(name);
  assert.deepEqual(blobs, expected("z/c"));
});
