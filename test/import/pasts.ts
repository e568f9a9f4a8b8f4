import { createHash } from "node:crypto";
import { blobsAt, tableAt } from "./fill-account.ts";
import { lakeAt } from "./history.ts";
import type { ServedUrls } from "./served.ts";
import { describeFolder, sharesAt } from "./shares.ts";

type Container = ReturnType<ReturnType<typeof blobsAt>["getContainerClient"]>;

/**
 * What no list of live objects shows, and what only a server of ours writes again: deleted
 * containers and shares, ETags and times, and what Data Lake knows of its files.
 */
export async function fillPasts(urls: ServedUrls): Promise<void> {
  const service = blobsAt(urls.blob);
  await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 5 }, cors: [] });
  for (const text of ["first", "second"]) {
    const gone = service.getContainerClient("gone");
    await gone.create({ metadata: { text }, access: "blob" });
    await fillContainer(gone, text);
    await gone.setAccessPolicy("blob", [
      { id: text, accessPolicy: { permissions: "r", expiresOn: new Date("2099-01-01") } },
    ]);
    await gone.delete();
  }
  const live = service.getContainerClient("gone");
  await live.create({ metadata: { text: "live" } });
  const source = live.getBlockBlobClient("source");
  await source.upload("to copy", 7);
  await (await live.getBlockBlobClient("copied").beginCopyFromURL(source.url)).pollUntilDone();
  await live.getBlockBlobClient("cold").upload("cold", 4, { tier: "Cold" });
  await live.getBlockBlobClient("archived").upload("archived", 8, { tier: "Archive" });
  const block = Buffer.from("block").toString("base64");
  await live.getBlockBlobClient("blocks").stageBlock(block, "archived block", 14);
  await live.getBlockBlobClient("blocks").commitBlockList([block], { tier: "Archive" });
  await fillLake(urls.dfs);
  await fillTable(urls.table);
  await fillShares(urls);
}

async function fillContainer(box: Container, text: string): Promise<void> {
  const doc = box.getBlockBlobClient("doc");
  await doc.upload(text, text.length, { metadata: { text }, tags: { colour: "blue" } });
  await doc.createSnapshot();
  await doc.upload("replaced", 8);
  const removed = box.getBlockBlobClient("removed");
  await removed.upload(text, text.length);
  await removed.delete();
  const pages = box.getPageBlobClient("pages");
  await pages.create(4_096);
  await pages.uploadPages(Buffer.alloc(512, 1), 512, 512);
  const id = Buffer.from("block").toString("base64");
  await box.getBlockBlobClient("staged").stageBlock(id, "not yet", 7);
}

async function fillLake(url: string): Promise<void> {
  for (const name of ["lake", "drained"]) {
    const lake = lakeAt(url).getFileSystemClient(name);
    await lake.create({ metadata: { name } });
    const folder = lake.getDirectoryClient("folder");
    await folder.create({ permissions: "1750", umask: "0000" });
    const file = folder.getFileClient("file");
    await file.create({ encryptionContext: "told by the client", metadata: { of: name } });
    await file.append("hello", 0, 5);
    await file.flush(5);
    await file.append(" behind", 10, 7);
    await file.append(" next", 5, 5);
    const large = lake.getFileClient("large");
    await large.create();
    for (let at = 0; at < 3; at++) {
      await large.append(Buffer.alloc(600_000, at), at * 600_000, 600_000);
    }
    await large.flush(1_800_000);
  }
  await lakeAt(url).getFileSystemClient("drained").delete();
}

async function fillTable(url: string): Promise<void> {
  const table = tableAt(url, "times");
  await table.createTable();
  for (let at = 0; at < 3; at++) {
    await table.createEntity({ partitionKey: "p", rowKey: `${at}`, at });
  }
}

async function fillShares({ file: url, blob }: ServedUrls): Promise<void> {
  const service = sharesAt(url);
  await service.getShareClient("zoo").create();
  for (const name of ["album", "dropped"]) {
    const share = service.getShareClient(name);
    await share.create({ quota: 5, metadata: { name } });
    const folder = share.getDirectoryClient("a");
    await folder.create();
    const first = folder.getFileClient("file");
    await first.create(5);
    await first.uploadRange("first", 0, 5);
    await share.createSnapshot({ metadata: { of: "snapshot" } });
    await first.uploadRange("later", 0, 5);
    await share.setQuota(6);
    await share.createSnapshot();
    await folder.getFileClient("new").create(0);
    const copied = share.getDirectoryClient("").getFileClient("copied");
    await copied.startCopyFromURL(first.url);
  }
  await service.getShareClient("dropped").delete({ deleteSnapshots: "include" });
  // A container's name may be a share's, too.
  await blobsAt(blob).getContainerClient("album").create();
}

/** Everything that clients see of it without restoring anything. */
export async function describePasts(urls: ServedUrls): Promise<unknown> {
  const containers: unknown[] = [];
  const service = blobsAt(urls.blob);
  const all = { includeDeleted: true, includeMetadata: true };
  for await (const found of service.listContainers(all)) containers.push(found);
  const blobs = await describeBlobs(service.getContainerClient("gone"));
  const shares: unknown[] = [];
  const files = sharesAt(urls.file);
  for await (const found of files.listShares({ ...all, includeSnapshots: true })) {
    const { name, snapshot = "", deleted } = found;
    const share = files.getShareClient(name).withSnapshot(snapshot);
    shares.push({ found, items: deleted === true ? null : await describeShare(share) });
  }
  const entities: unknown[] = [];
  for await (const found of tableAt(urls.table, "times").listEntities()) entities.push(found);
  const lake = await describeLake(urls, "lake");
  return JSON.parse(JSON.stringify({ containers, blobs, shares, entities, lake }));
}

/** What the deleted ones hold: they are restored one after another. */
export async function describeRestored(urls: ServedUrls): Promise<unknown> {
  const service = blobsAt(urls.blob);
  const found: unknown[] = [];
  await service.getContainerClient("gone").delete();
  const versions: string[] = [];
  for await (const { name, version = "" } of service.listContainers({ includeDeleted: true })) {
    if (name === "gone") versions.push(version);
  }
  for (const version of versions) {
    const { containerClient } = await service.undeleteContainer("gone", version);
    const { signedIdentifiers } = await containerClient.getAccessPolicy();
    found.push({ signedIdentifiers, blobs: await describeBlobs(containerClient) });
    await containerClient.delete();
  }
  for await (const { name, version = "" } of service.listContainers({ includeDeleted: true })) {
    if (name === "drained") await service.undeleteContainer(name, version);
  }
  found.push(await describeLake(urls, "drained"));
  const files = sharesAt(urls.file);
  for await (const { name, version = "", deleted } of files.listShares({ includeDeleted: true })) {
    if (deleted === true) await files.undeleteShare(name, version);
  }
  const all = { prefix: "dropped", includeSnapshots: true, includeMetadata: true };
  for await (const { name, snapshot = "", metadata, properties } of files.listShares(all)) {
    const items = await describeShare(files.getShareClient(name).withSnapshot(snapshot));
    found.push({ snapshot, metadata, quota: properties.quota, items });
  }
  return JSON.parse(JSON.stringify(found));
}

async function describeBlobs(box: Container): Promise<unknown> {
  const found: unknown[] = [];
  const all = {
    includeCopy: true,
    includeDeleted: true,
    includeMetadata: true,
    includeSnapshots: true,
    includeTags: true,
    includeVersions: true,
    includeUncommitedBlobs: true,
  };
  for await (const blob of box.listBlobsFlat(all)) {
    const { name, snapshot = "", versionId, deleted, properties } = blob;
    // The copies of one server have its URL.
    const isReadable =
      deleted !== true && properties.etag !== undefined && properties.accessTier !== "Archive";
    const own = box.getBlobClient(name);
    const one = versionId === undefined ? own.withSnapshot(snapshot) : own.withVersion(versionId);
    const bytes = isReadable ? await one.downloadToBuffer() : null;
    const lists = await box
      .getBlockBlobClient(name)
      .getBlockList("all")
      .catch(() => null);
    found.push({ blob, bytes: digestOf(bytes), staged: lists?.uncommittedBlocks });
  }
  return found;
}

async function describeShare(
  share: ReturnType<ReturnType<typeof sharesAt>["getShareClient"]>,
): Promise<unknown> {
  const items: unknown[] = [];
  await describeFolder(
    share.getDirectoryClient(""),
    "",
    items,
    ({ etag, lastModified, ...found }) => ({
      etag,
      lastModified,
      ...("copyId" in found ? { id: found.copyId, of: found.copySource } : {}),
      ...("copyStatus" in found ? { status: found.copyStatus, at: found.copyCompletedOn } : {}),
    }),
  );
  return items;
}

async function describeLake({ dfs }: ServedUrls, name: string): Promise<unknown> {
  const lake = lakeAt(dfs).getFileSystemClient(name);
  const paths: unknown[] = [];
  for await (const path of lake.listPaths({ recursive: true })) {
    const client = lake.getFileClient(path.name ?? "");
    const { metadata, encryptionContext, createdOn } = await client.getProperties();
    const bytes = path.isDirectory === true ? null : await client.readToBuffer();
    const { acl } = await client.getAccessControl();
    paths.push({ path, metadata, encryptionContext, createdOn, acl, bytes: digestOf(bytes) });
  }
  return paths;
}

/** Data Lake adds to its files, and what it had appended before is still there. */
export async function continueLake({ dfs }: ServedUrls): Promise<string> {
  const file = lakeAt(dfs).getFileSystemClient("lake").getFileClient("folder/file");
  await file.append("!", 17, 1);
  await file.flush(18);
  return (await file.readToBuffer()).toString();
}

function digestOf(bytes: Buffer | null): string | null {
  return bytes === null ? null : createHash("sha256").update(bytes).digest("hex");
}
