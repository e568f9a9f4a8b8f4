import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import { type BlobDownloadResponseParsed, BlobServiceClient } from "@azure/storage-blob";
import { SECURE, TRUSTING, testKey } from "./customer-keys.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer(SECURE));
const service = new BlobServiceClient(server.url, CREDENTIAL, TRUSTING);

const KEY = testKey(1);
const OTHER = testKey(2);
const WITH_KEY = { customerProvidedKey: KEY.info };
const WITH_OTHER = { customerProvidedKey: OTHER.info };

const USES = "BlobUsesCustomerSpecifiedEncryption";
const USES_NOT = "BlobDoesNotUseCustomerSpecifiedEncryption";
const MISMATCH = "BlobCustomerSpecifiedEncryptionMismatch";

const box = service.getContainerClient("box");
await box.create();
let made = 0;
const newBlob = () => box.getBlobClient(`blob${++made}`);

async function bytesOf(answer: BlobDownloadResponseParsed): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer.readableStreamBody ?? []) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

const idOf = (text: string) => Buffer.from(text).toString("base64");

for (const length of [0, 11, 5_000, 70_000, 3_000_000]) {
  test(`a blob of ${length} bytes is read with the key that it was written with`, async () => {
    const blob = newBlob().getBlockBlobClient();
    const bytes = randomBytes(length);
    const metadata = { colour: "green" };
    const put = await blob.upload(bytes, length, { ...WITH_KEY, metadata });
    assert.equal(put.isServerEncrypted, true);
    assert.equal(put.encryptionKeySha256, KEY.sha256);
    const md5 = createHash("md5").update(bytes).digest();
    assert.deepEqual(Buffer.from(put.contentMD5 ?? []), md5);

    const got = await blob.download(0, undefined, WITH_KEY);
    assert.deepEqual(await bytesOf(got), bytes);
    assert.equal(got.encryptionKeySha256, KEY.sha256);
    assert.deepEqual(got.metadata, metadata);
    assert.deepEqual(Buffer.from(got.contentMD5 ?? []), md5);
    const found = await blob.getProperties(WITH_KEY);
    assert.equal(found.encryptionKeySha256, KEY.sha256);
    assert.equal(found.contentLength, length);
    assert.deepEqual(found.metadata, metadata);

    await refused(blob.download(), 409, USES);
    await refused(blob.getProperties(), 409, USES);
    await refused(blob.download(0, undefined, WITH_OTHER), 409, MISMATCH);
    await refused(blob.getProperties(WITH_OTHER), 409, MISMATCH);
    // Clients take both refusals for a blob that exists.
    assert.equal(await blob.exists(), true);
    assert.equal(await blob.exists(WITH_KEY), true);
  });
}

test("a part of a blob is decrypted from any offset, with digests of what the client sees", async () => {
  const blob = newBlob().getBlockBlobClient();
  const bytes = randomBytes(300_000);
  await blob.upload(bytes, bytes.length, WITH_KEY);
  for (const from of [0, 1, 17, 65_535, 65_536, 200_001]) {
    const part = bytes.subarray(from, from + 1_000);
    const got = await blob.download(from, 1_000, { ...WITH_KEY, rangeGetContentMD5: true });
    assert.deepEqual(await bytesOf(got), part);
    assert.deepEqual(Buffer.from(got.contentMD5 ?? []), createHash("md5").update(part).digest());
  }
});

test("a blob without a key refuses requests with one", async () => {
  const blob = newBlob().getBlockBlobClient();
  await blob.upload("text", 4);
  await refused(blob.download(0, undefined, WITH_KEY), 409, USES_NOT);
  await refused(blob.getProperties(WITH_KEY), 409, USES_NOT);
  await refused(blob.setMetadata({ a: "b" }, WITH_KEY), 409, USES_NOT);
  await refused(blob.createSnapshot(WITH_KEY), 409, USES_NOT);
  assert.equal(await blob.exists(WITH_KEY), true);
});

test("who writes a blob anew chooses its key anew", async () => {
  const blob = newBlob().getBlockBlobClient();
  await blob.upload("one", 3, WITH_KEY);
  await blob.upload("two", 3, WITH_OTHER);
  assert.equal(String(await bytesOf(await blob.download(0, undefined, WITH_OTHER))), "two");
  await refused(blob.download(0, undefined, WITH_KEY), 409, MISMATCH);
  await blob.upload("three", 5);
  assert.equal(String(await bytesOf(await blob.download())), "three");
});

test("metadata is encrypted with the blob, and a snapshot has the key of its blob", async () => {
  const blob = newBlob().getBlockBlobClient();
  await blob.upload("text", 4, WITH_KEY);
  const set = await blob.setMetadata({ colour: "green" }, WITH_KEY);
  assert.equal(set.encryptionKeySha256, KEY.sha256);
  await refused(blob.setMetadata({ colour: "red" }), 409, USES);
  await refused(blob.setMetadata({ colour: "red" }, WITH_OTHER), 409, MISMATCH);
  await refused(blob.createSnapshot(), 409, USES);
  const plain = await blob.createSnapshot(WITH_KEY);
  const changed = await blob.createSnapshot({ ...WITH_KEY, metadata: { colour: "blue" } });
  // Neither properties nor leases, tags and deletion take a key.
  await blob.setHTTPHeaders({ blobContentType: "text/x" });
  await blob.setTags({ a: "b" });
  const lease = blob.getBlobLeaseClient();
  await lease.acquireLease(15);
  await lease.releaseLease();
  await blob.upload("other", 5);
  for (const [snapshot, colour] of [
    [plain, "green"],
    [changed, "blue"],
  ] as const) {
    const then = blob.withSnapshot(snapshot.snapshot ?? "");
    await refused(then.download(), 409, USES);
    const got = await then.download(0, undefined, WITH_KEY);
    assert.equal(String(await bytesOf(got)), "text");
    assert.deepEqual(got.metadata, { colour });
  }
  await blob.delete({ deleteSnapshots: "include" });
});

test("blocks and their list have one key", async () => {
  const blob = newBlob().getBlockBlobClient();
  const staged = await blob.stageBlock(idOf("1"), "Hello", 5, WITH_KEY);
  assert.equal(staged.encryptionKeySha256, KEY.sha256);
  await blob.stageBlock(idOf("2"), " World", 6, WITH_OTHER);
  const ids = [idOf("1"), idOf("2")];
  await refused(blob.commitBlockList(ids, WITH_KEY), 409, MISMATCH);
  await refused(blob.commitBlockList(ids), 409, USES);
  assert.equal((await blob.getBlockList("uncommitted")).uncommittedBlocks?.length, 2);
  await blob.stageBlock(idOf("2"), " World", 6, WITH_KEY);
  const done = await blob.commitBlockList(ids, WITH_KEY);
  assert.equal(done.encryptionKeySha256, KEY.sha256);
  assert.equal(String(await bytesOf(await blob.download(0, undefined, WITH_KEY))), "Hello World");
  // Blocks of the blob itself have its key.
  await blob.stageBlock(idOf("3"), "!", 1);
  await refused(blob.commitBlockList([idOf("3"), idOf("1")]), 409, USES);
  await refused(blob.commitBlockList([idOf("3")], WITH_KEY), 409, USES_NOT);
  await blob.stageBlock(idOf("3"), "!", 1, WITH_KEY);
  await blob.commitBlockList([...ids, idOf("3")], WITH_KEY);
  assert.equal(String(await bytesOf(await blob.download(0, undefined, WITH_KEY))), "Hello World!");
});

test("every block that is appended has the key of the blob", async () => {
  const blob = newBlob().getAppendBlobClient();
  const created = await blob.create({ ...WITH_KEY, metadata: { colour: "green" } });
  assert.equal(created.encryptionKeySha256, KEY.sha256);
  const parts: Buffer[] = [];
  for (let at = 0; at < 20; at++) {
    const part = randomBytes(1 + at * 997);
    parts.push(part);
    const done = await blob.appendBlock(part, part.length, WITH_KEY);
    assert.equal(done.encryptionKeySha256, KEY.sha256);
  }
  await refused(blob.appendBlock("x", 1), 409, USES);
  await refused(blob.appendBlock("x", 1, WITH_OTHER), 409, MISMATCH);
  const got = await blob.download(0, undefined, WITH_KEY);
  assert.deepEqual(await bytesOf(got), Buffer.concat(parts));
  assert.deepEqual(got.metadata, { colour: "green" });
});

test("pages have the key of their blob, and the size changes without it", async () => {
  const blob = newBlob().getPageBlobClient();
  const created = await blob.create(2_048, WITH_KEY);
  assert.equal(created.encryptionKeySha256, KEY.sha256);
  const pages = "a".repeat(512) + "b".repeat(512);
  const done = await blob.uploadPages(pages, 512, 1_024, WITH_KEY);
  assert.equal(done.encryptionKeySha256, KEY.sha256);
  await refused(blob.uploadPages(pages, 0, 1_024), 409, USES);
  await refused(blob.uploadPages(pages, 0, 1_024, WITH_OTHER), 409, MISMATCH);
  await refused(blob.clearPages(0, 512), 409, USES);
  await blob.clearPages(512, 512, WITH_KEY);
  const got = await bytesOf(await blob.download(0, 1_536, WITH_KEY));
  assert.equal(String(got), "\0".repeat(1_024) + "b".repeat(512));
  await blob.resize(4_096);
  const { contentLength } = await blob.getProperties(WITH_KEY);
  assert.equal(contentLength, 4_096);
});

test("lists show the hash of a key, and of encrypted metadata only that there is some", async () => {
  const listed = service.getContainerClient("listed");
  await listed.create();
  const metadata = { colour: "green" };
  await listed.getBlockBlobClient("locked").upload("x", 1, { ...WITH_KEY, metadata });
  await listed.getBlockBlobClient("open").upload("x", 1, { metadata });
  const found = new Map<string, unknown[]>();
  for await (const item of listed.listBlobsFlat({ includeMetadata: true })) {
    const { customerProvidedKeySha256, serverEncrypted } = item.properties;
    found.set(item.name, [customerProvidedKeySha256, serverEncrypted, item.metadata]);
  }
  assert.deepEqual(found.get("locked"), [KEY.sha256, true, { $: { Encrypted: "true" } }]);
  assert.deepEqual(found.get("open"), [undefined, true, metadata]);
});

test("bytes from a URL are encrypted with the key of the request, and need that of the source", async () => {
  await box.setAccessPolicy("blob");
  const open = newBlob().getBlockBlobClient();
  const locked = newBlob().getBlockBlobClient();
  await open.upload("HelloWorld", 10);
  await locked.upload("HelloWorld", 10, WITH_OTHER);
  const sourceCustomerProvidedKey = OTHER.info;

  const blocks = newBlob().getBlockBlobClient();
  const staged = await blocks.stageBlockFromURL(idOf("1"), open.url, 0, 4, WITH_KEY);
  assert.equal(staged.encryptionKeySha256, KEY.sha256);
  await refused(
    blocks.stageBlockFromURL(idOf("2"), locked.url, 4, 6, WITH_KEY),
    409,
    "CannotVerifyCopySource",
  );
  await blocks.stageBlockFromURL(idOf("2"), locked.url, 4, 6, {
    ...WITH_KEY,
    sourceCustomerProvidedKey,
  });
  await blocks.commitBlockList([idOf("1"), idOf("2")], WITH_KEY);
  assert.equal(String(await bytesOf(await blocks.download(0, undefined, WITH_KEY))), "HelloWorld");

  const whole = newBlob().getBlockBlobClient();
  const both = { ...WITH_KEY, sourceCustomerProvidedKey };
  const done = await whole.syncUploadFromURL(locked.url, both);
  assert.equal(done.encryptionKeySha256, KEY.sha256);
  assert.equal(String(await bytesOf(await whole.download(0, undefined, WITH_KEY))), "HelloWorld");
  await whole.syncUploadFromURL(locked.url, { sourceCustomerProvidedKey });
  assert.equal(String(await bytesOf(await whole.download())), "HelloWorld");

  const log = newBlob().getAppendBlobClient();
  await log.create(WITH_KEY);
  await log.appendBlockFromURL(locked.url, 0, 5, both);
  await log.appendBlockFromURL(open.url, 5, 5, WITH_KEY);
  await refused(log.appendBlockFromURL(open.url, 5, 5), 409, USES);
  assert.equal(String(await bytesOf(await log.download(0, undefined, WITH_KEY))), "HelloWorld");

  const pages = newBlob().getPageBlobClient();
  const source = newBlob().getPageBlobClient();
  await source.create(1_024, WITH_OTHER);
  await source.uploadPages("p".repeat(512), 512, 512, WITH_OTHER);
  await pages.create(512, WITH_KEY);
  await pages.uploadPagesFromURL(source.url, 512, 0, 512, both);
  assert.equal(String(await bytesOf(await pages.download(0, 512, WITH_KEY))), "p".repeat(512));
});

test("a blob with a key is no source of copies that take none", async () => {
  await box.setAccessPolicy("blob");
  const locked = newBlob().getBlockBlobClient();
  await locked.upload("text", 4, WITH_KEY);
  const copy = newBlob();
  const code = "CannotVerifyCopySource";
  await refused(copy.beginCopyFromURL(locked.url), 409, code);
  await refused(copy.syncCopyFromURL(locked.url), 409, code);
  assert.equal(await copy.exists(), false);
});
