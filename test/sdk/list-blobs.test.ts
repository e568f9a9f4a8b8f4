import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerClient } from "@azure/storage-blob";
import { NO_BYTES, wholeBody } from "../../src/base/bytes.ts";
import { OWNER } from "../../src/rules/access.ts";
import { NO_CONDITIONS } from "../../src/rules/conditions.ts";
import { putBlob } from "../../src/service/blob/put-blob.ts";
import { rawRequest } from "./raw-request.ts";
import { forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());

async function makeContainer(...names: string[]): Promise<ContainerClient> {
  const container = await server.makeContainer();
  await upload(container, names);
  return container;
}

async function upload(container: ContainerClient, names: readonly string[]): Promise<void> {
  for (const name of names) await container.getBlockBlobClient(name).upload("", 0);
}

/** Creates many blobs directly in the service, without network requests. */
async function fill(container: ContainerClient, names: readonly string[]): Promise<void> {
  const { account, context } = server;
  const at = { account, container: container.containerName };
  const put = (blob: string) =>
    putBlob(context, {
      at: { ...at, blob },
      access: OWNER,
      body: wholeBody(NO_BYTES),
      digests: { md5: null, crc64: null },
      properties: PLAIN,
      metadata: [],
      tags: [],
      tier: null,
      conditions: NO_CONDITIONS,
      leaseId: null,
    });
  for (let done = 0; done < names.length; done += 500) {
    await Promise.all(names.slice(done, done + 500).map(put));
  }
}

const PLAIN = {
  contentType: "application/octet-stream",
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
  contentMd5: null,
};

/** Few enough to stay cached from one list to the next. */
const TWENTY = Array.from({ length: 20 }, (_, index) => `blob ${index}`);
const LEASE_ID = "aaaaaaaa-0000-4000-8000-000000000001";

interface Listed {
  readonly blobs: string[];
  readonly prefixes: string[];
  readonly pages: number;
}

async function list(
  container: ContainerClient,
  { delimiter = "", pageSize = 5_000, ...options }: Record<string, unknown> = {},
): Promise<Listed> {
  const maxPageSize = Number(pageSize);
  const pages =
    delimiter === ""
      ? container.listBlobsFlat(options).byPage({ maxPageSize })
      : container.listBlobsByHierarchy(String(delimiter), options).byPage({ maxPageSize });
  const found = { blobs: [] as string[], prefixes: [] as string[], pages: 0 };
  for await (const page of pages) {
    found.pages++;
    found.blobs.push(...page.segment.blobItems.map(({ name }) => name));
    const { blobPrefixes = [] } = page.segment as { blobPrefixes?: { name: string }[] };
    found.prefixes.push(...blobPrefixes.map(({ name }) => name));
    const size = page.segment.blobItems.length + blobPrefixes.length;
    assert.ok(size <= maxPageSize, "a page is larger than asked for");
  }
  return found;
}

/** Sorts names by their UTF-8 bytes. */
function sorted(names: readonly string[]): string[] {
  return [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function numbered(many: number, prefix = "blob"): string[] {
  return Array.from({ length: many }, (_, at) => `${prefix}${String(at).padStart(5, "0")}`);
}

test("12,000 blobs are listed once each, in order, in pages of up to 5,000", async () => {
  const names = numbered(12_000);
  const container = await makeContainer();
  await fill(container, names);
  const whole = await list(container);
  assert.deepEqual(whole.blobs, names);
  assert.equal(whole.pages, 3);
  const small = await list(container, { pageSize: 999, prefix: "blob07" });
  assert.deepEqual(small.blobs, names.slice(7_000, 8_000));
  assert.equal(small.pages, 2);
  for (const pageSize of [1, 7, 100]) {
    const { blobs } = await list(container, { pageSize, prefix: "blob1199" });
    assert.deepEqual(blobs, names.slice(11_990));
  }
});

test("names are listed in the order of their UTF-8 bytes", async () => {
  const names = [
    "A",
    "a",
    "a b",
    "a&b<c>d\"e'f",
    "a%20b",
    "a+b",
    "a/",
    "a//",
    "a/b",
    "ä",
    "日本語/テスト",
    "\u{1f600}",
    "\u{ff5e}",
    "z".repeat(1_024),
    "\u{20ac}".repeat(1_024),
    "trailing.",
    " leading",
  ];
  const container = await makeContainer(...names);
  for (const pageSize of [1, 2, 5_000]) {
    assert.deepEqual((await list(container, { pageSize })).blobs, sorted(names));
  }
  assert.deepEqual((await list(container, { prefix: "a&" })).blobs, ["a&b<c>d\"e'f"]);
  assert.deepEqual((await list(container, { prefix: "日本" })).blobs, ["日本語/テスト"]);
  assert.deepEqual((await list(container, { prefix: "\u{20ac}" })).blobs.length, 1);
});

test("a delimiter groups names into prefixes, at every level and page size", async () => {
  const names = [
    "1.txt",
    ...numbered(40, "a/b/"),
    "a/b.txt",
    "a/z",
    "b/",
    "b//c",
    "c/d/e/f",
    "d",
    "d/e",
    "e\u{1f600}/x",
  ];
  const container = await makeContainer(...names);
  for (const pageSize of [1, 2, 3, 5_000]) {
    const top = await list(container, { delimiter: "/", pageSize });
    assert.deepEqual(top.blobs, ["1.txt", "d"]);
    assert.deepEqual(top.prefixes, ["a/", "b/", "c/", "d/", "e\u{1f600}/"]);
    const inner = await list(container, { delimiter: "/", prefix: "a/", pageSize });
    assert.deepEqual([inner.blobs, inner.prefixes], [["a/b.txt", "a/z"], ["a/b/"]]);
    const b = await list(container, { delimiter: "/", prefix: "b/", pageSize });
    assert.deepEqual([b.blobs, b.prefixes], [["b/"], ["b//"]]);
    const partial = await list(container, { delimiter: "/", prefix: "a", pageSize });
    assert.deepEqual([partial.blobs, partial.prefixes], [[], ["a/"]]);
    const none = await list(container, { delimiter: "/", prefix: "x/", pageSize });
    assert.deepEqual([none.blobs, none.prefixes], [[], []]);
  }
});

test("names that XML cannot carry are listed percent-encoded, and decoded by the client", async () => {
  const names = ["a\u{fffe}", "b\u{ffff}/c d&e", "plain"];
  const container = await makeContainer(...names);
  assert.deepEqual((await list(container, { pageSize: 1 })).blobs, names);
  const tree = await list(container, { delimiter: "/" });
  assert.deepEqual([tree.blobs, tree.prefixes], [["a\u{fffe}", "plain"], ["b\u{ffff}/"]]);
  const { text } = await rawRequest(server, { path: listPath(container) });
  const found = [...text.matchAll(/<Name.*?<\/Name>/g)].map(([name]) => name);
  assert.deepEqual(found, [
    '<Name Encoded="true">a%EF%BF%BE</Name>',
    '<Name Encoded="true">b%EF%BF%BF%2Fc%20d%26e</Name>',
    "<Name>plain</Name>",
  ]);
});

test("a delimiter may be any string", async () => {
  const container = await makeContainer("a--b--c", "a--d", "a-e", "x\u{1f600}y", "x\u{1f600}z");
  const dashes = await list(container, { delimiter: "--" });
  assert.deepEqual(
    [dashes.blobs, dashes.prefixes],
    [["a-e", "x\u{1f600}y", "x\u{1f600}z"], ["a--"]],
  );
  const smile = await list(container, { delimiter: "\u{1f600}" });
  assert.deepEqual([smile.blobs, smile.prefixes], [["a--b--c", "a--d", "a-e"], ["x\u{1f600}"]]);
  const first = await list(container, { delimiter: "--", prefix: "a--" });
  assert.deepEqual([first.blobs, first.prefixes], [["a--d"], ["a--b--"]]);
});

test("a list continues where it stopped, despite deletions and additions", async () => {
  const names = numbered(30);
  const container = await makeContainer(...names);
  const pages = container.listBlobsFlat().byPage({ maxPageSize: 10 });
  const first = (await pages.next()).value;
  assert.equal(first.segment.blobItems.at(-1)?.name, "blob00009");
  // The last one seen, the next one, and a much later one.
  for (const name of ["blob00009", "blob00010", "blob00025"]) await container.deleteBlob(name);
  await upload(container, ["blob00009a", "blob00000a"]);
  const rest: string[] = [];
  for await (const page of pages) rest.push(...page.segment.blobItems.map(({ name }) => name));
  const left = names.slice(11).filter((name) => name !== "blob00025");
  assert.deepEqual(rest, ["blob00009a", ...left]);
});

test("a list by hierarchy continues after a prefix that is gone", async () => {
  const container = await makeContainer("a/1", "a/2", "b/1", "c/1", "d");
  const pages = container.listBlobsByHierarchy("/").byPage({ maxPageSize: 1 });
  const first = (await pages.next()).value;
  assert.deepEqual(
    first.segment.blobPrefixes?.map(({ name }: { name: string }) => name),
    ["a/"],
  );
  await container.deleteBlob("a/1");
  await container.deleteBlob("b/1");
  await upload(container, ["a/3"]);
  const rest: string[] = [];
  for await (const { segment } of pages) {
    for (const item of [...(segment.blobPrefixes ?? []), ...segment.blobItems])
      rest.push(item.name);
  }
  assert.deepEqual(rest, ["c/", "d"]);
});

test("every listed property equals the one read from the blob", async () => {
  const container = await makeContainer();
  const blob = container.getBlockBlobClient("blob");
  await blob.upload("hello", 5, {
    metadata: { one: "1", two: "a & <b>" },
    blobHTTPHeaders: {
      blobContentType: "text/plain; charset=utf-8",
      blobContentEncoding: "identity",
      blobContentLanguage: "en",
      blobContentDisposition: 'attachment; filename="a&b"',
      blobCacheControl: "no-cache",
    },
  });
  server.clock.advance(90_000);
  await blob.setMetadata({ one: "1", two: "a & <b>" });
  await blob.getBlobLeaseClient(LEASE_ID).acquireLease(-1);
  const found = await blob.getProperties();
  const [listed] = (await container.listBlobsFlat({ includeMetadata: true }).byPage().next()).value
    .segment.blobItems;
  assert.equal(`"${listed.properties.etag}"`, found.etag);
  assert.deepEqual(listed.metadata, { one: "1", two: "a & <b>" });
  for (const name of [
    "createdOn",
    "lastModified",
    "contentLength",
    "contentType",
    "contentEncoding",
    "contentLanguage",
    "contentDisposition",
    "cacheControl",
    "contentMD5",
    "blobType",
    "leaseStatus",
    "leaseState",
    "leaseDuration",
  ] as const) {
    assert.deepEqual(listed.properties[name], found[name], name);
  }
  assert.equal(listed.properties.serverEncrypted, true);
  const [bare] = (await container.listBlobsFlat().byPage().next()).value.segment.blobItems;
  assert.equal(bare.metadata, undefined);
});

test("a repeated list shows changes by writes and by time", async () => {
  const container = await makeContainer(...TWENTY);
  await container.getBlobClient("blob 5").getBlobLeaseClient(LEASE_ID).acquireLease(15);
  await container.getBlobClient("blob 6").setAccessTier("Archive");
  await container.getBlobClient("blob 6").setAccessTier("Cool", { rehydratePriority: "High" });
  const shown = async (name: string) => {
    for await (const blob of container.listBlobsFlat()) if (blob.name === name) return blob;
    throw new Error(`${name} is not listed`);
  };
  for (let times = 0; times < 2; times++) {
    assert.equal((await shown("blob 5")).properties.leaseState, "leased");
    assert.equal((await shown("blob 6")).properties.accessTier, "Archive");
  }
  server.clock.advance(3_600_000);
  assert.equal((await shown("blob 5")).properties.leaseState, "expired");
  assert.equal((await shown("blob 6")).properties.accessTier, "Cool");
  const { etag } = await container.getBlobClient("blob 7").setMetadata({ a: "b" });
  assert.equal(`"${(await shown("blob 7")).properties.etag}"`, etag);
  await container.getBlobClient("blob 8").delete();
  await assert.rejects(shown("blob 8"));
});

test("each list shows the properties it asks for, whatever other lists asked for", async () => {
  const container = await makeContainer(...TWENTY);
  const blob = container.getBlockBlobClient("blob 5");
  await blob.upload("text", 4, { metadata: { a: "b" }, tags: { c: "d" } });
  const target = container.getBlockBlobClient("blob 6");
  await (await target.beginCopyFromURL(blob.url)).pollUntilDone();
  const parts = [
    ["metadata", /<a>b<\/a>/],
    ["tags", /<Key>c<\/Key>/],
    ["copy", /<CopyStatus>/],
  ] as const;
  for (let asked = 0; asked < 16; asked++) {
    const included = parts.filter((_, bit) => (asked & (1 << bit)) !== 0).map(([name]) => name);
    const include = included.length === 0 ? "" : `&include=${included.join(",")}`;
    const { text } = await rawRequest(server, { path: listPath(container, include) });
    for (const [name, form] of parts) assert.equal(form.test(text), included.includes(name), name);
  }
});

test("blobs with uncommitted blocks only are listed on request", async () => {
  const container = await makeContainer("b", "d");
  for (const name of ["a", "b", "c", "e/f"]) {
    await container.getBlockBlobClient(name).stageBlock("YQ==", "x", 1);
  }
  assert.deepEqual((await list(container)).blobs, ["b", "d"]);
  for (const pageSize of [1, 2, 5_000]) {
    const options = { includeUncommitedBlobs: true, pageSize };
    assert.deepEqual((await list(container, options)).blobs, ["a", "b", "c", "d", "e/f"]);
    const tree = await list(container, { ...options, delimiter: "/" });
    assert.deepEqual([tree.blobs, tree.prefixes], [["a", "b", "c", "d"], ["e/"]]);
  }
  await container.getBlockBlobClient("c").commitBlockList(["YQ=="]);
  assert.deepEqual((await list(container)).blobs, ["b", "c", "d"]);
});

function listPath(container: ContainerClient, query = ""): string {
  return `/${container.containerName}?restype=container&comp=list${query}`;
}

test("the document has the service's form, always with a next marker", async () => {
  const container = await makeContainer("a/b", "c");
  const { etag, createdOn, lastModified } = await container.getBlobClient("c").getProperties();
  const open = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="${server.url}/" ContainerName="${container.containerName}">`;
  const blob =
    `<Blob><Name>c</Name><Properties><Creation-Time>${createdOn?.toUTCString()}</Creation-Time>` +
    `<Last-Modified>${lastModified?.toUTCString()}</Last-Modified>` +
    `<Etag>${etag?.replaceAll('"', "")}</Etag><Content-Length>0</Content-Length>` +
    "<Content-Type>application/octet-stream</Content-Type><Content-Encoding />" +
    "<Content-Language /><Content-CRC64 /><Content-MD5>1B2M2Y8AsgTpgAmY7PhCfg==</Content-MD5>" +
    "<Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType>" +
    "<AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>" +
    "<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>" +
    "<ServerEncrypted>true</ServerEncrypted></Properties><OrMetadata /></Blob>";
  const all = await rawRequest(server, { path: listPath(container, "&delimiter=/&maxresults=9") });
  assert.equal(all.headers.get("content-type"), "application/xml");
  assert.equal(
    all.text,
    `${open}<MaxResults>9</MaxResults><Delimiter>/</Delimiter><Blobs>` +
      `<BlobPrefix><Name>a/</Name></BlobPrefix>${blob}</Blobs><NextMarker /></EnumerationResults>`,
  );
  const one = await rawRequest(server, { path: listPath(container, "&maxresults=1") });
  const marker = /<NextMarker>(.+)<\/NextMarker>/.exec(one.text)?.[1] ?? "";
  const rest = await rawRequest(server, { path: listPath(container, `&marker=${marker}`) });
  const expected = `<Marker>${marker}</Marker><Blobs>${blob}</Blobs><NextMarker />`;
  assert.equal(rest.text, `${open}${expected}</EnumerationResults>`);
});

test("startFrom skips the names before it", async () => {
  const container = await makeContainer("a", "b/1", "b/2", "c");
  const names = async (query: string) => {
    const { text } = await rawRequest(server, { path: listPath(container, query) });
    return [...text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name);
  };
  assert.deepEqual(await names("&startFrom=b"), ["b/1", "b/2", "c"]);
  assert.deepEqual(await names("&startFrom=b/2"), ["b/2", "c"]);
  assert.deepEqual(await names("&startFrom=b/2&prefix=b"), ["b/2"]);
  assert.deepEqual(await names("&startFrom=a&prefix=b"), ["b/1", "b/2"]);
  assert.deepEqual(await names("&startFrom=b/2&delimiter=/"), ["b/", "c"]);
  assert.deepEqual(await names("&startFrom=d"), []);
});

test("an invalid list request is refused", async () => {
  const container = await makeContainer("a", "b");
  const long = "x".repeat(1_025);
  for (const [query, code] of [
    ["&maxresults=0", "OutOfRangeQueryParameterValue"],
    ["&maxresults=-5", "OutOfRangeQueryParameterValue"],
    ["&maxresults=many", "InvalidQueryParameterValue"],
    ["&maxresults=1.5", "InvalidQueryParameterValue"],
    ["&include=everything", "InvalidQueryParameterValue"],
    ["&include=metadata,", "InvalidQueryParameterValue"],
    ["&include=snapshots&delimiter=/", "InvalidQueryParameterValue"],
    ["&marker=garbled", "InvalidQueryParameterValue"],
    ["&marker=%F0%9F%98%80", "InvalidQueryParameterValue"],
    ["&marker=bv--", "InvalidQueryParameterValue"],
    [`&marker=${Buffer.from(`n${long}`).toString("base64url")}`, "InvalidQueryParameterValue"],
    [`&marker=${Buffer.from("s-1:a").toString("base64url")}`, "InvalidQueryParameterValue"],
    [
      `&marker=${Buffer.from(`s${2n ** 64n}:a`).toString("base64url")}`,
      "InvalidQueryParameterValue",
    ],
    [`&marker=${Buffer.from(`s1:${long}`).toString("base64url")}`, "InvalidQueryParameterValue"],
    [`&prefix=${long}`, "InvalidQueryParameterValue"],
    [`&startFrom=${long}`, "InvalidQueryParameterValue"],
  ]) {
    const answer = await rawRequest(server, { path: listPath(container, query) });
    assert.deepEqual([answer.status, answer.code], [400, code], query);
  }
  const many = await rawRequest(server, { path: listPath(container, "&maxresults=50000") });
  assert.equal(many.status, 200);
});

test("every include is accepted, alone and together", async () => {
  const container = await makeContainer("a");
  const words = [
    ..."snapshots,metadata,uncommittedblobs,copy,deleted,tags,versions".split(","),
    ..."deletedwithversions,immutabilitypolicy,legalhold,permissions".split(","),
  ];
  for (const include of [...words, words.join(","), "Metadata, Snapshots"]) {
    const query = `&include=${encodeURIComponent(include)}`;
    const answer = await rawRequest(server, { path: listPath(container, query) });
    assert.equal(answer.status, 200, include);
    assert.match(answer.text, /<Name>a<\/Name>/);
  }
});
