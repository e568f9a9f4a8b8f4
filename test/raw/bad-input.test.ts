import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { type RawAsked, rawRequest } from "../sdk/raw-request.ts";
import { ON_NODE_LISTENER, startServer, type TestServer } from "../sdk/server.ts";

let server: TestServer;

before(async () => {
  server = await startServer();
  await server.client().createContainer("box");
  await server.client().getContainerClient("box").getBlockBlobClient("there").upload("old", 3);
});

after(() => server.close());

interface Bad extends RawAsked {
  readonly why: string;
  readonly status: number;
  readonly code: string;
}

const PUT = { method: "PUT", headers: { "x-ms-blob-type": "BlockBlob" }, body: "new" };
const deep = (levels: number) => "<a>".repeat(levels);
const put = (headers: Record<string, string>) => ({
  ...PUT,
  headers: { ...PUT.headers, ...headers },
});
const lease = (headers: Record<string, string>) => ({ method: "PUT", headers });
const blockList = (body: string) => ({
  method: "PUT",
  path: "/box/there?comp=blocklist",
  body,
});

const BAD: readonly Bad[] = [
  bad("a name with half an escape", { path: "/box/%zz" }, 400, "InvalidUri"),
  bad("a name that is not UTF-8", { path: "/box/%ff%fe" }, 400, "InvalidUri"),
  bad(
    "a query with half an escape",
    { path: "/box/there?comp=%z" },
    400,
    "InvalidQueryParameterValue",
  ),
  bad("an unknown comp", { path: "/box/there?comp=nonsense" }, 400, "InvalidQueryParameterValue"),
  bad(
    "a verb that the resource does not support",
    { method: "POST", path: "/box/there" },
    405,
    "UnsupportedHttpVerb",
  ),
  bad("an unknown verb", { method: "PATCH", path: "/box/there" }, 405, "UnsupportedHttpVerb"),
  bad("a name too long", { ...PUT, path: `/box/${"n".repeat(1_025)}` }, 400, "InvalidUri"),
  bad("a control character in a name", { ...PUT, path: "/box/a%01b" }, 400, "InvalidResourceName"),
  bad("a container with capitals", create("BOX"), 400, "InvalidResourceName"),
  bad("a container too short", create("ab"), 400, "OutOfRangeInput"),
  bad("a container too long", create("a".repeat(64)), 400, "OutOfRangeInput"),
  bad("a container with two dashes", create("a--b"), 400, "InvalidResourceName"),
  bad("no type of blob", { ...PUT, headers: {}, path: "/box/new" }, 400, "MissingRequiredHeader"),
  bad(
    "an unknown blob type",
    { ...put({ "x-ms-blob-type": "Bulk" }), path: "/box/new" },
    400,
    "InvalidHeaderValue",
  ),
  bad(
    "a version that is not a date",
    { path: "/box/there", headers: { "x-ms-version": "newest" } },
    400,
    "InvalidHeaderValue",
  ),
  bad(
    "a condition that is not a date",
    { path: "/box/there", headers: { "if-modified-since": "yesterday" } },
    400,
    "InvalidHeaderValue",
  ),
  bad(
    "conditions that cannot be combined",
    { ...put({ "if-match": "*", "if-none-match": "*" }), path: "/box/new" },
    400,
    "MultipleConditionHeadersNotSupported",
  ),
  bad(
    "a malformed MD5",
    { ...put({ "content-md5": "short" }), path: "/box/new" },
    400,
    "InvalidMd5",
  ),
  bad(
    "the MD5 of something else",
    { ...put({ "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }), path: "/box/new" },
    400,
    "Md5Mismatch",
  ),
  bad(
    "the CRC-64 of something else",
    { ...put({ "x-ms-content-crc64": "AAAAAAAAAAA=" }), path: "/box/new" },
    400,
    "Crc64Mismatch",
  ),
  bad(
    "metadata without a name",
    { ...put({ "x-ms-meta-": "1" }), path: "/box/new" },
    400,
    "EmptyMetadataKey",
  ),
  bad(
    "metadata with a bad name",
    { ...put({ "x-ms-meta-1-2": "1" }), path: "/box/new" },
    400,
    "InvalidMetadata",
  ),
  bad(
    "too much metadata",
    { ...put({ "x-ms-meta-big": "m".repeat(9_000) }), path: "/box/new" },
    400,
    "MetadataTooLarge",
  ),
  bad(
    "a lease id that is not a GUID",
    { ...put({ "x-ms-lease-id": "mine" }), path: "/box/new" },
    400,
    "InvalidHeaderValue",
  ),
  bad(
    "no lease action",
    { ...lease({}), path: "/box/there?comp=lease" },
    400,
    "MissingRequiredHeader",
  ),
  bad(
    "an unknown lease action",
    { ...lease({ "x-ms-lease-action": "take" }), path: "/box/there?comp=lease" },
    400,
    "InvalidHeaderValue",
  ),
  bad(
    "a lease without duration",
    { ...lease({ "x-ms-lease-action": "acquire" }), path: "/box/there?comp=lease" },
    400,
    "MissingRequiredHeader",
  ),
  bad(
    "a lease of 14 s",
    {
      ...lease({ "x-ms-lease-action": "acquire", "x-ms-lease-duration": "14" }),
      path: "/box/there?comp=lease",
    },
    400,
    "InvalidHeaderValue",
  ),
  bad(
    "a range of pages beyond the end",
    { path: "/box/there", headers: { "x-ms-range": "bytes=3-" } },
    416,
    "InvalidRange",
  ),
  bad(
    "a block id that is not base64",
    { method: "PUT", path: "/box/there?comp=block&blockid=!!!!", body: "b" },
    400,
    "InvalidBlockId",
  ),
  bad(
    "a block without id",
    { method: "PUT", path: "/box/there?comp=block", body: "b" },
    400,
    "MissingRequiredQueryParameter",
  ),
  bad(
    "a block id too long",
    { method: "PUT", path: `/box/there?comp=block&blockid=${"A".repeat(92)}`, body: "b" },
    400,
    "InvalidBlockId",
  ),
  bad(
    "a list of unknown blocks",
    blockList("<BlockList><Latest>AAAA</Latest></BlockList>"),
    400,
    "InvalidBlockList",
  ),
  bad("XML that is truncated", blockList("<BlockList><Latest>"), 400, "InvalidXmlDocument"),
  bad("text that is not XML", blockList("BlockList"), 400, "InvalidXmlDocument"),
  bad(
    "XML with a DTD",
    blockList('<!DOCTYPE a [<!ENTITY b "c">]><BlockList/>'),
    400,
    "InvalidXmlDocument",
  ),
  bad("XML 100,000 deep", blockList(deep(100_000)), 400, "InvalidXmlDocument"),
  bad(
    "XML with 4 MiB of attributes",
    blockList(`<BlockList ${'a="b" '.repeat(700_000)}/>`),
    400,
    "InvalidXmlDocument",
  ),
  bad("another document", blockList("<Nonsense/>"), 400, "InvalidXmlDocument"),
  bad(
    "a marker that no list writes",
    { path: "/box?restype=container&comp=list&marker=nonsense!" },
    400,
    "InvalidQueryParameterValue",
  ),
  bad(
    "a page size of zero",
    { path: "/box?restype=container&comp=list&maxresults=0" },
    400,
    "OutOfRangeQueryParameterValue",
  ),
  bad(
    "a page size that is not a number",
    { path: "/box?restype=container&comp=list&maxresults=many" },
    400,
    "InvalidQueryParameterValue",
  ),
  bad(
    "an unknown include",
    { path: "/box?restype=container&comp=list&include=all" },
    400,
    "InvalidQueryParameterValue",
  ),
  bad(
    "a malformed timeout",
    { path: "/box/there?timeout=soon" },
    400,
    "InvalidQueryParameterValue",
  ),
  bad("a missing container", { path: "/none/there" }, 404, "ContainerNotFound"),
  bad("a missing blob", { path: "/box/none" }, 404, "BlobNotFound"),
];

function bad(why: string, asked: RawAsked, status: number, code: string): Bad {
  return { why, ...asked, status, code };
}

function create(name: string): RawAsked {
  return { method: "PUT", path: `/${name}?restype=container` };
}

for (const one of BAD) {
  test(`${one.why} is refused with ${one.status} ${one.code}`, async () => {
    const answer = await rawRequest(server, one);
    assert.deepEqual([answer.status, answer.code], [one.status, one.code], answer.text);
    assert.match(answer.text, new RegExp(`<Code>${one.code}</Code>`));
    await nothingChanged();
  });
}

async function nothingChanged(): Promise<void> {
  const box = server.client().getContainerClient("box");
  const found: string[] = [];
  for await (const { name } of box.listBlobsFlat({ includeUncommitedBlobs: true }))
    found.push(name);
  assert.deepEqual(found, ["there"]);
  assert.equal((await box.getBlobClient("there").downloadToBuffer()).toString(), "old");
  const containers: string[] = [];
  for await (const { name } of server.client().listContainers()) containers.push(name);
  assert.deepEqual(containers, ["box"]);
  assert.deepEqual(server.failures, []);
}

const HOST = "HTTP/1.1\r\nHost: x\r\n";

interface Malformed {
  readonly why: string;
  readonly bytes: string;
  readonly status: number;
  /** "" if the server cannot tell that this is a request. */
  readonly code: string;
  /** Whether Node's own parser refuses it, so that the response has no code of the service. */
  readonly byParser?: boolean;
}

const LENGTH = { status: 400, code: "InvalidHeaderValue", byParser: true };
const NO_REQUEST = { status: 400, code: "" };

const MALFORMED: readonly Malformed[] = [
  {
    why: "two lengths",
    bytes: `PUT /a/b ${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    ...LENGTH,
  },
  {
    why: "a length and chunks",
    bytes: `PUT /a/b ${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ...LENGTH,
  },
  { why: "a negative length", bytes: `PUT /a/b ${HOST}Content-Length: -1\r\n\r\n`, ...LENGTH },
  { why: "a length in words", bytes: `PUT /a/b ${HOST}Content-Length: abc\r\n\r\n`, ...LENGTH },
  {
    why: "a length of 20 digits",
    bytes: `PUT /a/b ${HOST}Content-Length: ${"9".repeat(20)}\r\n\r\n`,
    ...LENGTH,
  },
  {
    why: "no host",
    bytes: "GET /a/b HTTP/1.1\r\n\r\n",
    status: 400,
    code: "HostInformationNotPresent",
  },
  {
    why: "an unheard-of verb",
    bytes: `FROB /a/b ${HOST}Connection: close\r\n\r\n`,
    status: 400,
    code: "InvalidHttpVerb",
    byParser: true,
  },
  { why: "no HTTP", bytes: "hello\r\n\r\n", ...NO_REQUEST },
  { why: "a blank in the URL", bytes: `GET /a b ${HOST}\r\n`, ...NO_REQUEST },
  { why: "a folded header", bytes: `GET /a/b ${HOST}A: b\r\n c\r\n\r\n`, ...NO_REQUEST },
  { why: "a NUL in a header", bytes: `GET /a/b ${HOST}A: b\0c\r\n\r\n`, ...NO_REQUEST },
  {
    why: "64 KiB of header",
    bytes: `GET /a/b ${HOST}A: ${"b".repeat(65_536)}\r\n\r\n`,
    status: 431,
    code: "",
  },
];

for (const { why, bytes, status, code, byParser = false } of MALFORMED) {
  test(`${why} is refused with ${status} ${code}, and the connection is closed`, async () => {
    const answer = await sendRaw(bytes);
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
    for (const line of ["Server: Lazuli/test", "Date: .* GMT", "x-ms-request-id: [0-9a-f-]{36}"]) {
      assert.match(answer, new RegExp(`\r\n${line}\r\n`));
    }
    const sent = /\r\nx-ms-error-code: (\w+)\r\n/.exec(answer)?.[1] ?? "";
    assert.equal(sent, ON_NODE_LISTENER && byParser ? "" : code);
    await nothingChanged();
  });
}

/** Returns everything the server sends until it closes. */
function sendRaw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, "latin1"));
    let answer = "";
    socket.on("data", (part) => {
      answer += part;
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}
