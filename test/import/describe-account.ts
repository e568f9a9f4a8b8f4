import { createHash } from "node:crypto";
import { type AccountUrls, blobsAt, queuesAt, tableAt, tablesAt } from "./fill-account.ts";

type Container = ReturnType<ReturnType<typeof blobsAt>["getContainerClient"]>;

/** Reads everything of an account that an import or a round trip must keep. */
export async function describeAccount(urls: AccountUrls) {
  return {
    blobs: await describeBlobs(urls.blob),
    queues: await describeQueues(urls.queue),
    tables: await describeTables(urls.table),
  };
}

async function describeBlobs(url: string): Promise<unknown> {
  const service = blobsAt(url);
  const { cors } = await service.getProperties();
  const containers: unknown[] = [];
  for await (const { name, metadata } of service.listContainers({ includeMetadata: true })) {
    const container = service.getContainerClient(name);
    const { blobPublicAccess, signedIdentifiers } = await container.getAccessPolicy();
    const blobs: unknown[] = [];
    const all = { includeSnapshots: true, includeUncommitedBlobs: true };
    for await (const blob of container.listBlobsFlat(all)) {
      blobs.push(await describeBlob(container, blob.name, blob.snapshot));
    }
    containers.push({ name, metadata, blobPublicAccess, signedIdentifiers, blobs });
  }
  return { cors, containers };
}

/** Times, ETags and names of snapshots are new; their order is not. */
async function describeBlob(container: Container, name: string, snapshot: string | undefined) {
  const any = container.getBlobClient(name);
  const blob = snapshot === undefined ? any : any.withSnapshot(snapshot);
  const isSnapshot = snapshot !== undefined;
  const blocks = await container
    .getBlockBlobClient(name)
    .getBlockList("all")
    .catch(() => null);
  const staged = isSnapshot ? [] : (blocks?.uncommittedBlocks ?? []);
  const found = await blob.getProperties().catch(() => null);
  if (found === null) return { name, staged };
  const content = await blob.downloadToBuffer();
  const pages = container.getPageBlobClient(name);
  const ranges =
    found.blobType === "PageBlob"
      ? (await (isSnapshot ? pages.withSnapshot(snapshot) : pages).getPageRanges()).pageRange
      : null;
  return {
    name,
    isSnapshot,
    staged,
    blobType: found.blobType,
    contentLength: found.contentLength,
    contentType: found.contentType,
    contentEncoding: found.contentEncoding,
    contentLanguage: found.contentLanguage,
    contentDisposition: found.contentDisposition,
    cacheControl: found.cacheControl,
    contentMd5: Buffer.from(found.contentMD5 ?? []).toString("hex"),
    metadata: found.metadata,
    sequenceNumber: found.blobSequenceNumber,
    isSealed: found.isSealed ?? false,
    tier: found.accessTierInferred === true ? undefined : found.accessTier,
    leaseState: found.leaseState,
    tags: await blob.getTags().then(
      ({ tags }) => tags,
      () => null,
    ),
    digest: createHash("sha256").update(content).digest("hex"),
    blocks: isSnapshot || found.blobType !== "BlockBlob" ? null : blocks?.committedBlocks,
    ranges,
  };
}

async function describeQueues(url: string): Promise<unknown> {
  const queues: unknown[] = [];
  for await (const { name, metadata } of queuesAt(url).listQueues({ includeMetadata: true })) {
    const queue = queuesAt(url).getQueueClient(name);
    const { signedIdentifiers } = await queue.getAccessPolicy();
    const { approximateMessagesCount } = await queue.getProperties();
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    const visible = peekedMessageItems.map(({ messageText, expiresOn }) => [
      messageText,
      expiresOn.getUTCFullYear() === 9999,
    ]);
    queues.push({ name, metadata, signedIdentifiers, approximateMessagesCount, visible });
  }
  return queues;
}

async function describeTables(url: string): Promise<unknown> {
  const tables: unknown[] = [];
  for await (const { name = "" } of tablesAt(url).listTables()) {
    const table = tableAt(url, name);
    const entities: unknown[] = [];
    for await (const entity of table.listEntities({ disableTypeConversion: true })) {
      const { etag, timestamp, ...own } = entity;
      entities.push(own);
    }
    tables.push({ name, policies: await table.getAccessPolicy(), entities });
  }
  return tables;
}
