import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type FileServer, startFileServer } from "./file-server.ts";
import { type RawAsked, rawRequest } from "./raw-request.ts";

let server: FileServer;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const FILE = { "x-ms-type": "file", "x-ms-content-length": "10" };

async function code(asked: RawAsked): Promise<string> {
  const { status, code: found } = await rawRequest(server, asked);
  return found === "" ? String(status) : `${status} ${found}`;
}

const put = (path: string, headers: Record<string, string> = {}, body?: string) =>
  code({ method: "PUT", path, headers, ...(body !== undefined && { body }) });

/** Counts the entries of a directory, to check that nothing was left behind. */
async function listed(path: string): Promise<number> {
  const { text } = await rawRequest(server, { path: `${path}?restype=directory&comp=list` });
  return text.split("<Name").length - 1;
}

test("invalid file names are refused, and nothing is created", async () => {
  const { name: share } = await server.newShare();
  for (const name of [
    ...["CON", "con", "PRN", "aux", "NUL", "CLOCK$", "COM1", "lpt9"],
    ...['"', "\\", ":", "|", "<", ">", "*", "?", "\u0001", "\u001f"],
  ]) {
    const path = `/${share}/${encodeURIComponent(name)}`;
    const headers = { ...FILE, "x-ms-allow-trailing-dot": "true" };
    assert.equal(await put(path, headers), "400 InvalidResourceName", name);
    const directory = await put(`${path}?restype=directory`, { "x-ms-allow-trailing-dot": "true" });
    assert.equal(directory, "400 InvalidResourceName", name);
  }
  assert.equal(await listed(`/${share}`), 0);
});

test("the length of paths and names, and the depth of paths, are limited", async () => {
  const { name: share } = await server.newShare();
  const invalid = "400 InvalidFileOrDirectoryPathName";
  assert.equal(await put(`/${share}/${"a".repeat(256)}`, FILE), invalid);
  assert.equal(await put(`/${share}/${"a".repeat(255)}`, FILE), "201");
  const deep = Array.from({ length: 251 }, () => "d").join("/");
  assert.equal(await put(`/${share}/${deep}`, FILE), invalid);
  const long = Array.from({ length: 10 }, () => "a".repeat(250)).join("/");
  assert.equal(await put(`/${share}/${long}`, FILE), invalid);
});

test("trailing dots of names count only if the client says so", async () => {
  const { name: share } = await server.newShare();
  assert.equal(await put(`/${share}/name...`, FILE), "201");
  assert.equal(await put(`/${share}/dir.?restype=directory`), "201");
  assert.equal(await code({ method: "HEAD", path: `/${share}/name` }), "200");
  const headers = { "x-ms-allow-trailing-dot": "true" };
  assert.equal(
    await code({ method: "HEAD", path: `/${share}/name.`, headers }),
    "404 ResourceNotFound",
  );
  assert.equal(await put(`/${share}/name.`, { ...FILE, ...headers }), "201");
  assert.equal(await code({ method: "HEAD", path: `/${share}/name.`, headers }), "200");
  assert.equal(await listed(`/${share}`), 3);
  const wrong = { "x-ms-allow-trailing-dot": "perhaps" };
  assert.equal(await put(`/${share}/x`, { ...FILE, ...wrong }), "400 InvalidHeaderValue");
});

test("a digest of an empty body is checked as well", async () => {
  const share = await server.newShare();
  const create = async (md5: string) => {
    const headers = { "x-ms-type": "file", "x-ms-content-length": "5", "content-md5": md5 };
    return (await rawRequest(server, { method: "PUT", path: `/${share.name}/file`, headers })).code;
  };
  assert.equal(await create("AAAAAAAAAAAAAAAAAAAAAA=="), "Md5Mismatch");
  assert.equal(await create("1B2M2Y8AsgTpgAmY7PhCfg=="), "");
});

test("Create File requires its type and length, within bounds", async () => {
  const { name: share } = await server.newShare();
  const path = `/${share}/file`;
  assert.equal(await put(path), "400 MissingRequiredHeader");
  assert.equal(await put(path, { "x-ms-type": "file" }), "400 MissingRequiredHeader");
  for (const length of ["-1", "4398046511105", "1.5", "many"]) {
    const headers = { ...FILE, "x-ms-content-length": length };
    assert.equal(await put(path, headers), "400 InvalidHeaderValue", length);
  }
  assert.equal(await put(path, { ...FILE, "x-ms-type": "directory" }), "400 InvalidHeaderValue");
  assert.equal(await listed(`/${share}`), 0);
});

test("invalid attributes, times and permissions are refused by name", async () => {
  const { name: share } = await server.newShare();
  const path = `/${share}/file`;
  for (const [header, value, expected] of [
    ["x-ms-file-attributes", "Shiny", "400 InvalidHeaderValue"],
    ["x-ms-file-creation-time", "yesterday", "400 InvalidHeaderValue"],
    ["x-ms-file-last-write-time", "1500-01-01T00:00:00.0000000Z", "400 InvalidHeaderValue"],
    ["x-ms-file-change-time", "2026-13-01T00:00:00.0000000Z", "400 InvalidHeaderValue"],
    ["x-ms-file-permission", "everybody", "400 FileInvalidPermission"],
    ["x-ms-file-permission", `O:SYG:SYD:${"(A;;FA;;;SY)".repeat(800)}`, "400 InvalidHeaderValue"],
    ["x-ms-file-permission-key", "1*2", "400 FileInvalidPermissionKey"],
    ["x-ms-file-permission-format", "Prose", "400 InvalidHeaderValue"],
    ["x-ms-file-property-semantics", "Old", "400 InvalidHeaderValue"],
    ["x-ms-owner", "1000", "400 UnsupportedHeader"],
    ["x-ms-group", "1000", "400 UnsupportedHeader"],
    ["x-ms-mode", "0644", "400 UnsupportedHeader"],
  ] as const) {
    assert.equal(await put(path, { ...FILE, [header]: value }), expected, header);
    const directory = await put(`/${share}/dir?restype=directory`, { [header]: value });
    assert.equal(directory, expected, header);
  }
  const both = { "x-ms-file-permission": "inherit", "x-ms-file-permission-key": "1*2" };
  assert.equal(await put(path, { ...FILE, ...both }), "400 InvalidHeaderValue");
  assert.equal(await listed(`/${share}`), 0);
});

test("Put Range requires a range with both ends, within the file, as long as the body", async () => {
  const { name: share } = await server.newShare();
  await put(`/${share}/file`, FILE);
  const write = (range: string | null, body: string | undefined, more = {}) =>
    put(
      `/${share}/file?comp=range`,
      { "x-ms-write": "update", ...(range !== null && { "x-ms-range": range }), ...more },
      body,
    );
  assert.equal(await write("bytes=0-4", "hello"), "201");
  assert.equal(await write(null, "hello"), "400 MissingRequiredHeader");
  assert.equal(await write("bytes=0-", "hello"), "400 InvalidHeaderValue");
  assert.equal(await write("0-4", "hello"), "400 InvalidHeaderValue");
  assert.equal(await write("bytes=0-5", "hello"), "400 InvalidHeaderValue");
  assert.equal(await write("bytes=6-10", "hello"), "416 InvalidRange");
  assert.equal(
    await write("bytes=0-4", "hello", { "x-ms-write": "add" }),
    "400 InvalidHeaderValue",
  );
  const md5 = { "content-md5": "short" };
  assert.equal(await write("bytes=0-4", "hello", md5), "400 InvalidMd5");
  const crc = { "x-ms-content-crc64": "AAAAAAAAAAA=" };
  assert.equal(await write("bytes=0-4", "hello", crc), "400 Crc64Mismatch");
  const short = { "x-ms-content-crc64": "AAAA" };
  assert.equal(await write("bytes=0-4", "hello", short), "400 Crc64Mismatch");
  const time = { "x-ms-file-last-write-time": "tomorrow" };
  assert.equal(await write("bytes=0-4", "hello", time), "400 InvalidHeaderValue");
  const clear = { "x-ms-write": "clear" };
  assert.equal(await write("bytes=0-10", undefined, clear), "416 InvalidRange");
  assert.equal(await write("bytes=0-4", "hello", clear), "400 InvalidHeaderValue");
  for (const digest of [{ "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" }, crc]) {
    const refused = await write("bytes=0-4", undefined, { ...clear, ...digest });
    assert.equal(refused, "400 UnsupportedHeader");
  }
  const large = "x".repeat(4 * 1024 * 1024 + 1);
  assert.equal(await write("bytes=0-4194304", large), "413 RequestBodyTooLarge");
});

test("missing shares, directories and files have their own errors", async () => {
  const { name: share } = await server.newShare();
  const get = (path: string) => code({ path });
  assert.equal(await get("/no-such-share?restype=share"), "404 ShareNotFound");
  assert.equal(await get("/no-such-share/file"), "404 ShareNotFound");
  assert.equal(await get(`/${share}/file`), "404 ResourceNotFound");
  assert.equal(await get(`/${share}/dir/file`), "404 ParentNotFound");
  assert.equal(await get(`/${share}/dir?restype=directory`), "404 ResourceNotFound");
  await put(`/${share}/file`, FILE);
  assert.equal(await get(`/${share}/file/below`), "404 ParentNotFound");
  assert.equal(await get(`/${share}/file?restype=directory`), "409 ResourceTypeMismatch");
});

test("unknown operations are refused", async () => {
  const { name: share } = await server.newShare();
  assert.equal(await code({ path: `/${share}` }), "400 MissingRequiredQueryParameter");
  assert.equal(await code({ path: `/${share}?restype=box` }), "400 InvalidQueryParameterValue");
  assert.equal(await code({ path: `/${share}/file?restype=share` }), "400 InvalidUri");
  assert.equal(
    await code({ path: `/${share}/file?comp=nonsense` }),
    "400 InvalidQueryParameterValue",
  );
  assert.equal(await code({ method: "POST", path: `/${share}/file` }), "405 UnsupportedHttpVerb");
  assert.equal(await code({ path: `/${share}/%zz` }), "400 InvalidUri");
  assert.equal(await put(`/${share}?restype=directory`), "400 InvalidUri");
  const root = { method: "DELETE", path: `/${share}?restype=directory` };
  assert.equal(await code(root), "400 InvalidUri");
});

test("links are refused with the reason that they need NFS", async () => {
  const { name: share } = await server.newShare();
  for (const [method, restype] of [
    ["PUT", "symboliclink"],
    ["GET", "symboliclink"],
    ["PUT", "hardlink"],
  ] as const) {
    const {
      status,
      code: found,
      text,
    } = await rawRequest(server, {
      method,
      path: `/${share}/link?restype=${restype}`,
    });
    assert.deepEqual([status, found], [400, "UnsupportedQueryParameter"]);
    assert.match(text, /NFS/);
  }
});

test("checksums of ranges are limited to 4 MiB, and to MD5", async () => {
  const { name: share } = await server.newShare();
  await put(`/${share}/file`, { ...FILE, "x-ms-content-length": "8388608" });
  const get = (headers: Record<string, string>) => code({ path: `/${share}/file`, headers });
  const md5 = { "x-ms-range-get-content-md5": "true" };
  assert.equal(await get({ ...md5, "x-ms-range": "bytes=0-4194304" }), "400 OutOfRangeInput");
  assert.equal(await get({ ...md5, "x-ms-range": "bytes=0-4194303" }), "206");
  assert.equal(await get(md5), "400 InvalidHeaderValue");
  const crc64 = { "x-ms-range-get-content-crc64": "true", "x-ms-range": "bytes=0-9" };
  assert.equal(await get(crc64), "400 UnsupportedHeader");
});

test("names that XML cannot carry are listed percent-encoded, and found by that", async () => {
  const { name: share } = await server.newShare();
  const name = "a-%EF%BF%BE";
  assert.equal(await put(`/${share}/${name}?restype=directory`), "201");
  assert.equal(await put(`/${share}/${name}/inside`, FILE), "201");
  const { text } = await rawRequest(server, { path: `/${share}?restype=directory&comp=list` });
  assert.match(text, /<Name Encoded="true">a-%EF%BF%BE<\/Name>/);
  const path = `/${share}/${name}?restype=directory&comp=list`;
  const inside = await rawRequest(server, { path });
  assert.match(inside.text, /DirectoryPath="a-%EF%BF%BE" Encoded="true"/);
});
