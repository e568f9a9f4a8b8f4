import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareDirectoryClient } from "@azure/storage-file-share";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

let server: FileServer;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function filled(names: readonly string[]): Promise<ShareDirectoryClient> {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create();
  for (const name of names) {
    if (name.endsWith("/")) await directory.getDirectoryClient(name.slice(0, -1)).create();
    else await directory.getFileClient(name).create(name.length);
  }
  return directory;
}

async function names(
  directory: ShareDirectoryClient,
  options: Parameters<ShareDirectoryClient["listFilesAndDirectories"]>[0] = {},
  maxPageSize = 100,
): Promise<string[][]> {
  const pages: string[][] = [];
  const found = directory.listFilesAndDirectories(options).byPage({ maxPageSize });
  for await (const { segment } of found) {
    pages.push([
      ...segment.directoryItems.map(({ name }) => `${name}/`),
      ...segment.fileItems.map(({ name }) => name),
    ]);
  }
  return pages;
}

test("a directory lists its files and directories, and nothing below them", async () => {
  const directory = await filled(["b.txt", "A.txt", "sub/"]);
  await directory.getDirectoryClient("sub").getFileClient("deep").create(0);
  assert.deepEqual(await names(directory), [["sub/", "A.txt", "b.txt"]]);
  const items = [];
  for await (const item of directory.listFilesAndDirectories()) items.push(item);
  const sizes = items.map((item) => (item.kind === "file" ? item.properties.contentLength : -1));
  assert.deepEqual(sizes.sort(), [-1, 5, 5]);
});

test("names are sorted and found without regard to case", async () => {
  const directory = await filled(["Banana", "apple", "APRICOT", "ärger", "Zoo"]);
  assert.deepEqual(await names(directory), [["apple", "APRICOT", "Banana", "Zoo", "ärger"]]);
  assert.deepEqual(await names(directory, { prefix: "ap" }), [["apple", "APRICOT"]]);
  assert.deepEqual(await names(directory, { prefix: "ÄR" }), [["ärger"]]);
  assert.deepEqual(await names(directory, { prefix: "x" }), [[]]);
});

test("a list continues where the previous page ended, despite changes in between", async () => {
  const directory = await filled(["a", "b", "c", "d", "e"]);
  assert.deepEqual(await names(directory, {}, 2), [["a", "b"], ["c", "d"], ["e"]]);
  const pages = directory.listFilesAndDirectories().byPage({ maxPageSize: 2 });
  await pages.next();
  await directory.getFileClient("b").delete();
  await directory.getFileClient("bb").create(0);
  const { value } = await pages.next();
  const second = value.segment.fileItems.map(({ name }: { name: string }) => name);
  assert.deepEqual(second, ["bb", "c"]);
});

test("times, ETags, attributes and permission keys are listed on request", async () => {
  const directory = await filled(["file", "sub/"]);
  const properties = await directory.getFileClient("file").getProperties();
  const items = [];
  for await (const item of directory.listFilesAndDirectories({
    includeTimestamps: true,
    includeEtag: true,
    includeAttributes: true,
    includePermissionKey: true,
    includeExtendedInfo: true,
  })) {
    items.push(item);
  }
  const file = items.find(({ kind }) => kind === "file");
  assert.equal(file?.fileId, properties.fileId);
  assert.equal(file?.properties?.etag, properties.etag);
  assert.equal(file?.permissionKey, properties.filePermissionKey);
  assert.equal(file?.attributes, "Archive");
  assert.deepEqual(file?.properties?.creationTime, properties.fileCreatedOn);
  assert.deepEqual(file?.properties?.lastWriteTime, properties.fileLastWriteOn);
  assert.deepEqual(file?.properties?.lastModified, properties.lastModified);
  const sub = items.find(({ kind }) => kind === "directory");
  assert.equal(sub?.attributes, "Directory");
});

test("ids are always listed since 2020-10-02", async () => {
  const directory = await filled(["file"]);
  const { fileId } = await directory.getFileClient("file").getProperties();
  const found = [];
  for await (const item of directory.listFilesAndDirectories()) found.push(item.fileId);
  assert.deepEqual(found, [fileId]);
  const path = `/${directory.shareName}/${directory.path}?restype=directory&comp=list`;
  const idsIn = async (version: string) =>
    (await rawRequest(server, { path, version })).text.match(/<(FileId|DirectoryId)>/g);
  assert.deepEqual(await idsIn("2020-10-02"), ["<DirectoryId>", "<FileId>"]);
  assert.equal(await idsIn("2020-10-01"), null);
});

test("the root is listed with and without a slash", async () => {
  const share = await server.newShare();
  await share.rootDirectoryClient.getFileClient("file").create(0);
  for (const path of [`/${share.name}`, `/${share.name}/`]) {
    const { status, text } = await rawRequest(server, {
      path: `${path}?restype=directory&comp=list`,
    });
    assert.equal(status, 200);
    assert.match(
      text,
      /DirectoryPath=""><DirectoryId>0<\/DirectoryId><Entries><File><FileId>\d+<\/FileId><Name>file<\/Name>/,
    );
  }
});

test("lists refuse unknown parameters", async () => {
  const directory = await filled([]);
  const list = `/${directory.shareName}/dir?restype=directory&comp=list`;
  const code = async (query: string) => (await rawRequest(server, { path: list + query })).code;
  assert.equal(await code("&include=Everything"), "InvalidQueryParameterValue");
  assert.equal(await code("&marker=nonsense"), "InvalidQueryParameterValue");
  assert.equal(await code("&maxresults=0"), "OutOfRangeQueryParameterValue");
  const missing = server.client().getShareClient(directory.shareName).getDirectoryClient("missing");
  await refused(missing.listFilesAndDirectories().next(), 404, "ResourceNotFound");
});
