import { createHash } from "node:crypto";
import type { BlobClient, BlobItem, ContainerClient } from "@azure/storage-blob";
import type { ShareClient, ShareDirectoryClient } from "@azure/storage-file-share";
import type { FolderServer } from "./folder-server.ts";

/** What clients read of a data folder, as JSON. */
export type Description = Readonly<Record<string, unknown>>;

/** Reads everything in a folder through the official clients. Changes nothing. */
export async function describeFolder(server: FolderServer): Promise<Description> {
  const all: Record<string, unknown> = {};
  await describeBlobs(server, all);
  await describeQueues(server, all);
  await describeTables(server, all);
  await describeShares(server, all);
  return plain(all) as Description;
}

type Into = Record<string, unknown>;

async function describeBlobs({ blobs }: FolderServer, into: Into): Promise<void> {
  into["blob service"] = await blobs.getProperties();
  const options = { includeDeleted: true, includeMetadata: true, includeSystem: true };
  for await (const item of blobs.listContainers(options)) {
    into[`container ${item.name}${item.deleted ? ` ${item.version}` : ""}`] = item;
    if (item.deleted) continue;
    const container = blobs.getContainerClient(item.name);
    into[`acl of ${item.name}`] = await container.getAccessPolicy();
    await describeContainer(container, into);
  }
  for await (const found of blobs.findBlobsByTags("colour = 'blue'")) into["found by tag"] = found;
}

async function describeContainer(container: ContainerClient, into: Into): Promise<void> {
  const options = {
    includeCopy: true,
    includeDeleted: true,
    includeMetadata: true,
    includeSnapshots: true,
    includeTags: true,
    includeUncommitedBlobs: true,
    includeVersions: true,
  };
  for await (const item of container.listBlobsFlat(options)) {
    const { name, snapshot, versionId, isCurrentVersion } = item;
    const id = `${container.containerName}/${name} ${snapshot ?? versionId ?? ""}`;
    into[`listed blob ${id}${item.deleted ? " deleted" : ""}`] = item;
    const blob = container.getBlobClient(name);
    if (item.deleted) continue;
    if (snapshot !== undefined) await describeBlob(blob.withSnapshot(snapshot), item, id, into);
    else if (versionId !== undefined && isCurrentVersion !== true) {
      await describeBlob(blob.withVersion(versionId), item, id, into);
    } else await describeBlob(blob, item, id, into);
  }
}

async function describeBlob(blob: BlobClient, item: BlobItem, id: string, into: Into) {
  const { blobType } = item.properties;
  into[`properties of ${id}`] = await told(blob.getProperties());
  into[`bytes of ${id}`] = await told(blob.downloadToBuffer().then(digestOf));
  if (blobType === "BlockBlob") {
    into[`blocks of ${id}`] = await told(blob.getBlockBlobClient().getBlockList("all"));
  }
  if (blobType === "PageBlob") {
    into[`ranges of ${id}`] = await blob.getPageBlobClient().getPageRanges();
  }
}

/** The answer, or the refusal that belongs to the state of a blob: archived, not committed yet. */
function told(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch(({ statusCode, code }) => `${statusCode} ${code}`);
}

async function describeQueues({ queues }: FolderServer, into: Into): Promise<void> {
  into["queue service"] = await queues.getProperties();
  for await (const item of queues.listQueues({ includeMetadata: true })) {
    const queue = queues.getQueueClient(item.name);
    into[`queue ${item.name}`] = [item, await queue.getProperties(), await queue.getAccessPolicy()];
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    into[`messages of ${item.name}`] = peekedMessageItems;
  }
}

async function describeTables({ tables, table }: FolderServer, into: Into): Promise<void> {
  into["table service"] = await tables.getProperties();
  for await (const { name = "" } of tables.listTables()) {
    into[`table ${name}`] = await table(name).getAccessPolicy();
    const options = { disableTypeConversion: true };
    for await (const entity of table(name).listEntities(options)) {
      into[`entity ${name} ${entity.partitionKey} ${entity.rowKey}`] = entity;
    }
  }
}

async function describeShares({ shares }: FolderServer, into: Into): Promise<void> {
  into["file service"] = await shares.getProperties();
  const options = { includeDeleted: true, includeMetadata: true, includeSnapshots: true };
  for await (const item of shares.listShares(options)) {
    const id = `${item.name} ${item.snapshot ?? item.version ?? ""}`;
    into[`share ${id}`] = item;
    if (item.deleted) continue;
    const share = shares.getShareClient(item.name);
    const seen = item.snapshot === undefined ? share : share.withSnapshot(item.snapshot);
    into[`properties of share ${id}`] = await seen.getProperties();
    if (item.snapshot === undefined) into[`acl of share ${id}`] = await share.getAccessPolicy();
    await describeDirectory(seen, seen.rootDirectoryClient, id, into);
  }
}

async function describeDirectory(
  share: ShareClient,
  directory: ShareDirectoryClient,
  id: string,
  into: Into,
): Promise<void> {
  into[`directory ${id}`] = await directory.getProperties();
  const options = {
    includeAttributes: true,
    includeEtag: true,
    includeExtendedInfo: true,
    includePermissionKey: true,
    includeTimestamps: true,
  };
  for await (const item of directory.listFilesAndDirectories(options)) {
    const below = `${id}/${item.name}`;
    into[`listed in ${below}`] = item;
    if (item.kind === "directory") {
      await describeDirectory(share, directory.getDirectoryClient(item.name), below, into);
      continue;
    }
    const file = directory.getFileClient(item.name);
    const properties = await file.getProperties();
    into[`file ${below}`] = properties;
    into[`bytes of file ${below}`] = digestOf(await file.downloadToBuffer());
    into[`ranges of file ${below}`] = (await file.getRangeList()).rangeList;
    const { filePermissionKey } = properties;
    if (filePermissionKey === undefined) continue;
    into[`permission of ${below}`] = await share.getPermission(filePermissionKey);
  }
}

function digestOf(bytes: Buffer): string {
  return `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Parts of an answer that are about the request, not about what is stored. */
const ABOUT_THE_REQUEST = new Set("_response clientRequestId requestId date version".split(" "));

function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part) => (ABOUT_THE_REQUEST.has(name) ? undefined : part)),
  );
}
