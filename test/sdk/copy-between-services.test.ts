import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import {
  type ShareClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { systemClock } from "../../src/base/clock.ts";
import { KIB } from "../../src/base/limits.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { readCommandLine } from "../../src/main/command-line.ts";
import { type Serving, serve } from "../../src/main/serve.ts";
import { readSettings } from "../../src/main/settings.ts";
import { ACCOUNT, CREDENTIAL, KEY } from "./server.ts";

let serving: Serving;
let box: ContainerClient;
let share: ShareClient;
const failures: string[] = [];

before(async () => {
  const asked = readCommandLine([...ANY_PORTS, "--inMemoryPersistence", "--silent"], {});
  assert.ok(asked.kind === "start");
  serving = await serve(readSettings(asked.options), {
    clock: systemClock,
    software: "Lazuli/test",
    out: () => {},
    err: (line) => void failures.push(line),
    failStop: (error) => void failures.push(error.message),
    schedule: () => ({ cancel: () => {} }),
  });
  const at = (name: "blob" | "file") => `${serving.origins.get(name)}/${ACCOUNT}`;
  const once = { retryOptions: { maxTries: 1 } };
  box = new BlobServiceClient(at("blob"), CREDENTIAL, once).getContainerClient("box");
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  share = new ShareServiceClient(at("file"), credential, once).getShareClient("share");
  await box.create();
  await share.create();
});

after(async () => {
  await serving.stop();
  assert.deepEqual(failures, []);
});

const SIZES = [0, 5, 100 * KIB];

for (const size of SIZES) {
  test(`a block blob of ${size} bytes becomes a file, which changes independently`, async () => {
    const bytes = randomBytes(size);
    const blob = box.getBlockBlobClient(`blob${size}`);
    await blob.upload(bytes, size, {
      metadata: { colour: "green" },
      blobHTTPHeaders: { blobContentType: "text/x-blob" },
    });
    const file = share.rootDirectoryClient.getFileClient(`of-blob${size}`);
    assert.equal((await file.startCopyFromURL(blob.url)).copyStatus, "success");
    const found = await file.getProperties();
    assert.deepEqual([found.metadata, found.contentType], [{ colour: "green" }, "text/x-blob"]);
    assert.ok((await file.downloadToBuffer(0, size)).equals(bytes) || size === 0);
    assert.equal(found.contentLength, size);
    if (size === 0) return;
    await file.uploadRange("mine", 0, 4);
    assert.ok((await blob.downloadToBuffer()).equals(bytes));
  });

  test(`a file of ${size} bytes becomes a block blob, which stays when the file changes`, async () => {
    const bytes = randomBytes(size);
    const file = share.rootDirectoryClient.getFileClient(`file${size}`);
    await file.create(size, { metadata: { colour: "red" } });
    if (size > 0) await file.uploadRange(bytes, 0, size);
    const blob = box.getBlockBlobClient(`of-file${size}`);
    const poller = await blob.beginCopyFromURL(file.url);
    assert.equal((await poller.pollUntilDone()).copyStatus, "success");
    const found = await blob.getProperties();
    assert.deepEqual([found.blobType, found.contentLength], ["BlockBlob", size]);
    assert.deepEqual(found.metadata, { colour: "red" });
    if (size > 0) await file.uploadRange("mine", 0, 4);
    assert.ok((await blob.downloadToBuffer()).equals(bytes));
  });
}

test("blobs of many blocks, and page blobs, become files", async () => {
  const blocks = box.getBlockBlobClient("blocks");
  const ids: string[] = [];
  const parts: Buffer[] = [];
  for (let at = 0; at < 20; at++) {
    const id = Buffer.from(`block${String(at).padStart(3, "0")}`).toString("base64");
    const part = randomBytes(20 * KIB);
    await blocks.stageBlock(id, part, part.length);
    ids.push(id);
    parts.push(part);
  }
  await blocks.commitBlockList(ids);
  const file = share.rootDirectoryClient.getFileClient("of-blocks");
  await file.startCopyFromURL(blocks.url);
  assert.ok((await file.downloadToBuffer()).equals(Buffer.concat(parts)));
  const pages = box.getPageBlobClient("pages");
  await pages.create(8 * KIB);
  await pages.uploadPages(Buffer.alloc(512, 7), 1024, 512);
  const sparse = share.rootDirectoryClient.getFileClient("of-pages");
  await sparse.startCopyFromURL(pages.url);
  const { rangeList } = await sparse.getRangeList();
  assert.deepEqual(rangeList, [{ start: 1024, end: 1535 }]);
  await pages.clearPages(1024, 512);
  assert.equal((await sparse.downloadToBuffer(1024, 512))[0], 7);
});

test("ranges and blocks are written from the other service", async () => {
  const bytes = randomBytes(100 * KIB);
  const blob = box.getBlockBlobClient("for-ranges");
  await blob.upload(bytes, bytes.length);
  const file = share.rootDirectoryClient.getFileClient("from-blob");
  await file.create(bytes.length);
  await file.uploadRangeFromURL(blob.url, 1_000, 0, 50_000);
  assert.ok((await file.downloadToBuffer(0, 50_000)).equals(bytes.subarray(1_000, 51_000)));
  const made = box.getBlockBlobClient("from-file");
  await made.stageBlockFromURL(Buffer.from("one").toString("base64"), file.url, 0, 50_000);
  await made.commitBlockList([Buffer.from("one").toString("base64")]);
  assert.ok((await made.downloadToBuffer()).equals(bytes.subarray(1_000, 51_000)));
});
