import assert from "node:assert/strict";
import { test } from "node:test";
import { tableFromIPC } from "apache-arrow";
import {
  type BlobItem,
  BlobServiceClient,
  type ContainerClient,
  type ContainerListBlobsOptions,
  ContainerSASPermissions,
  StorageResponseFormat,
  StorageSharedKeyCredential,
} from "storage-blob-arrow";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile, KEY, startServer, type TestServer } from "./server.ts";

const server = await forThisFile(startServer());
const versioned = await forThisFile(
  startServer({ blob: { versioning: true, containerRetentionDays: null } }),
);

/** Creates a container, for the first client that requests this format. */
async function newBox(on: TestServer = server): Promise<ContainerClient> {
  const credential = new StorageSharedKeyCredential(on.account, KEY);
  const client = new BlobServiceClient(on.url, credential, { retryOptions: { maxTries: 1 } });
  const { containerName } = await on.makeContainer();
  return client.getContainerClient(containerName);
}

const ARROW = { responseFormat: StorageResponseFormat.Arrow };

async function itemsOf(box: ContainerClient, options: ContainerListBlobsOptions) {
  const items: BlobItem[] = [];
  for await (const item of box.listBlobsFlat(options)) items.push(item);
  return items;
}

/** Lists in both formats. An empty element or map in one may be missing in the other. */
async function inBothFormats(box: ContainerClient, options: ContainerListBlobsOptions = {}) {
  const isEmpty = (value: unknown) =>
    ['""', "false", "{}", "[]", '{"type":"Buffer","data":[]}'].includes(JSON.stringify(value));
  const known = (item: BlobItem) =>
    JSON.parse(JSON.stringify(item, (_, value) => (isEmpty(value) ? undefined : value)));
  const xml = (await itemsOf(box, options)).map(known);
  const arrow = (await itemsOf(box, { ...options, ...ARROW })).map(known);
  for (const { properties } of xml) delete properties["Content-CRC64"];
  return { xml, arrow };
}

async function namesOf(box: ContainerClient, options: ContainerListBlobsOptions) {
  return (await itemsOf(box, options)).map(({ name }) => name);
}

test("blobs of every type have the same properties as in XML", async () => {
  const box = await newBox();
  const block = box.getBlockBlobClient("a");
  await block.upload("hello", 5, {
    metadata: { color: "blue", size: "large" },
    tags: { tag1: "first", tag2: "" },
    blobHTTPHeaders: {
      blobContentType: "text/plain",
      blobContentEncoding: "gzip",
      blobContentLanguage: "en-US",
      blobCacheControl: "no-cache",
      blobContentDisposition: "inline",
    },
  });
  await block.createSnapshot();
  await block.getBlobLeaseClient().acquireLease(15);
  await box.getBlockBlobClient("archived").upload("x", 1, { tier: "Archive" });
  await box.getBlockBlobClient("archived").setAccessTier("Cool", { rehydratePriority: "High" });
  await box.getPageBlobClient("page").create(512, { blobSequenceNumber: 7 });
  const log = box.getAppendBlobClient("sealed");
  await log.create();
  await log.seal();
  await box.getBlockBlobClient("copy").syncCopyFromURL(box.getBlobClient("a").url);
  const { xml, arrow } = await inBothFormats(box, {
    includeMetadata: true,
    includeTags: true,
    includeSnapshots: true,
    includeCopy: true,
  });
  assert.equal(xml.length, 6);
  assert.deepEqual(arrow, xml);
  const [plain] = await itemsOf(box, ARROW);
  assert.deepEqual([plain?.metadata, plain?.tags], [undefined, undefined]);
});

test("a blob with uncommitted blocks only is listed on request", async () => {
  const box = await newBox();
  await box.getBlockBlobClient("staged").stageBlock("AAAA", "x", 1);
  assert.deepEqual(await namesOf(box, ARROW), []);
  const [item] = await itemsOf(box, { ...ARROW, includeUncommitedBlobs: true });
  assert.deepEqual([item?.name, item?.properties.leaseState], ["staged", "available"]);
});

test("versions and deleted blobs are listed as in XML", async () => {
  const box = await newBox(versioned);
  const blob = box.getBlockBlobClient("a");
  await blob.upload("one", 3);
  await blob.upload("two", 3);
  const gone = box.getBlockBlobClient("gone");
  await gone.upload("x", 1);
  await gone.delete();
  const listed = await inBothFormats(box, { includeVersions: true });
  assert.equal(listed.xml.length, 3);
  assert.deepEqual(listed.arrow, listed.xml);
  const left = await inBothFormats(box, { includeDeletedWithVersions: true });
  assert.equal(left.arrow[1].hasVersionsOnly, true);
  assert.deepEqual(left.arrow, left.xml);
});

test("a deleted blob shows how long it can be restored", async () => {
  const box = await newBox();
  const service = server.client();
  await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
  await box.getBlockBlobClient("a").upload("x", 1);
  await box.getBlockBlobClient("a").delete();
  await service.setProperties({ deleteRetentionPolicy: { enabled: false } });
  const { xml, arrow } = await inBothFormats(box, { includeDeleted: true });
  assert.deepEqual([arrow[0].deleted, arrow[0].properties.remainingRetentionDays], [true, 7]);
  assert.deepEqual(arrow, xml);
});

test("a name that XML cannot carry is sent unchanged", async () => {
  const box = await newBox();
  const names = ["  ", " before", "after ", "dir/file\uffff.blob"];
  for (const name of names) await box.getBlockBlobClient(name).upload("", 0);
  assert.deepEqual(await namesOf(box, ARROW), names);
});

test("pages continue where the previous one ended, flat and by hierarchy", async () => {
  const box = await newBox();
  const names = ["a/b/1", "a/b/2", "a/c/3", "d/4", "d/e/f/5", "f1", "f2", "f3", "f4"];
  for (const name of names) await box.getBlockBlobClient(name).upload("", 0);
  const flat: string[] = [];
  for await (const page of box.listBlobsFlat(ARROW).byPage({ maxPageSize: 3 })) {
    flat.push(page.segment.blobItems.map(({ name }) => name).join());
  }
  assert.deepEqual(flat, ["a/b/1,a/b/2,a/c/3", "d/4,d/e/f/5,f1", "f2,f3,f4"]);
  const tree: string[] = [];
  for await (const page of box.listBlobsByHierarchy("/", ARROW).byPage({ maxPageSize: 3 })) {
    const prefixes = (page.segment.blobPrefixes ?? []).map(({ name }) => name);
    tree.push([...prefixes, ...page.segment.blobItems.map(({ name }) => name)].join());
  }
  assert.deepEqual(tree, ["a/,d/,f1", "f2,f3,f4"]);
});

test("a list with much metadata ends at 8 MiB and continues from its marker", async () => {
  const box = await newBox();
  const metadata = { long: "x".repeat(8_000) };
  const names = Array.from({ length: 1_200 }, (_, i) => String(i).padStart(4, "0"));
  for (let at = 0; at < names.length; at += 50) {
    const some = names.slice(at, at + 50);
    await Promise.all(some.map((name) => box.getBlockBlobClient(name).upload("", 0, { metadata })));
  }
  const found: string[][] = [];
  for await (const page of box.listBlobsFlat({ ...ARROW, includeMetadata: true }).byPage()) {
    found.push(page.segment.blobItems.map(({ name }) => name));
  }
  assert.equal(found.length, 2);
  assert.deepEqual(found.flat(), names);
});

const LISTED = ["foo", "bar", "baz", "foo/foo", "foo/bar", "baz/foo", "baz/foo/bar", "baz/bar/foo"];

test("startFrom and endBefore bound a list, in both formats", async () => {
  const box = await newBox();
  for (const name of LISTED) await box.getBlockBlobClient(name).upload("", 0);
  const bounds = { startFrom: "foo", endBefore: "foo/foo" };
  assert.deepEqual(await namesOf(box, { ...ARROW, ...bounds }), ["foo", "foo/bar"]);
  assert.deepEqual(await namesOf(box, { ...ARROW, endBefore: "baz" }), ["bar"]);
  assert.deepEqual(await namesOf(box, { ...ARROW, prefix: "baz/", endBefore: "baz/foo" }), [
    "baz/bar/foo",
  ]);
  assert.deepEqual(await namesOf(box, { ...ARROW, startFrom: "foo", endBefore: "bar" }), []);
  const xml = async (query: string, version = "2026-10-06") => {
    const path = `/${box.containerName}?restype=container&comp=list${query}`;
    const { text } = await rawRequest(server, { path, version });
    const next = /<NextMarker>(.+)<\/NextMarker>/.exec(text)?.[1] ?? null;
    return { names: [...text.matchAll(/<Name>([^<]*)</g)].map(([, name]) => name), next };
  };
  assert.deepEqual((await xml("&startFrom=foo&endBefore=foo/foo")).names, ["foo", "foo/bar"]);
  assert.deepEqual((await xml("&delimiter=/&endBefore=baz/foo")).names, ["bar", "baz", "baz/"]);
  assert.deepEqual((await xml("&delimiter=/&endBefore=baz/bar")).names, ["bar", "baz"]);
  const first = await xml("&endBefore=baz/foo&maxresults=2");
  assert.deepEqual(first.names, ["bar", "baz"]);
  const second = await xml(`&endBefore=baz/foo&maxresults=2&marker=${first.next}`);
  assert.deepEqual(second, { names: ["baz/bar/foo"], next: null });
  assert.equal((await xml("&endBefore=bar", "2026-06-06")).names.length, LISTED.length);
  const long = await rawRequest(server, {
    path: `/${box.containerName}?restype=container&comp=list&endBefore=${"x".repeat(1_025)}`,
    version: "2026-10-06",
  });
  assert.deepEqual([long.status, long.code], [400, "InvalidQueryParameterValue"]);
});

/** Returns the table as sent, which the client hides. */
async function tableOf(box: ContainerClient, query: string) {
  const permissions = ContainerSASPermissions.parse("rlt");
  const expiresOn = new Date(Date.now() + 3_600_000);
  const url = await box.generateSasUrl({ permissions, expiresOn });
  const answer = await fetch(`${url}&restype=container&comp=list&${query}`, {
    headers: { accept: "application/vnd.apache.arrow.stream", "x-ms-version": "2026-10-06" },
  });
  assert.equal(answer.status, 200);
  return tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
}

test("the response is a stream with the marker and the number of records in its schema", async () => {
  const box = await newBox();
  for (const name of ["a", "b", "c"]) await box.getBlockBlobClient(name).upload("", 0);
  const get = async (version: string, accept: string) => {
    const path = `/${box.containerName}?restype=container&comp=list&maxresults=2`;
    const { headers } = await rawRequest(server, { path, version, headers: { accept } });
    return headers.get("content-type");
  };
  const arrow = "application/vnd.apache.arrow.stream";
  assert.equal(await get("2026-10-06", `${arrow},application/xml`), arrow);
  assert.equal(await get("2026-10-06", `application/xml, ${arrow.toUpperCase()};q=0.9`), arrow);
  assert.equal(await get("2026-10-06", "application/xml"), "application/xml");
  assert.equal(await get("2026-10-06", "*/*"), "application/xml");
  assert.equal(await get("2026-06-06", `${arrow},application/xml`), "application/xml");
  const table = await tableOf(box, "maxresults=2");
  assert.equal(table.schema.metadata.get("NumberOfRecords"), "2");
  assert.ok((table.schema.metadata.get("NextMarker") ?? "") !== "");
  assert.equal(table.getChild("ResourceType")?.get(0), "blob");
});

test("the stream has only columns that every client knows", async () => {
  const box = await newBox();
  const include =
    "snapshots,metadata,uncommittedblobs,copy,deleted,tags,versions,deletedwithversions,immutabilitypolicy,legalhold,permissions";
  const table = await tableOf(box, `include=${include}`);
  for (const { name } of table.schema.fields) assert.ok(KNOWN.includes(name), name);
});

/** The Java client refuses any other column. */
const KNOWN = [
  ...["Name", "ResourceType", "Deleted", "Snapshot", "VersionId", "IsCurrentVersion"],
  ...["HasVersionsOnly", "Metadata", "OrMetadata", "Tags", "Creation-Time", "Last-Modified"],
  ...["Etag", "Content-Length", "Content-Type", "Content-Encoding", "Content-Language"],
  ...["Content-Disposition", "Cache-Control", "Content-MD5", "BlobType", "AccessTier"],
  ...["AccessTierInferred", "AccessTierChangeTime", "SmartAccessTier", "LeaseStatus", "LeaseState"],
  ...["LeaseDuration", "ServerEncrypted", "CustomerProvidedKeySha256", "EncryptionScope"],
  ...["IncrementalCopy", "CopyId", "CopyStatus", "CopySource", "CopyProgress"],
  ...["CopyCompletionTime", "CopyStatusDescription", "CopyDestinationSnapshot"],
  ...["x-ms-blob-sequence-number", "Sealed", "LegalHold", "DeletedTime", "LastAccessTime"],
  ...["ImmutabilityPolicyUntilDate", "ImmutabilityPolicyMode", "ArchiveStatus"],
  ...["RehydratePriority", "TagCount", "RemainingRetentionDays"],
];

test("errors are always XML", async () => {
  const box = await newBox();
  await box.delete();
  await refused(itemsOf(box, ARROW), 404, "ContainerNotFound");
});
