import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BlobServiceClient,
  type ContainerClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { type RawAsked, rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());

function raw(
  box: ContainerClient,
  name: string,
  asked: Omit<RawAsked, "path"> & { query?: string },
) {
  return rawRequest(server, {
    ...asked,
    path: `/${box.containerName}/${name}?${asked.query ?? ""}`,
  });
}

function tagsXml(tags: readonly (readonly [string, string])[]): string {
  const all = tags.map(([key, value]) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`);
  return `<Tags><TagSet>${all.join("")}</TagSet></Tags>`;
}

test("tags are set, counted, read, replaced and removed, and the ETag stays the same", async () => {
  const box = await server.makeContainer();
  const blob = box.getBlockBlobClient("a");
  const { etag } = await blob.upload("text", 4);
  assert.deepEqual((await blob.getTags()).tags, {});
  assert.equal((await blob.getProperties()).tagCount, undefined);
  const tags = { project: "Lazuli", "a b": "+-./:=_", empty: "" };
  assert.equal((await blob.setTags(tags))._response.status, 204);
  assert.deepEqual((await blob.getTags()).tags, tags);
  const properties = await blob.getProperties();
  assert.deepEqual([properties.tagCount, properties.etag], [3, etag]);
  assert.equal((await blob.download()).tagCount, 3);
  await blob.setTags({ other: "1" });
  assert.deepEqual((await blob.getTags()).tags, { other: "1" });
  await blob.setTags({});
  assert.deepEqual((await blob.getTags()).tags, {});
});

test("every kind of upload can set tags, and removes them otherwise", async () => {
  const box = await server.makeContainer();
  const tags = { kind: "new", "with blank": "a=b c" };
  const block = box.getBlockBlobClient("block");
  const list = box.getBlockBlobClient("list");
  const page = box.getPageBlobClient("page");
  const log = box.getAppendBlobClient("log");
  await block.upload("text", 4, { tags });
  await list.stageBlock("AAAA", "text", 4);
  await list.commitBlockList(["AAAA"], { tags });
  await page.create(512, { tags });
  await log.create({ tags });
  for (const blob of [block, list, page, log]) {
    assert.deepEqual((await blob.getTags()).tags, tags, blob.name);
  }
  const found = async () => {
    const names: string[] = [];
    for await (const { name } of box.findBlobsByTags("kind='new'")) names.push(name);
    return names;
  };
  await log.appendBlock("more", 4);
  await block.setMetadata({ a: "b" });
  assert.deepEqual(await found(), ["block", "list", "log", "page"]);
  await block.upload("text", 4);
  assert.deepEqual((await block.getTags()).tags, {});
  assert.deepEqual(await found(), ["list", "log", "page"]);
});

test("a list includes tags on request", async () => {
  const box = await server.makeContainer();
  await box.getBlockBlobClient("a").upload("text", 4, { tags: { x: "1" } });
  await box.getBlockBlobClient("b").upload("text", 4);
  const shown = [];
  for await (const { name, tags, properties } of box.listBlobsFlat({ includeTags: true })) {
    shown.push([name, tags, properties.tagCount]);
  }
  assert.deepEqual(shown, [
    ["a", { x: "1" }, 1],
    ["b", undefined, undefined],
  ]);
  for await (const { tags } of box.listBlobsFlat()) assert.equal(tags, undefined);
});

test("invalid tags are refused, in a document and in a header", async () => {
  const box = await server.makeContainer();
  await box.getBlockBlobClient("a").upload("text", 4);
  const eleven = Array.from({ length: 11 }, (_, at): [string, string] => [`n${at}`, ""]);
  const cases: [string, [string, string][]][] = [
    ["TagsTooLarge", eleven],
    ["EmptyTagName", [["", "x"]]],
    ["InvalidTag", [["n".repeat(129), "x"]]],
    ["InvalidTag", [["n", "v".repeat(257)]]],
    ["InvalidTag", [["n", "ä"]]],
    ["InvalidTag", [["n*", ""]]],
    [
      "DuplicateTagNames",
      [
        ["n", "1"],
        ["n", "2"],
      ],
    ],
  ];
  for (const [code, tags] of cases) {
    const set = await raw(box, "a", { method: "PUT", query: "comp=tags", body: tagsXml(tags) });
    assert.deepEqual([set.status, set.code], [400, code]);
    const value = tags.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
    const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-tags": value };
    const put = await raw(box, "b", { method: "PUT", headers, body: "text" });
    assert.deepEqual([put.status, put.code], [400, code], value);
  }
  for (const [value, code] of [
    ["x".repeat(2_049), "TagsTooLarge"],
    ["novalue", "InvalidHeaderValue"],
    ["a=%zz", "InvalidHeaderValue"],
  ] as const) {
    const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-tags": value };
    const put = await raw(box, "b", { method: "PUT", headers, body: "text" });
    assert.deepEqual([put.status, put.code], [400, code]);
  }
  await refused(box.getBlobClient("b").getTags(), 404, "BlobNotFound");
});

test("a malformed tags document is refused", async () => {
  const box = await server.makeContainer();
  await box.getBlockBlobClient("a").upload("text", 4);
  for (const [body, code] of [
    ["", "InvalidXmlDocument"],
    ["<Tags>", "InvalidXmlDocument"],
    ["<TagSet></TagSet>", "InvalidXmlDocument"],
    ["<Tags></Tags>", "MissingRequiredXmlNode"],
    ["<Tags><TagSet><Tag><Key>a</Key></Tag></TagSet></Tags>", "MissingRequiredXmlNode"],
    ["<Tags><TagSet><Tug/></TagSet></Tags>", "UnsupportedXmlNode"],
    [tagsXml([["a", "x".repeat(40_000)]]), "RequestBodyTooLarge"],
  ] as const) {
    const answer = await raw(box, "a", { method: "PUT", query: "comp=tags", body });
    assert.equal(answer.code, code, body.slice(0, 60));
  }
  const body = tagsXml([["a", "b"]]);
  for (const [name, value, code] of [
    ["content-md5", "AAAAAAAAAAAAAAAAAAAAAA==", "Md5Mismatch"],
    ["x-ms-content-crc64", "AAAAAAAAAAA=", "Crc64Mismatch"],
  ] as const) {
    const headers = { [name]: value };
    const answer = await raw(box, "a", { method: "PUT", query: "comp=tags", body, headers });
    assert.deepEqual([answer.status, answer.code], [400, code]);
  }
});

test("setting tags of a leased blob requires the lease id, reading does not", async () => {
  const box = await server.makeContainer();
  const blob = box.getBlockBlobClient("a");
  await blob.upload("text", 4);
  const lease = blob.getBlobLeaseClient();
  const { leaseId = "" } = await lease.acquireLease(-1);
  await refused(blob.setTags({ a: "1" }), 412, "LeaseIdMissing");
  const other = "00000000-0000-0000-0000-00000000000b";
  const wrong = { conditions: { leaseId: other } };
  await refused(blob.setTags({ a: "1" }, wrong), 412, "LeaseIdMismatchWithBlobOperation");
  await refused(blob.getTags(wrong), 412, "LeaseIdMismatchWithBlobOperation");
  await blob.setTags({ a: "1" }, { conditions: { leaseId } });
  assert.deepEqual((await blob.getTags()).tags, { a: "1" });
});

test("tag operations have their own conditions, and ignore those of blobs", async () => {
  const box = await server.makeContainer();
  const { etag = "" } = await box.getBlockBlobClient("a").upload("text", 4);
  const body = tagsXml([["a", "b"]]);
  const set = (headers: Record<string, string>) =>
    raw(box, "a", { method: "PUT", query: "comp=tags", body, headers });
  const get = (headers: Record<string, string>) => raw(box, "a", { query: "comp=tags", headers });
  assert.equal((await set({ "x-ms-blob-if-match": '"0x1"' })).code, "ConditionNotMet");
  assert.equal((await set({ "x-ms-blob-if-match": etag })).status, 204);
  assert.equal((await set({ "if-match": '"0x1"' })).status, 204);
  assert.equal((await get({ "x-ms-blob-if-match": '"0x1"' })).status, 412);
  assert.equal((await get({ "x-ms-blob-if-none-match": etag })).status, 304);
});

const OPERATIONS: readonly (RawAsked & { blob?: string })[] = [
  { path: "", method: "GET" },
  { path: "", method: "HEAD" },
  { path: "comp=metadata", method: "GET" },
  { path: "comp=blocklist", method: "GET" },
  { path: "comp=tags", method: "GET" },
  { path: "comp=metadata", method: "PUT" },
  { path: "comp=properties", method: "PUT" },
  { path: "comp=snapshot", method: "PUT" },
  { path: "comp=tags", method: "PUT", body: tagsXml([["state", "open"]]) },
  { path: "comp=tier", method: "PUT", headers: { "x-ms-access-tier": "Cool" } },
  {
    path: "comp=lease",
    method: "PUT",
    headers: { "x-ms-lease-action": "break" },
    blob: "leased",
  },
  { path: "comp=blocklist", method: "PUT", body: "<BlockList></BlockList>" },
  { path: "", method: "PUT", body: "text", headers: { "x-ms-blob-type": "BlockBlob" } },
  { path: "", method: "DELETE" },
  {
    path: "comp=page",
    method: "PUT",
    body: "x".repeat(512),
    headers: { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" },
    blob: "page",
  },
  { path: "comp=pagelist", method: "GET", blob: "page" },
  { path: "comp=appendblock", method: "PUT", body: "text", blob: "log" },
  { path: "comp=seal", method: "PUT", blob: "log" },
];

for (const { path, blob = "a", ...asked } of OPERATIONS) {
  test(`${asked.method} ${path} (${blob}) heeds a condition on tags`, async () => {
    const box = await server.makeContainer();
    const tags = { state: "open" };
    await box.getBlockBlobClient("a").upload("text", 4, { tags });
    await box.getBlockBlobClient("leased").upload("text", 4, { tags });
    await box.getBlobClient("leased").getBlobLeaseClient().acquireLease(-1);
    await box.getPageBlobClient("page").create(512, { tags });
    await box.getAppendBlobClient("log").create({ tags });
    const ask = (condition: string) =>
      raw(box, blob, {
        ...asked,
        query: path,
        headers: { ...asked.headers, "x-ms-if-tags": condition },
      });
    const unmet = await ask(`"state" = 'closed'`);
    assert.deepEqual([unmet.status, unmet.code], [412, "ConditionNotMet"]);
    const broken = await ask("state = closed");
    assert.deepEqual([broken.status, broken.code], [400, "InvalidHeaderValue"]);
    const wrong = await ask("state = 'cl$sed'");
    assert.deepEqual([wrong.status, wrong.code], [400, "InvalidHeaderValue"]);
    const met = await ask("state = 'open' AND (size > '3' OR state <> 'closed')");
    assert.ok(met.status < 300, `${met.status} ${met.text}`);
  });
}

test("a condition on tags may have a thousand comparisons", async () => {
  const box = await server.makeContainer();
  const blob = box.getBlockBlobClient("a");
  await blob.upload("text", 4, { tags: { tag1: "val1" } });
  const values = Array.from({ length: 1_000 }, (_, i) => `tag1 <> 'v${i}'`);
  const tagConditions = values.join(" and ");
  assert.deepEqual((await blob.getTags({ conditions: { tagConditions } })).tags, { tag1: "val1" });
  const unmet = { tagConditions: `${tagConditions} and tag1 <> 'val1'` };
  await refused(blob.getTags({ conditions: unmet }), 412, "ConditionNotMet");
});

test("a tag that a blob does not have meets no condition, however long its name", async () => {
  const box = await server.makeContainer();
  const blob = box.getBlockBlobClient("a");
  await blob.upload("text", 4, { tags: { key1: "value1" } });
  const asked = (tagConditions: string) => blob.getTags({ conditions: { tagConditions } });
  await refused(asked(`${"k".repeat(140)}<>'value1'`), 412, "ConditionNotMet");
  await refused(asked("other<>'value1'"), 412, "ConditionNotMet");
  assert.equal((await asked(`key1<>'${"v".repeat(300)}'`)).tags.key1, "value1");
});

test("a missing blob meets no condition on tags", async () => {
  const box = await server.makeContainer();
  const conditions = { tagConditions: "state = 'open'" };
  const blob = box.getBlockBlobClient("a");
  await refused(blob.upload("text", 4, { conditions }), 412, "ConditionNotMet");
});

test("operations without tag conditions refuse them by name", async () => {
  const box = await server.makeContainer();
  const headers = { "x-ms-if-tags": "a='b'" };
  const block = await raw(box, "a", {
    method: "PUT",
    query: "comp=block&blockid=AAAA",
    headers,
    body: "text",
  });
  assert.deepEqual([block.status, block.code], [400, "UnsupportedHeader"]);
  const path = `/${box.containerName}?restype=container&comp=metadata`;
  const metadata = await rawRequest(server, { method: "PUT", path, headers });
  assert.equal(metadata.code, "UnsupportedHeader");
});

function through(box: ContainerClient, letters: string): ContainerClient {
  const sas = generateBlobSASQueryParameters(
    {
      containerName: box.containerName,
      permissions: ContainerSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    CREDENTIAL,
  );
  return new BlobServiceClient(`${server.url}?${sas}`).getContainerClient(box.containerName);
}

test("a SAS needs t in addition to set, read or compare tags", async () => {
  const box = await server.makeContainer();
  await box.getBlockBlobClient("a").upload("text", 4, { tags: { x: "1" } });
  const code = "AuthorizationPermissionMismatch";
  const tags = { x: "2" };
  const conditions = { tagConditions: "x='1'" };
  const without = through(box, "rwl");
  const blob = without.getBlockBlobClient("a");
  await refused(blob.upload("text", 4, { tags }), 403, code);
  await refused(blob.download(0, 1, { conditions }), 403, code);
  await refused(blob.setMetadata({}, { conditions }), 403, code);
  await refused(without.listBlobsFlat({ includeTags: true }).next(), 403, code);
  const letters = through(box, "rwlt");
  await letters.listBlobsFlat({ includeTags: true }).next();
  await letters.getBlockBlobClient("a").setMetadata({}, { conditions });
  await letters.getBlockBlobClient("a").upload("text", 4, { tags, conditions });
});
