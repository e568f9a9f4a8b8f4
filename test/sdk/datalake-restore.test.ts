import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { type DataLakeServer, startDataLake } from "./datalake-server.ts";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(retaining());

async function retaining(): Promise<DataLakeServer> {
  const started = await startDataLake();
  await started.client().setProperties({ deleteRetentionPolicy: { enabled: true, days: 2 } });
  return started;
}

async function deletedPaths(filesystem: DataLakeFileSystemClient, prefix = "") {
  const found: { name: string; id: string }[] = [];
  for await (const path of filesystem.listDeletedPaths({ prefix })) {
    assert.equal(path.remainingRetentionDays, 2);
    found.push({ name: path.name, id: path.deletionId ?? "" });
  }
  return found;
}

test("deleted files and directories are listed and restored with what they held", async () => {
  const filesystem = await server.makeFilesystem();
  await filesystem.getFileClient("d/e/f").upload(Buffer.from("bytes"));
  await filesystem.getFileClient("g").upload(Buffer.from("first"));
  const { deletionId } = await filesystem.getDirectoryClient("d").delete(true);
  await filesystem.getFileClient("g").delete();
  const deleted = await deletedPaths(filesystem);
  assert.deepEqual(
    deleted.map(({ name }) => name),
    ["d", "g"],
  );
  assert.equal(deletionId, deleted[0]?.id);
  for (const { name, id } of deleted) {
    const { resourceType } = await filesystem.undeletePath(name, id);
    assert.equal(resourceType, name === "d" ? "directory" : "file");
  }
  assert.equal((await filesystem.getFileClient("d/e/f").readToBuffer()).toString(), "bytes");
  assert.equal((await filesystem.getFileClient("g").readToBuffer()).toString(), "first");
  assert.deepEqual(await deletedPaths(filesystem), []);
});

test("of several deleted files of a name, the chosen one comes back", async () => {
  const filesystem = await server.makeFilesystem();
  const file = filesystem.getFileClient("f");
  for (const text of ["one", "two"]) {
    await file.upload(Buffer.from(text));
    await file.delete();
  }
  const [first, second] = await deletedPaths(filesystem);
  assert.notEqual(first?.id, second?.id);
  await filesystem.undeletePath("f", first?.id ?? "");
  const text = (await file.readToBuffer()).toString();
  await refused(filesystem.undeletePath("f", second?.id ?? ""), 409, "BlobAlreadyExists");
  await file.delete();
  await filesystem.undeletePath("f", second?.id ?? "");
  assert.notEqual((await file.readToBuffer()).toString(), text);
  await refused(filesystem.undeletePath("f", "1"), 404, "BlobNotFound");
});
