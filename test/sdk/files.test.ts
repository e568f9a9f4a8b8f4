import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { FileSystemAttributes } from "@azure/storage-file-share";
import { crc64 } from "../../src/machine/crc64.ts";
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

const newShare = () => server.newShare();

test("bytes written to a file are read back, and the rest is zeroes", async () => {
  const share = await newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create();
  const file = directory.getFileClient("file.txt");
  await file.create(10);
  await file.uploadRange("hello", 3, 5);
  const read = await file.downloadToBuffer();
  assert.equal(read.toString(), "\0\0\0hello\0\0");
  const { contentLength, fileType } = (await file.getProperties()) as {
    contentLength: number;
    fileType?: string;
  };
  assert.deepEqual([contentLength, fileType], [10, "File"]);
});

test("names are found in any case, and keep the case they were created with", async () => {
  const share = await newShare();
  const upper = share.getDirectoryClient("Größe").getFileClient("Read Me.TXT");
  await share.getDirectoryClient("Größe").create();
  await upper.create(0);
  const lower = share.getDirectoryClient("GRÖßE").getFileClient("read me.txt");
  const [one, other] = [await upper.getProperties(), await lower.getProperties()];
  assert.equal(one.fileId, other.fileId);
});

test("creating something in a missing directory is refused", async () => {
  const share = await newShare();
  const missing = share.getDirectoryClient("missing");
  await refused(missing.getFileClient("file").create(1), 404, "ParentNotFound");
  await refused(missing.getDirectoryClient("below").create(), 404, "ParentNotFound");
  await refused(
    share.rootDirectoryClient.getFileClient("file").getProperties(),
    404,
    "ResourceNotFound",
  );
});

test("a write beyond the end of a file is refused", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(4);
  await refused(file.uploadRange("hello", 0, 5), 416, "InvalidRange");
});

test("a share can be deleted and created again", async () => {
  const share = await newShare();
  await refused(share.create(), 409, "ShareAlreadyExists");
  await share.rootDirectoryClient.getFileClient("file").create(1);
  await share.delete();
  await refused(share.getProperties(), 404, "ShareNotFound");
  await share.create();
  await refused(
    share.rootDirectoryClient.getFileClient("file").getProperties(),
    404,
    "ResourceNotFound",
  );
});

test("only an empty directory can be deleted", async () => {
  const share = await newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create({ metadata: { color: "red" } });
  const file = directory.getFileClient("file");
  await file.create(1);
  await refused(directory.delete(), 409, "DirectoryNotEmpty");
  await file.delete();
  await refused(file.delete(), 404, "ResourceNotFound");
  await directory.setMetadata({ color: "blue" });
  const { metadata, fileAttributes } = await directory.getProperties();
  assert.deepEqual([metadata, fileAttributes], [{ color: "blue" }, "Directory"]);
  await directory.delete();
  await refused(directory.getProperties(), 404, "ResourceNotFound");
});

test("a file and a directory cannot have the same name", async () => {
  const share = await newShare();
  await share.getDirectoryClient("one").create();
  await share.rootDirectoryClient.getFileClient("two").create(0);
  await refused(
    share.rootDirectoryClient.getFileClient("one").create(0),
    409,
    "ResourceTypeMismatch",
  );
  await refused(share.getDirectoryClient("two").create(), 409, "ResourceTypeMismatch");
  await refused(share.getDirectoryClient("one").create(), 409, "ResourceAlreadyExists");
});

test("a file can be created with initial content", async () => {
  const share = await newShare();
  const asked = {
    method: "PUT",
    path: `/${share.name}/file`,
    headers: { "x-ms-type": "file", "x-ms-content-length": "8" },
    body: "hello",
  };
  const answer = await rawRequest(server, asked);
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.get("content-md5"), "XUFAKrxLKna5cZ2REBfFkg==");
  const file = share.rootDirectoryClient.getFileClient("file");
  assert.equal((await file.downloadToBuffer()).toString(), "hello\0\0\0");
  const wrong = { ...asked.headers, "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" };
  assert.equal((await rawRequest(server, { ...asked, headers: wrong })).code, "Md5Mismatch");
  const short = { ...asked.headers, "x-ms-content-length": "4" };
  assert.equal((await rawRequest(server, { ...asked, headers: short })).code, "InvalidHeaderValue");
});

test("the format of the initial content is confirmed", async () => {
  const share = await newShare();
  const form = "XSM/1.0; properties=crc64";
  const answer = await rawRequest(server, {
    method: "PUT",
    path: `/${share.name}/file`,
    headers: {
      "x-ms-type": "file",
      "x-ms-content-length": "8",
      "x-ms-structured-body": form,
      "x-ms-structured-content-length": "5",
    },
    body: inOneFrame(Buffer.from("hello")),
  });
  assert.deepEqual([answer.status, answer.headers.get("x-ms-structured-body")], [201, form]);
  const file = share.rootDirectoryClient.getFileClient("file");
  assert.equal((await file.downloadToBuffer()).toString(), "hello\0\0\0");
});

/** Makes a structured body of one segment. */
function inOneFrame(bytes: Buffer): Buffer {
  const header = Buffer.alloc(13);
  const segment = Buffer.alloc(10);
  const frame = [header, segment, bytes, crc64(bytes), crc64(bytes)];
  const length = frame.reduce((sum, part) => sum + part.length, 0);
  header.writeUInt8(1, 0);
  header.writeBigUInt64LE(BigInt(length), 1);
  header.writeUInt16LE(1, 9);
  header.writeUInt16LE(1, 11);
  segment.writeUInt16LE(1, 0);
  segment.writeBigUInt64LE(BigInt(bytes.length), 2);
  return Buffer.concat(frame);
}

test("creating a file again resets everything", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(5, {
    metadata: { a: "b" },
    fileHttpHeaders: { fileContentType: "text/plain" },
  });
  await file.uploadRange("hello", 0, 5);
  const before = await file.getProperties();
  await file.create(3);
  const after = await file.getProperties();
  assert.deepEqual(
    [after.contentLength, after.metadata, after.contentType],
    [3, {}, "application/octet-stream"],
  );
  assert.equal(after.fileId, before.fileId);
  assert.notEqual(after.etag, before.etag);
  assert.equal((await file.downloadToBuffer()).toString(), "\0\0\0");
});

test("ranges of a file are read with their MD5", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  const md5 = Buffer.from("XUFAKrxLKna5cZ2REBfFkg==", "base64");
  await file.create(10, { fileHttpHeaders: { fileContentMD5: md5 } });
  await file.uploadRange("0123456789", 0, 10);
  const whole = await file.download();
  assert.deepEqual([whole._response.status, whole.contentMD5], [200, md5]);
  const part = await file.download(2, 3, { rangeGetContentMD5: true });
  assert.deepEqual(
    [part._response.status, part.contentRange, part.contentLength],
    [206, "bytes 2-4/10", 3],
  );
  assert.deepEqual(part.fileContentMD5, md5);
  const expected = createHash("md5").update("234").digest();
  assert.deepEqual(part.contentMD5 && Buffer.from(part.contentMD5), expected);
  await refused(file.download(10, 1), 416, "InvalidRange");
});

test("a range with a wrong MD5 is refused, and nothing is written", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(5);
  const contentMD5 = new Uint8Array(16);
  await refused(file.uploadRange("hello", 0, 5, { contentMD5 }), 400, "Md5Mismatch");
  assert.equal((await file.downloadToBuffer()).toString(), "\0\0\0\0\0");
});

test("large ranges written concurrently each get their own MD5", async () => {
  const rangeBytes = 4 * 1024 * 1024;
  const file = (await newShare()).rootDirectoryClient.getFileClient("large");
  await file.create(6 * rangeBytes);
  const ranges = Array.from({ length: 6 }, () => randomBytes(rangeBytes));
  const answers = await Promise.all(
    ranges.map((range, at) => file.uploadRange(range, at * rangeBytes, rangeBytes)),
  );
  const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");
  assert.deepEqual(
    answers.map(({ contentMD5 }) => contentMD5 && Buffer.from(contentMD5).toString("hex")),
    ranges.map(md5),
  );
  assert.equal(md5(await file.downloadToBuffer()), md5(Buffer.concat(ranges)));
});

test("file properties are set together, and those left out are cleared", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(5, { fileHttpHeaders: { fileContentType: "text/plain" } });
  await file.setHttpHeaders({ fileCacheControl: "no-cache", fileContentLanguage: "de" });
  const found = await file.getProperties();
  assert.deepEqual(
    [found.cacheControl, found.contentLanguage, found.contentType],
    ["no-cache", "de", undefined],
  );
  await file.setMetadata({ color: "red" });
  assert.deepEqual((await file.getProperties()).metadata, { color: "red" });
  assert.equal((await file.getProperties()).cacheControl, "no-cache");
});

test("setting properties without headers clears them, except on a resize", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  const fileHttpHeaders = { fileContentType: "text/plain", fileCacheControl: "no-cache" };
  const typeAndCaching = async () => {
    const { contentType, cacheControl } = await file.getProperties();
    return [contentType, cacheControl];
  };
  for (const clear of [() => file.setHttpHeaders({}), () => file.setProperties()]) {
    await file.create(5, { fileHttpHeaders });
    await file.resize(3);
    assert.deepEqual(await typeAndCaching(), ["text/plain", "no-cache"]);
    await clear();
    assert.deepEqual(await typeAndCaching(), [undefined, undefined]);
    assert.equal((await file.getProperties()).contentLength, 3);
  }
  const answer = await rawRequest(server, {
    method: "PUT",
    path: `/${share.name}/file?comp=properties`,
    headers: { "x-ms-content-length": "9", "x-ms-content-type": "a/b" },
  });
  assert.equal(answer.status, 200);
  assert.deepEqual(await typeAndCaching(), ["a/b", undefined]);
});

test("a resize updates the last write time, unless the client sets it", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  const earlier = new Date("2001-01-01T00:00:00Z");
  await file.create(4, { lastWriteTime: earlier });
  await file.resize(4);
  assert.deepEqual((await file.getProperties()).fileLastWriteOn, earlier);
  await file.resize(5);
  assert.deepEqual((await file.getProperties()).fileLastWriteOn, new Date(server.clock.now()));
  await file.resize(6, { lastWriteTime: earlier });
  assert.deepEqual((await file.getProperties()).fileLastWriteOn, earlier);
});

test("a file can shrink and grow, and truncated bytes do not come back", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(6);
  await file.uploadRange("abcdef", 0, 6);
  await file.resize(2);
  await file.resize(4);
  assert.equal((await file.downloadToBuffer()).toString(), "ab\0\0");
});

test("attributes and times are set by the client, to 100 ns, and change on writes", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(4, {
    fileAttributes: FileSystemAttributes.parse("Hidden|System|Archive"),
    creationTime: new Date("1999-12-31T23:59:59.999Z"),
    lastWriteTime: new Date("2001-01-01T00:00:00Z"),
    changeTime: new Date("2002-01-01T00:00:00Z"),
  });
  const { headers } = await rawRequest(server, { method: "HEAD", path: `/${share.name}/file` });
  assert.equal(headers.get("x-ms-file-attributes"), "Hidden | System | Archive");
  assert.equal(headers.get("x-ms-file-creation-time"), "1999-12-31T23:59:59.9990000Z");
  assert.equal(headers.get("x-ms-file-last-write-time"), "2001-01-01T00:00:00.0000000Z");
  assert.equal(headers.get("x-ms-file-change-time"), "2002-01-01T00:00:00.0000000Z");
  await file.uploadRange("a", 0, 1, { fileLastWrittenMode: "Preserve" });
  const unchanged = await file.getProperties();
  assert.deepEqual(unchanged.fileLastWriteOn, new Date("2001-01-01T00:00:00Z"));
  assert.notDeepEqual(unchanged.fileChangeOn, new Date("2002-01-01T00:00:00Z"));
  await file.uploadRange("a", 0, 1);
  const { fileLastWriteOn, fileCreatedOn } = await file.getProperties();
  assert.deepEqual(fileLastWriteOn, new Date(server.clock.now()));
  assert.deepEqual(fileCreatedOn, new Date("1999-12-31T23:59:59.999Z"));
});

test("a new file gets the Archive attribute, unless it is restored with its permission", async () => {
  const share = await newShare();
  const create = async (headers: Record<string, string>) => {
    const asked = { "x-ms-type": "file", "x-ms-content-length": "0", ...headers };
    const path = `/${share.name}/file`;
    const answer = await rawRequest(server, { method: "PUT", path, headers: asked });
    return answer.headers.get("x-ms-file-attributes");
  };
  const semantics = (value: string) => ({ "x-ms-file-property-semantics": value });
  const permission = { "x-ms-file-permission": "O:SYG:SYD:(A;;FA;;;SY)" };
  const temporary = { "x-ms-file-attributes": "Temporary" };
  assert.equal(await create({}), "Archive");
  assert.equal(await create({ "x-ms-file-attributes": "None" }), "Archive");
  assert.equal(await create(temporary), "Archive | Temporary");
  assert.equal(await create({ ...temporary, ...semantics("New") }), "Archive | Temporary");
  assert.equal(await create({ ...temporary, ...semantics("Restore") }), "Archive | Temporary");
  const restored = { ...semantics("Restore"), ...permission };
  assert.equal(await create({ ...temporary, ...restored }), "Temporary");
  assert.equal(await create(restored), "None");
  const directory = await rawRequest(server, {
    method: "PUT",
    path: `/${share.name}/dir?restype=directory`,
    headers: restored,
  });
  assert.equal(directory.headers.get("x-ms-file-attributes"), "Directory");
});

test("a read-only file cannot be changed until it is writable again", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(4, { fileAttributes: FileSystemAttributes.parse("ReadOnly") });
  for (const change of [
    () => file.uploadRange("a", 0, 1),
    () => file.clearRange(0, 1),
    () => file.create(1),
    () => file.setMetadata({ a: "b" }),
    () => file.setHttpHeaders({ fileContentType: "a/b" }),
    () => file.delete(),
  ]) {
    await refused(change(), 409, "ReadOnlyAttribute");
  }
  await file.setProperties({ fileAttributes: FileSystemAttributes.parse("None") });
  await file.uploadRange("a", 0, 1);
});

test("clearing makes zeroes, and frees whole sectors only", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(2048);
  await file.uploadRange("x".repeat(2048), 0, 2048);
  await file.clearRange(100, 1000);
  const bytes = await file.downloadToBuffer();
  assert.ok(bytes.subarray(100, 1100).every((byte) => byte === 0));
  assert.equal(bytes[99], 120);
  assert.equal(bytes[1100], 120);
  assert.deepEqual((await file.getRangeList()).rangeList, [
    { start: 0, end: 511 },
    { start: 1024, end: 2047 },
  ]);
});

test("a range that was never written is not listed", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(10_000);
  assert.deepEqual((await file.getRangeList()).rangeList, []);
  await file.uploadRange("ab", 1000, 2);
  await file.uploadRange("cd", 1002, 2);
  await file.uploadRange("ef", 5000, 2);
  assert.deepEqual((await file.getRangeList()).rangeList, [
    { start: 1000, end: 1003 },
    { start: 5000, end: 5001 },
  ]);
  const part = await file.getRangeList({ range: { offset: 1001, count: 2 } });
  assert.deepEqual(part.rangeList, [{ start: 1001, end: 1002 }]);
  assert.equal(part.fileContentLength, 10_000);
});

test("a download returns the bytes it began with while others write", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  const size = 3 * 1024 * 1024;
  await file.create(size);
  await file.uploadRange(Buffer.alloc(size, "a"), 0, size);
  const download = await file.download();
  await file.uploadRange(Buffer.alloc(size, "b"), 0, size);
  let wrong = 0;
  for await (const part of download.readableStreamBody ?? []) {
    for (const byte of part as Buffer) if (byte !== 97) wrong++;
  }
  assert.equal(wrong, 0);
});

test("without a lease the last writer wins, and a read returns one writer's whole work", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  const size = 64 * 1024;
  await file.create(size);
  await file.uploadRange(Buffer.alloc(size, "x"), 0, size);
  await file.uploadRange(Buffer.alloc(size, "y"), 0, size);
  assert.equal((await file.downloadToBuffer()).toString(), "y".repeat(size));
  await Promise.all(
    [..."abcdefghij"].map((letter) => file.uploadRange(Buffer.alloc(size, letter), 0, size)),
  );
  const read = (await file.downloadToBuffer()).toString();
  assert.equal(read, (read[0] as string).repeat(size));
});

test("conditions are ignored, as by the service", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(1);
  const path = `/${share.name}/file`;
  const headers = { "if-match": '"0x1"', "if-modified-since": new Date().toUTCString() };
  assert.equal((await rawRequest(server, { path, headers })).status, 200);
});
