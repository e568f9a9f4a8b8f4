import { createHash } from "node:crypto";
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt, queuesAt } from "./fill-account.ts";
import type { ServedUrls } from "./served.ts";
import { describeFolder, sharesAt } from "./shares.ts";

type Container = ReturnType<ReturnType<typeof blobsAt>["getContainerClient"]>;

const DAY_S = 86_400;
const EXPIRES = new Date("2099-01-01T00:00:00Z");

export function lakeAt(url: string): DataLakeServiceClient {
  return new DataLakeServiceClient(url, new StorageSharedKeyCredential(ACCOUNT, KEY));
}

/** Writes what clients of the service cannot write again as it is. The account has versioning. */
export async function fillHistory(urls: ServedUrls): Promise<void> {
  const service = blobsAt(urls.blob);
  await service.setProperties({
    deleteRetentionPolicy: { enabled: true, days: 5 },
    cors: [],
  });
  const box = service.getContainerClient("past");
  await box.create();
  await fillRevisions(box);
  await fillBlocks(box);
  await fillTree(urls.dfs);
  await fillMessages(urls.queue);
  await fillSnapshots(urls.file);
}

/** A share whose snapshots show what was changed, replaced and removed since. */
async function fillSnapshots(url: string): Promise<void> {
  const share = sharesAt(url).getShareClient("album");
  await share.create({ quota: 5, metadata: { at: "first" } });
  const put = async (path: string, text: string, dir = "a") => {
    const file = share.getDirectoryClient(dir).getFileClient(path);
    await file.create(text.length, { metadata: { text } });
    await file.uploadRange(text, 0, text.length);
  };
  await share.getDirectoryClient("a").create();
  await put("same", "same");
  await put("changed", "old");
  await share.getDirectoryClient("b").create({ metadata: { dir: "b" } });
  await put("in", "inner", "b");
  await share.createSnapshot({ metadata: { of: "snapshot" } });
  await put("changed", "new and longer");
  await put("more", "added");
  await share.setMetadata({});
  await share.setQuota(6);
  await share.createSnapshot();
  await share.getDirectoryClient("b").deleteFile("in");
  await share.getDirectoryClient("b").delete();
  await put("b", "a file now", "");
  await share.getDirectoryClient("a").deleteFile("more");
  await share.setMetadata({ at: "last" });
}

/** Snapshots get new names, and the share new ETags; everything else of each is the same. */
async function describeSnapshots(url: string): Promise<unknown> {
  const found: unknown[] = [];
  const all = { prefix: "album", includeSnapshots: true, includeMetadata: true };
  for await (const { snapshot = "", metadata, properties } of sharesAt(url).listShares(all)) {
    const share = sharesAt(url).getShareClient("album").withSnapshot(snapshot);
    const items: unknown[] = [];
    await describeFolder(share.getDirectoryClient(""), "", items);
    found.push({ isSnapshot: snapshot !== "", metadata, quota: properties.quota, items });
  }
  return found;
}

async function fillRevisions(box: Container): Promise<void> {
  const doc = box.getBlockBlobClient("doc");
  await doc.upload("first", 5, { metadata: { at: "1" }, tags: { colour: "blue" } });
  await doc.upload("second!", 7, { metadata: { at: "2" } });
  await doc.createSnapshot();
  const third = await doc.upload("third", 5, { metadata: { at: "3" } });
  await doc.upload("fourth", 6, { metadata: { at: "4" }, tags: { colour: "red" } });
  await doc.withVersion(third.versionId ?? "").delete();
  const { snapshot = "" } = await doc.createSnapshot();
  await doc.withSnapshot(snapshot).delete();

  const gone = box.getBlockBlobClient("gone");
  await gone.upload("only versions", 13);
  await gone.delete();

  const pages = box.getPageBlobClient("pages");
  await pages.create(4_096, { blobSequenceNumber: 3 });
  await pages.uploadPages(Buffer.alloc(512, 1), 512, 512);
  await pages.setMetadata({ now: "a version" });
  await pages.uploadPages(Buffer.alloc(512, 2), 2_048, 512);

  const log = box.getAppendBlobClient("log");
  await log.create();
  for (const word of ["one ", "two ", "three ", "a longer fourth one"]) {
    await log.appendBlock(word, word.length);
  }
  const tags = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`${at}`.padEnd(100, "k"), "v".repeat(250)]),
  );
  await box.getBlockBlobClient("tagged").upload("tagged", 6);
  await box.getBlockBlobClient("tagged").setTags(tags);
}

async function fillBlocks(box: Container): Promise<void> {
  const id = (at: number) => Buffer.from(`block-${at}`).toString("base64");
  const both = box.getBlockBlobClient("both");
  await both.stageBlock(id(0), "committed", 9);
  await both.commitBlockList([id(0)]);
  await both.stageBlock(id(1), "not yet", 7);
  const only = box.getBlockBlobClient("only");
  await only.stageBlock(id(2), "b", 1);
  await only.stageBlock(id(1), Buffer.alloc(300_000, 3), 300_000);
}

async function fillTree(url: string): Promise<void> {
  const tree = lakeAt(url).getFileSystemClient("tree");
  await tree.create({ metadata: { kind: "tree" } });
  await tree
    .getDirectoryClient("")
    .setAccessControl(
      [entry("user", "", "rwx"), entry("group", "", "r-x"), entry("other", "", "--x")],
      { owner: "owner-of-root" },
    );
  const folder = tree.getDirectoryClient("a folder");
  await folder.create({ metadata: { dir: "yes" }, permissions: "1750", umask: "0000" });
  await folder.getSubdirectoryClient("empty").create();
  const file = folder.getFileClient("file");
  await file.create({ metadata: { file: "yes" } });
  await file.append("hello", 0, 5);
  await file.flush(5);
  await file.setAccessControl(
    [
      entry("user", "", "rwx"),
      entry("user", "reader", "r-x"),
      entry("group", "", "r-x"),
      entry("mask", "", "r-x"),
      entry("other", "", "---"),
    ],
    { owner: "somebody", group: "some" },
  );
  await file.setExpiry("Absolute", { expiresOn: EXPIRES });
}

function entry(type: "user" | "group" | "mask" | "other", id: string, rights: string) {
  const [read, write, execute] = [...rights].map((letter) => letter !== "-");
  return {
    accessControlType: type,
    entityId: id,
    defaultScope: false,
    permissions: { read: read === true, write: write === true, execute: execute === true },
  };
}

async function fillMessages(url: string): Promise<void> {
  const jobs = queuesAt(url).getQueueClient("jobs");
  await jobs.create();
  await jobs.sendMessage("tried three times", { messageTimeToLive: -1 });
  for (let tries = 0; tries < 3; tries++) {
    const { receivedMessageItems } = await jobs.receiveMessages({ visibilityTimeout: 10 });
    const [got] = receivedMessageItems;
    const { messageId, popReceipt } = got as (typeof receivedMessageItems)[number];
    await jobs.updateMessage(messageId, popReceipt, "tried three times", 0);
  }
  await jobs.sendMessage("for a month", { messageTimeToLive: 30 * DAY_S });
  await jobs.sendMessage("never tried");
  await jobs.sendMessage("in three days", { visibilityTimeout: 3 * DAY_S });
}

/** Everything about it that a client of the service can see, with ids, ETags and times. */
export async function describeHistory(urls: ServedUrls): Promise<unknown> {
  const service = blobsAt(urls.blob);
  const blobs: unknown[] = [];
  for (const name of ["past", "tree"]) {
    const container = service.getContainerClient(name);
    const all = {
      includeCopy: true,
      includeDeleted: true,
      includeMetadata: true,
      includeSnapshots: true,
      includeTags: name === "past",
      includeVersions: true,
      includeUncommitedBlobs: true,
    };
    for await (const blob of container.listBlobsFlat(all)) {
      blobs.push({ ...blob, ...(await bytesOf(container, blob)) });
    }
  }
  const [tree, jobs] = [await describeTree(urls.dfs), await describeJobs(urls.queue)];
  const album = await describeSnapshots(urls.file);
  return JSON.parse(JSON.stringify({ blobs, tree, jobs, album }));
}

interface Listed {
  readonly name: string;
  readonly snapshot?: string;
  readonly versionId?: string;
  readonly deleted?: boolean;
  readonly properties: { readonly etag?: string; readonly blobType?: string };
}

async function bytesOf(container: Container, found: Listed): Promise<object> {
  const { name, snapshot, versionId, deleted, properties } = found;
  const blocks = container.getBlockBlobClient(name);
  const lists = await blocks.getBlockList("all").catch(() => null);
  if (deleted === true || properties.etag === undefined)
    return { staged: lists?.uncommittedBlocks };
  const any = container.getBlobClient(name);
  const own = snapshot === undefined ? any : any.withSnapshot(snapshot);
  const blob = versionId === undefined ? own : own.withVersion(versionId);
  const bytes = await blob.downloadToBuffer();
  const { blobCommittedBlockCount } = await blob.getProperties();
  const pages = container.getPageBlobClient(name);
  return {
    digest: createHash("sha256").update(bytes).digest("hex"),
    appended: blobCommittedBlockCount,
    staged: lists?.uncommittedBlocks,
    committed: lists?.committedBlocks,
    ranges: properties.blobType === "PageBlob" ? (await pages.getPageRanges()).pageRange : null,
  };
}

async function describeTree(url: string): Promise<unknown> {
  const tree = lakeAt(url).getFileSystemClient("tree");
  const { metadata } = await tree.getProperties();
  const paths: unknown[] = [await controlOf(tree.getDirectoryClient(""))];
  for await (const { name = "", isDirectory } of tree.listPaths({ recursive: true })) {
    const path = tree.getDirectoryClient(name);
    const { metadata: own, expiresOn } = await path.getProperties();
    paths.push({ name, isDirectory, own, expiresOn, ...(await controlOf(path)) });
  }
  return { metadata, paths };
}

type Path = ReturnType<
  ReturnType<DataLakeServiceClient["getFileSystemClient"]>["getDirectoryClient"]
>;

async function controlOf(path: Path): Promise<object> {
  const { owner, group, permissions, acl } = await path.getAccessControl();
  return { owner, group, permissions, acl };
}

/** Ids and times of messages, and how often they were received: all that a peek tells. */
async function describeJobs(url: string): Promise<unknown> {
  const jobs = queuesAt(url).getQueueClient("jobs");
  const { approximateMessagesCount } = await jobs.getProperties();
  const { peekedMessageItems } = await jobs.peekMessages({ numberOfMessages: 32 });
  return { approximateMessagesCount, peekedMessageItems };
}
