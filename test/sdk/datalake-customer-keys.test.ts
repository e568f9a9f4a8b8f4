import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { DataLakeServiceClient, type FileReadResponse } from "@azure/storage-file-datalake";
import { SECURE, TRUSTING, testKey } from "./customer-keys.ts";
import { DATALAKE_CREDENTIAL, startDataLake } from "./datalake-server.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile } from "./server.ts";

const server = await forThisFile(startDataLake(SECURE));
const lake = new DataLakeServiceClient(server.url, DATALAKE_CREDENTIAL, TRUSTING);
const blobs = new BlobServiceClient(server.url, CREDENTIAL, TRUSTING);

const KEY = testKey(1);
const OTHER = testKey(2);
const WITH_KEY = { customerProvidedKey: KEY.info };
const WITH_OTHER = { customerProvidedKey: OTHER.info };

const USES = "BlobUsesCustomerSpecifiedEncryption";
const USES_NOT = "BlobDoesNotUseCustomerSpecifiedEncryption";
const MISMATCH = "BlobCustomerSpecifiedEncryptionMismatch";

const tree = lake.getFileSystemClient("tree");
await tree.create();
// The Blob protocol makes a flat one.
await blobs.getContainerClient("flat").create();

async function bytesOf(answer: FileReadResponse): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer.readableStreamBody ?? []) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

for (const name of ["tree", "flat"]) {
  const filesystem = lake.getFileSystemClient(name);

  test(`${name}: a file is created, appended to, flushed and read with its key`, async () => {
    const file = filesystem.getFileClient("a/b/file");
    const metadata = { colour: "green" };
    const created = await file.create({ ...WITH_KEY, metadata });
    assert.equal(created.isServerEncrypted, true);
    assert.equal(created.encryptionKeySha256, KEY.sha256);
    const parts = [randomBytes(10), randomBytes(100_000), randomBytes(33)];
    let at = 0;
    for (const part of parts) {
      const appended = await file.append(part, at, part.length, WITH_KEY);
      assert.equal(appended.encryptionKeySha256, KEY.sha256);
      at += part.length;
    }
    await refused(file.append("x", at, 1), 409, USES);
    await refused(file.append("x", at, 1, WITH_OTHER), 409, MISMATCH);
    await refused(file.flush(at), 409, USES);
    await refused(file.flush(at, WITH_OTHER), 409, MISMATCH);
    const flushed = await file.flush(at, WITH_KEY);
    assert.equal(flushed.encryptionKeySha256, KEY.sha256);

    await refused(file.read(), 409, USES);
    await refused(file.read(0, 1, WITH_OTHER), 409, MISMATCH);
    await refused(file.getProperties(), 409, USES);
    const read = await file.read(0, undefined, WITH_KEY);
    assert.deepEqual(await bytesOf(read), Buffer.concat(parts));
    assert.equal(read.encryptionKeySha256, KEY.sha256);
    assert.deepEqual(read.metadata, metadata);
    const part = await file.read(5, 20, WITH_KEY);
    assert.deepEqual(await bytesOf(part), Buffer.concat(parts).subarray(5, 25));
    const found = await file.getProperties(WITH_KEY);
    assert.equal(found.encryptionKeySha256, KEY.sha256);
    assert.deepEqual(found.metadata, metadata);
    assert.equal(await file.exists(), true);
    assert.equal(await file.exists(WITH_KEY), true);

    const set = await file.setMetadata({ colour: "red" }, WITH_KEY);
    assert.equal(set.encryptionKeySha256, KEY.sha256);
    await refused(file.setMetadata({ colour: "blue" }), 409, USES);
    await file.setHttpHeaders({ contentType: "text/x" });
    assert.deepEqual((await file.getProperties(WITH_KEY)).metadata, { colour: "red" });
  });

  test(`${name}: a renamed file keeps its key`, async () => {
    const file = filesystem.getFileClient("one");
    await file.upload(Buffer.from("Hello World"), WITH_KEY);
    await file.move("two");
    const two = filesystem.getFileClient("two");
    await refused(two.read(), 409, USES);
    assert.equal(String(await two.readToBuffer(undefined, undefined, WITH_KEY)), "Hello World");
  });

  test(`${name}: uploads in many parts are encrypted`, async () => {
    const file = filesystem.getFileClient("parts");
    const bytes = randomBytes(300_001);
    await file.upload(bytes, { ...WITH_KEY, chunkSize: 70_000, singleUploadThreshold: 1_000 });
    assert.deepEqual(await file.readToBuffer(0, undefined, WITH_KEY), bytes);
    await refused(file.readToBuffer(), 409, USES);
  });

  test(`${name}: a file without a key takes no data with one`, async () => {
    const file = filesystem.getFileClient("plain");
    await file.upload(Buffer.from("text"));
    await refused(file.append("x", 4, 1, WITH_KEY), 409, USES_NOT);
    await refused(file.flush(4, WITH_KEY), 409, USES_NOT);
    await refused(file.read(0, 1, WITH_KEY), 409, USES_NOT);
    await refused(file.getProperties(WITH_KEY), 409, USES_NOT);
    await refused(file.setMetadata({ a: "b" }, WITH_KEY), 409, USES_NOT);
  });

  test(`${name}: a directory may have a key for its metadata, and is one without it`, async () => {
    const directory = filesystem.getDirectoryClient("directory");
    const created = await directory.create({ ...WITH_KEY, metadata: { colour: "green" } });
    assert.equal(created.encryptionKeySha256, KEY.sha256);
    await refused(directory.getProperties(), 409, USES);
    const found = await directory.getProperties(WITH_KEY);
    assert.equal(found.metadata?.colour, "green");
    await directory.getFileClient("file").upload(Buffer.from("text"));
    const listed: string[] = [];
    for await (const path of filesystem.listPaths({ path: "directory" })) {
      listed.push(String(path.name));
    }
    assert.deepEqual(listed, ["directory/file"]);
  });
}

test("what one protocol wrote with a key, the other reads with it", async () => {
  const box = blobs.getContainerClient("tree");
  await tree.getFileClient("lake").upload(Buffer.from("of Data Lake"), WITH_KEY);
  await box.getBlockBlobClient("blob").upload("of Blob", 7, WITH_KEY);
  await refused(box.getBlockBlobClient("lake").download(), 409, USES);
  const lakeBytes = await box.getBlockBlobClient("lake").downloadToBuffer(0, undefined, WITH_KEY);
  assert.equal(String(lakeBytes), "of Data Lake");
  const blobBytes = await tree.getFileClient("blob").readToBuffer(0, undefined, WITH_KEY);
  assert.equal(String(blobBytes), "of Blob");
});
