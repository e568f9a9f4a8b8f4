import assert from "node:assert/strict";
import { test } from "node:test";
import type { BlobServiceClient, ContainerClient, RestError } from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());

async function found(
  client: BlobServiceClient | ContainerClient,
  where: string,
): Promise<string[]> {
  const names: string[] = [];
  for await (const item of client.findBlobsByTags(where)) {
    names.push(`${item.containerName}/${item.name}`);
  }
  return names;
}

test("blobs are found by their tags, in one container and in all", async () => {
  const boxes = [await server.makeContainer(), await server.makeContainer()];
  const project = "project";
  for (const [at, box] of boxes.entries()) {
    for (const name of ["a", "b", "c"]) {
      const tags = { project, name, at: String(at) };
      await box.getBlockBlobClient(name).upload("text", 4, { tags });
    }
  }
  const [first, second] = boxes.map(({ containerName }) => containerName);
  const all = server.client();
  assert.deepEqual(await found(all, `project='${project}' AND name > 'a'`), [
    `${first}/b`,
    `${first}/c`,
    `${second}/b`,
    `${second}/c`,
  ]);
  assert.deepEqual(
    await found(all, `@container='${second}' AND project='${project}' AND name='b'`),
    [`${second}/b`],
  );
  const [one] = boxes as [ContainerClient];
  assert.deepEqual(await found(one, `"project"='${project}' AND name >= 'b' AND name < 'c'`), [
    `${first}/b`,
  ]);
  assert.deepEqual(await found(one, `project='${project}' AND at='1'`), []);
  await one.getBlobClient("b").setTags({ project: "another" });
  await one.getBlobClient("c").delete();
  assert.deepEqual(await found(one, `project='${project}'`), [`${first}/a`]);
});

test("results show the tags in the query", async () => {
  const box = await server.makeContainer();
  await box.getBlockBlobClient("a&b").upload("text", 4, { tags: { x: "1", y: "2", z: "3" } });
  for await (const item of box.findBlobsByTags("x='1' AND y<='2'")) {
    assert.deepEqual([item.name, item.tags], ["a&b", { x: "1", y: "2" }]);
  }
});

test("results are paged, and only our own markers are accepted", async () => {
  const box = await server.makeContainer();
  const names = Array.from({ length: 7 }, (_, at) => `blob\n${at}`);
  for (const name of names) {
    await box.getBlockBlobClient(name.replace("\n", "-")).upload("text", 4, { tags: { p: "1" } });
  }
  const pages = [];
  for await (const page of box.findBlobsByTags("p>='0'").byPage({ maxPageSize: 3 })) {
    pages.push(page.blobs.length);
  }
  assert.deepEqual(pages, [3, 3, 1]);
  const path = `/${box.containerName}?restype=container&comp=blobs&where=${encodeURIComponent("p='1'")}`;
  const marker = await rawRequest(server, { path: `${path}&marker=nonsense` });
  assert.deepEqual([marker.status, marker.code], [400, "InvalidQueryParameterValue"]);
  const none = await rawRequest(server, { path: `${path}&maxresults=0` });
  assert.deepEqual([none.status, none.code], [400, "OutOfRangeQueryParameterValue"]);
});

test("a search continues after the longest possible container, value and blob", async () => {
  const client = server.client();
  const tags = { p: "v".repeat(256) };
  const box = client.getContainerClient("c".repeat(63));
  await box.create();
  for (const end of ["a", "b", "c"]) {
    await box.getBlockBlobClient("\uffed".repeat(1_023) + end).upload("text", 4, { tags });
  }
  const pages = [];
  for await (const page of client.findBlobsByTags("p>'u'").byPage({ maxPageSize: 1 })) {
    pages.push(page.blobs.map(({ name }) => name.at(-1)).join());
  }
  assert.deepEqual(pages, ["a", "b", "c"]);
});

test("a marker that no search writes is refused, however long", async () => {
  const where = encodeURIComponent("p>'u'");
  for (const text of [
    `a${"c".repeat(64)}\nv\nblob`,
    `abox\n${"v".repeat(257)}\nblob`,
    `abox\n${"\0".repeat(200)}\nblob`,
    `abox\nv\n${"\uffed".repeat(1_200)}`,
    `c${"\uffed".repeat(1_300)}`,
  ]) {
    const marker = Buffer.from(text).toString("base64url");
    const path = `/?comp=blobs&where=${where}&marker=${marker}`;
    const { status, code } = await rawRequest(server, { path });
    assert.deepEqual([status, code], [400, "InvalidQueryParameterValue"], text);
  }
});

test("unsupported queries are refused", async () => {
  const box = await server.makeContainer();
  for (const where of ["", "a", "a<>'b'", "a='b' OR c='d'", "@container='x'", "a='b'; drop"]) {
    const query = `restype=container&comp=blobs&where=${encodeURIComponent(where)}`;
    const { status, code } = await rawRequest(server, { path: `/${box.containerName}?${query}` });
    const expected = where === "" ? "MissingRequiredQueryParameter" : "InvalidQueryParameterValue";
    assert.deepEqual([status, code], [400, expected], where);
  }
  const past = "restype=container&comp=blobs&where=a%3D'b'&include=versions";
  const path = `/${box.containerName}?${past}`;
  assert.equal((await rawRequest(server, { path })).code, "InvalidQueryParameterValue");
  const nowhere = server.client().getContainerClient("nowhere");
  await refused(found(nowhere, "a='b'"), 404, "ContainerNotFound");
});

test("a malformed query is refused in the service's words, with the position", async () => {
  const box = await server.makeContainer();
  const service = server.client();
  const at = "Error parsing query at or near character position";
  const many = Array.from({ length: 11 }, (_, i) => `t${i}='v'`).join(" and ");
  for (const [where, sentence] of [
    ["fieldTag='A' AND (b='1' OR b='2')", `${at} 25: unexpected 'OR'`],
    ["key1='v' and @container11='1111'", `${at} 14: unsupported parameter '@container11'`],
    ["key-1='v'", `${at} 1: unexpected 'key-1'`],
    [`${"k".repeat(129)}='v'`, `${at} 1: tag must be between 1 and 128 characters in length`],
    ["key1='v @'", `${at} 6: '@' not permitted in tag name or value`],
    [`a='${"v".repeat(257)}'`, `${at} 3: tag value must be between 0 and 256 characters in length`],
    [many, "Error parsing query: there can be at most 10 unique tags in a query"],
  ] as const) {
    for (const client of [service, box]) {
      await assert.rejects(found(client, where), (error: RestError) => {
        assert.deepEqual([error.statusCode, error.code], [400, "InvalidQueryParameterValue"]);
        const { message } = error.details as { message: string };
        assert.equal(message.split("\n", 1)[0], sentence, where);
        return true;
      });
    }
  }
  await assert.rejects(found(box, `a='b' AND @container='${box.containerName}'`), (error) =>
    String(error).includes("Error parsing query: Cannot have container in both uri and query"),
  );
  assert.deepEqual(await found(service, `@container='${box.containerName}' AND a='b'`), []);
});

test("tags belong to a version: older versions keep theirs, and only the current one is found", async () => {
  const box = await server.makeContainer();
  const blob = box.getBlockBlobClient("a");
  await blob.upload("text", 4, { tags: { p: "old" } });
  const { snapshot = "" } = await blob.createSnapshot();
  await blob.setTags({ p: "new" });
  assert.deepEqual((await blob.withSnapshot(snapshot).getTags()).tags, { p: "old" });
  assert.deepEqual(await found(box, "p='old'"), []);
  assert.equal((await found(box, "p='new'")).length, 1);
  const query = `comp=tags&snapshot=${snapshot}`;
  const body = "<Tags><TagSet><Tag><Key>p</Key><Value>x</Value></Tag></TagSet></Tags>";
  const path = `/${box.containerName}/a?${query}`;
  const set = await rawRequest(server, { method: "PUT", path, body });
  assert.deepEqual([set.status, set.code], [400, "InvalidQueryParameterValue"]);
});

test("with versions, each has its own tags, and the current one is found", async () => {
  const versioned = await startServer({ blob: { versioning: true, containerRetentionDays: null } });
  try {
    const box = versioned.client().getContainerClient("box");
    await box.create();
    const blob = box.getBlockBlobClient("a");
    const { versionId = "" } = await blob.upload("one", 3, { tags: { p: "old" } });
    await blob.upload("two", 3, { tags: { p: "new" } });
    const old = blob.withVersion(versionId);
    assert.deepEqual((await old.getTags()).tags, { p: "old" });
    await old.setTags({ p: "older" });
    await old.setAccessTier("Archive");
    assert.deepEqual((await old.getTags()).tags, { p: "older" });
    await refused(old.download(), 409, "BlobArchived");
    assert.equal((await blob.downloadToBuffer()).toString(), "two");
    assert.deepEqual(await found(box, "p>='a'"), ["box/a"]);
    assert.deepEqual(await found(box, "p>='o'"), []);
    await blob.delete();
    assert.deepEqual(await found(box, "p>='a'"), []);
  } finally {
    await versioned.close();
  }
});

test("a deleted blob is not found, a restored one is", async () => {
  const service = server.client();
  await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 1 } });
  const box = await server.makeContainer();
  const blob = box.getBlockBlobClient("a");
  await blob.upload("text", 4, { tags: { p: "kept" } });
  await blob.delete();
  assert.deepEqual(await found(box, "p='kept'"), []);
  await blob.undelete();
  assert.equal((await found(box, "p='kept'")).length, 1);
  assert.deepEqual((await blob.getTags()).tags, { p: "kept" });
  await service.setProperties({ deleteRetentionPolicy: { enabled: false } });
});
