import type { ContainerClient } from "@azure/storage-blob";
import { FileSystemAttributes } from "@azure/storage-file-share";
import { FIXTURE_MS, type FolderServer, serveFolder } from "./folder-server.ts";

/** Ids that must come back as they were given. */
const LEASE_ID = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const POLICY = {
  id: "policy",
  accessPolicy: {
    startsOn: new Date(Date.UTC(2026, 0, 1)),
    expiresOn: new Date(Date.UTC(2027, 0, 1)),
  },
};
const MINUTE_MS = 60_000;
const PAGE = 512;

/** Bytes that compress well, differ by seed, and are too many to be kept in a record. */
function bulk(bytes: number, seed: string): Buffer {
  return Buffer.alloc(bytes, `${seed} 0123456789 `);
}

/**
 * Fills a folder with every kind of object, in every state that outlives a restart, and calls
 * `work` while the last writes are in the log only.
 */
export async function withFilledFolder<T>(
  folder: string,
  work: (server: FolderServer) => Promise<T>,
): Promise<T> {
  const first = await serveFolder(folder, FIXTURE_MS);
  await fillBlobService(first);
  await fillQueues(first);
  await fillTables(first);
  await fillShares(first);
  await first.close();
  const second = await serveFolder(folder, first.clock.now());
  try {
    await fillLog(second);
    return await work(second);
  } finally {
    await second.close();
  }
}

/** Adds to each service, and changes what a checkpoint has copied into the database. */
async function fillLog({ blobs, queues, table, shares }: FolderServer): Promise<void> {
  const box = blobs.getContainerClient("box");
  await box.getBlockBlobClient("in-log").upload("in the log", 10);
  await box.getBlockBlobClient("in-extent").upload(bulk(50_000, "extent"), 50_000);
  await box.getAppendBlobClient("log").appendBlock(" four", 5);
  await box.getBlobClient("deep/er/name").delete();
  await queues.getQueueClient("jobs").sendMessage("in the log");
  await table("People").deleteEntity("p2", "2");
  const { rootDirectoryClient } = shares.getShareClient("docs");
  await rootDirectoryClient.getFileClient("in-log").uploadData(Buffer.from("in the log"));
}

async function fillBlobService({ blobs, clock }: FolderServer): Promise<void> {
  await blobs.setProperties({
    deleteRetentionPolicy: { enabled: true, days: 365 },
    cors: [
      {
        allowedOrigins: "https://a.example",
        allowedMethods: "GET,PUT",
        allowedHeaders: "x-ms-*",
        exposedHeaders: "*",
        maxAgeInSeconds: 60,
      },
    ],
  });
  const box = blobs.getContainerClient("box");
  await box.create({ metadata: { Kind: "full" } });
  await box.setAccessPolicy("blob", [
    { ...POLICY, accessPolicy: { ...POLICY.accessPolicy, permissions: "rl" } },
  ]);
  await fillBlockBlobs(box);
  clock.advance(MINUTE_MS);
  await fillPageAndAppendBlobs(box);
  clock.advance(MINUTE_MS);
  await fillHistory(box);
  await fillLeases(box);
  const root = blobs.getContainerClient("$root");
  await root.create();
  await root.getBlockBlobClient("robots.txt").upload("none", 4);
  const gone = blobs.getContainerClient("gone");
  await gone.create({ metadata: { why: "deleted" } });
  await gone.getBlockBlobClient("inside").upload("deleted with it", 15);
  await gone.delete();
  const leased = blobs.getContainerClient("leased");
  await leased.create();
  await leased.getBlobLeaseClient(LEASE_ID).acquireLease(-1);
}

async function fillBlockBlobs(box: ContainerClient): Promise<void> {
  await box.getBlockBlobClient("small").upload("small", 5, {
    blobHTTPHeaders: {
      blobContentType: "text/plain",
      blobContentEncoding: "identity",
      blobContentLanguage: "de",
      blobContentDisposition: "inline",
      blobCacheControl: "no-cache",
    },
    metadata: { Eins: "1", zwei: "two" },
    tags: { colour: "blue", "with blank": "x y" },
    tier: "Cool",
  });
  await box.getBlockBlobClient("bulk").upload(bulk(100_000, "bulk"), 100_000);
  await box.getBlockBlobClient("empty").upload("", 0);
  const blocks = box.getBlockBlobClient("blocks");
  const ids = ["one", "two", "three"].map((id) => Buffer.from(id.padEnd(5)).toString("base64"));
  for (const id of ids) await blocks.stageBlock(id, bulk(30_000, id), 30_000);
  await blocks.commitBlockList(ids);
  await blocks.stageBlock(Buffer.from("stage").toString("base64"), "not committed", 13);
  await box.getBlockBlobClient("never").stageBlock("AAAA", "no blob yet", 11);
  for (const name of ["deep/er/name", "mit Blank ", "äöü/😀", "a%2Fb", "UPPER"]) {
    await box.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
  }
  const archived = box.getBlockBlobClient("archived");
  await archived.upload("cold", 4, { tier: "Archive" });
  const rehydrating = box.getBlockBlobClient("rehydrating");
  await rehydrating.upload("thawing", 7, { tier: "Archive" });
  await rehydrating.setAccessTier("Hot", { rehydratePriority: "High" });
  const copy = box.getBlockBlobClient("copy");
  const poller = await copy.beginCopyFromURL(box.getBlobClient("bulk").url, {
    metadata: { b: "c" },
  });
  await poller.pollUntilDone();
}

async function fillPageAndAppendBlobs(box: ContainerClient): Promise<void> {
  const page = box.getPageBlobClient("page");
  await page.create(1024 * 1024, { blobSequenceNumber: 7, metadata: { kind: "page" } });
  await page.uploadPages(bulk(PAGE, "first"), 0, PAGE);
  await page.uploadPages(bulk(64 * 1024, "second"), 128 * 1024, 64 * 1024);
  await page.createSnapshot();
  await page.uploadPages(bulk(PAGE, "third"), PAGE, PAGE);
  await page.clearPages(128 * 1024, 4 * PAGE);
  const log = box.getAppendBlobClient("log");
  await log.create();
  for (const text of ["one ", "two ", "three"]) await log.appendBlock(text, text.length);
  const sealed = box.getAppendBlobClient("sealed");
  await sealed.create();
  await sealed.appendBlock(bulk(40_000, "sealed"), 40_000);
  await sealed.seal();
}

async function fillHistory(box: ContainerClient): Promise<void> {
  const versions = box.getBlockBlobClient("versions");
  await versions.upload("first", 5, { metadata: { at: "1" }, tags: { at: "1" } });
  await versions.upload(bulk(20_000, "second"), 20_000, { metadata: { at: "2" } });
  await versions.createSnapshot({ metadata: { of: "second" } });
  await versions.setMetadata({ at: "3" });
  const deleted = box.getBlockBlobClient("deleted");
  await deleted.upload("deleted", 7);
  await deleted.delete();
  const erased = box.getBlockBlobClient("erased");
  await erased.upload("erased", 6);
  const { snapshot = "" } = await erased.createSnapshot();
  await erased.withSnapshot(snapshot).delete();
}

async function fillLeases(box: ContainerClient): Promise<void> {
  for (const name of ["lease-held", "lease-timed", "lease-broken"]) {
    await box.getBlockBlobClient(name).upload(name, name.length);
  }
  await box.getBlobClient("lease-held").getBlobLeaseClient(LEASE_ID).acquireLease(-1);
  await box.getBlobClient("lease-timed").getBlobLeaseClient(LEASE_ID).acquireLease(60);
  const broken = box.getBlobClient("lease-broken").getBlobLeaseClient(LEASE_ID);
  await broken.acquireLease(-1);
  await broken.breakLease(0);
}

async function fillQueues({ queues }: FolderServer): Promise<void> {
  await queues.setProperties({
    hourMetrics: {
      version: "1.0",
      enabled: true,
      includeAPIs: true,
      retentionPolicy: { enabled: true, days: 3 },
    },
  });
  const queue = queues.getQueueClient("jobs");
  await queue.create({ metadata: { Team: "a" } });
  await queue.setAccessPolicy([
    { ...POLICY, accessPolicy: { ...POLICY.accessPolicy, permissions: "raup" } },
  ]);
  await queue.sendMessage("first", { messageTimeToLive: -1 });
  await queue.sendMessage("second", { messageTimeToLive: 86_400 });
  await queue.sendMessage("later", { visibilityTimeout: 600 });
  await queue.receiveMessages({ numberOfMessages: 1, visibilityTimeout: 300 });
  await queues.getQueueClient("empty").create();
}

async function fillTables({ tables, table }: FolderServer): Promise<void> {
  await tables.setProperties({ cors: [] });
  const people = table("People");
  await people.createTable();
  await people.setAccessPolicy([
    {
      id: POLICY.id,
      accessPolicy: {
        start: POLICY.accessPolicy.startsOn,
        expiry: POLICY.accessPolicy.expiresOn,
        permission: "raud",
      },
    },
  ]);
  await people.createEntity({
    partitionKey: "types",
    rowKey: "all",
    text: "äöü 😀",
    empty: "",
    yes: true,
    int: 42,
    long: { type: "Int64", value: "-9007199254740993" },
    double: 1.5,
    infinite: { type: "Double", value: "Infinity" },
    nan: { type: "Double", value: "NaN" },
    when: { type: "DateTime", value: "2026-11-18T12:34:56.1234567Z" },
    guid: { type: "Guid", value: "12345678-1234-4234-8234-123456789abc" },
    bytes: new Uint8Array([0, 1, 254, 255]),
  });
  for (let row = 0; row < 30; row++) {
    await people.createEntity({ partitionKey: `p${row % 3}`, rowKey: String(row), row });
  }
  await people.updateEntity({ partitionKey: "p0", rowKey: "0", row: -1, more: "merged" }, "Merge");
  await people.deleteEntity("p1", "1");
  await table("Empty").createTable();
}

function attributes(text: string): FileSystemAttributes {
  return FileSystemAttributes.parse(text);
}

const SDDL = "O:SYG:BAD:P(A;;FA;;;SY)(A;;FR;;;BU)";

async function fillShares({ shares, clock }: FolderServer): Promise<void> {
  await shares.setProperties({ cors: [] });
  const share = shares.getShareClient("docs");
  await share.create({ quota: 10, metadata: { Kind: "share" } });
  await share.setAccessPolicy([
    { ...POLICY, accessPolicy: { ...POLICY.accessPolicy, permissions: "rl" } },
  ]);
  const { directoryClient: folder } = await share.createDirectory("Ordner", {
    metadata: { a: "b" },
    fileAttributes: attributes("Hidden|Directory"),
  });
  await folder.createSubdirectory("inner");
  const file = share.rootDirectoryClient.getFileClient("File.txt");
  await file.create(100_000, {
    fileHttpHeaders: { fileContentType: "text/plain", fileContentLanguage: "de" },
    metadata: { m: "n" },
    fileAttributes: attributes("ReadOnly|Archive"),
    filePermission: SDDL,
    creationTime: new Date(Date.UTC(2020, 1, 2, 3, 4, 5)),
    lastWriteTime: new Date(Date.UTC(2021, 1, 2, 3, 4, 5)),
  });
  await file.setProperties({ fileAttributes: attributes("Archive") });
  await file.uploadRange(bulk(1_000, "range"), 0, 1_000);
  await file.uploadRange(bulk(30_000, "later"), 50_000, 30_000);
  await share.createSnapshot({ metadata: { of: "docs" } });
  clock.advance(MINUTE_MS);
  await file.clearRange(512, 512);
  await folder.getFileClient("nested").uploadData(Buffer.from("nested"));
  const leased = folder.getFileClient("leased");
  await leased.create(10);
  await leased.getShareLeaseClient(LEASE_ID).acquireLease();
  const gone = shares.getShareClient("gone");
  await gone.create();
  await gone.delete();
  const held = shares.getShareClient("held");
  await held.create();
  await held.getShareLeaseClient(LEASE_ID).acquireLease(-1);
}
