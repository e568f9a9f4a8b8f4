import { AzureNamedKeyCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import {
  StorageSharedKeyCredential as QueueKeyCredential,
  QueueServiceClient,
} from "@azure/storage-queue";
import { ACCOUNT, KEY } from "../sdk/server.ts";

export interface AccountUrls {
  readonly blob: string;
  readonly queue: string;
  readonly table: string;
}

const POLICY = {
  id: "readers",
  accessPolicy: {
    startsOn: new Date("2020-01-01T00:00:00Z"),
    expiresOn: new Date("2099-01-01T00:00:00Z"),
  },
};
const HTTP = { allowInsecureConnection: true };
const DAY_S = 86_400;

export function blobsAt(url: string): BlobServiceClient {
  return new BlobServiceClient(url, new StorageSharedKeyCredential(ACCOUNT, KEY));
}

export function queuesAt(url: string): QueueServiceClient {
  return new QueueServiceClient(url, new QueueKeyCredential(ACCOUNT, KEY));
}

export function tablesAt(url: string): TableServiceClient {
  return new TableServiceClient(url, new AzureNamedKeyCredential(ACCOUNT, KEY), HTTP);
}

export function tableAt(url: string, name: string): TableClient {
  return new TableClient(url, name, new AzureNamedKeyCredential(ACCOUNT, KEY), HTTP);
}

/** Writes one of everything that the emulator and we store. */
export async function fillAccount(urls: AccountUrls): Promise<void> {
  await fillBlobs(urls.blob);
  await fillQueues(urls.queue);
  await fillTables(urls.table);
}

async function fillBlobs(url: string): Promise<void> {
  const service = blobsAt(url);
  await service.setProperties({
    cors: [
      {
        allowedOrigins: "https://example.org",
        allowedMethods: "GET,PUT",
        allowedHeaders: "x-ms-meta-*",
        exposedHeaders: "x-ms-*",
        maxAgeInSeconds: 60,
      },
    ],
  });
  const box = service.getContainerClient("box");
  await box.create({ metadata: { made: "before", Case: "Kept" }, access: "blob" });
  await box.setAccessPolicy("blob", [
    { ...POLICY, accessPolicy: { ...POLICY.accessPolicy, permissions: "r" } },
  ]);
  await service.getContainerClient("empty").create();
  const text = box.getBlockBlobClient("a folder/ü.txt");
  await text.upload("hello", 5, {
    metadata: { key: "value", Upper: "Case" },
    tags: { colour: "blue", "a key": "a value" },
    blobHTTPHeaders: {
      blobContentType: "text/plain",
      blobCacheControl: "no-cache",
      blobContentEncoding: "identity",
      blobContentLanguage: "de",
      blobContentDisposition: "inline",
    },
  });
  for (const name of ["a", "a/b", "a//b", "%41 +?#&", "Ünï/✓/𝒳", "x".repeat(300)]) {
    await box.getBlockBlobClient(name).upload(name, Buffer.byteLength(name));
  }
  await box.getBlockBlobClient("nothing").upload("", 0);
  await box.getBlockBlobClient("cool").upload("cool", 4, { tier: "Cool" });
  await fillBlocks(box.getBlockBlobClient("blocks"));
  await box.getBlockBlobClient("staged").stageBlock(blockId(0), "not yet", 7);
  await fillSnapshots(box.getBlockBlobClient("versions"));
  const pages = box.getPageBlobClient("pages");
  await pages.create(8_192, { blobSequenceNumber: 7, metadata: { page: "blob" } });
  await pages.uploadPages(Buffer.alloc(512, 1), 1_024, 512);
  await pages.createSnapshot();
  await pages.uploadPages(Buffer.alloc(1_024, 2), 4_096, 1_024);
  await pages.clearPages(1_024, 512);
  const log = box.getAppendBlobClient("log");
  await log.create({ metadata: { append: "blob" } });
  for (const word of ["one ", "two ", "three "]) await log.appendBlock(word, word.length);
  const leased = box.getBlockBlobClient("leased");
  await leased.upload("leased", 6);
  await leased.getBlobLeaseClient().acquireLease(-1);
}

function blockId(at: number): string {
  return Buffer.from(`block-${at}`).toString("base64");
}

type BlockClient = ReturnType<ReturnType<typeof blobsAt>["getContainerClient"]>;

async function fillBlocks(blob: ReturnType<BlockClient["getBlockBlobClient"]>): Promise<void> {
  const ids = [0, 1, 2].map(blockId);
  for (const [at, id] of ids.entries()) {
    await blob.stageBlock(id, Buffer.alloc(1_000 + at, 65 + at), 1_000 + at);
  }
  await blob.commitBlockList(ids, { blobHTTPHeaders: { blobContentType: "text/blocks" } });
  await blob.stageBlock(blockId(9), "uncommitted", 11);
}

async function fillSnapshots(blob: ReturnType<BlockClient["getBlockBlobClient"]>): Promise<void> {
  await blob.upload("first", 5, { metadata: { version: "1" } });
  await blob.createSnapshot();
  await blob.upload("the second", 10, { metadata: { version: "2" } });
  await blob.createSnapshot({ metadata: { version: "of the snapshot" } });
  await blob.upload("third", 5, { metadata: { version: "3" } });
}

async function fillQueues(url: string): Promise<void> {
  const service = queuesAt(url);
  const work = service.getQueueClient("work");
  await work.create({ metadata: { key: "value" } });
  await work.setAccessPolicy([
    { ...POLICY, accessPolicy: { ...POLICY.accessPolicy, permissions: "rp" } },
  ]);
  await work.sendMessage("taken", { messageTimeToLive: 30 * DAY_S });
  await work.receiveMessages({ visibilityTimeout: 3 * DAY_S });
  await work.sendMessage("<for & ever>", { messageTimeToLive: -1 });
  await work.sendMessage("until", { messageTimeToLive: 20 * DAY_S });
  await work.sendMessage("later", { visibilityTimeout: 2 * DAY_S, messageTimeToLive: 9 * DAY_S });
  await service.getQueueClient("none").create();
}

async function fillTables(url: string): Promise<void> {
  const people = tableAt(url, "people");
  await people.createTable();
  await people.setAccessPolicy([
    {
      id: "readers",
      accessPolicy: {
        start: POLICY.accessPolicy.startsOn,
        expiry: POLICY.accessPolicy.expiresOn,
        permission: "r",
      },
    },
  ]);
  await people.createEntity({
    partitionKey: "p",
    rowKey: "it's",
    text: "text",
    empty: "",
    number: 1,
    whole: { type: "Double", value: "3" },
    double: 1.5,
    tiny: { type: "Double", value: "1e-300" },
    none: { type: "Double", value: "NaN" },
    endless: { type: "Double", value: "-Infinity" },
    long: { type: "Int64", value: "9007199254740993" },
    date: { type: "DateTime", value: "2020-01-01T00:00:00.1234567Z" },
    id: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
    bytes: new Uint8Array([1, 2, 3]),
    yes: true,
  });
  await people.createEntity({ partitionKey: "", rowKey: "ü ✓", text: "odd keys" });
  for (let at = 0; at < 3; at++) {
    await people.createEntity({ partitionKey: "many", rowKey: `${at}`, at });
  }
  await tableAt(url, "Empty").createTable();
}
