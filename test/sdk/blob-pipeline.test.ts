import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import {
  AccountSASPermissions,
  type ContainerClient,
  ContainerSASPermissions,
} from "@azure/storage-blob";
import { PIPELINE_BYTES_MAX, PIPELINE_REQUESTS_MAX } from "../../src/base/limits.ts";
import {
  type PipelinedRequest,
  readPipeline,
  renderPipeline,
} from "../../src/transfer/pipelined.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

let server: TestServer;

before(async () => {
  server = await startServer();
});

after(() => server.close());

const VERSION = { "x-ms-version": "2026-04-06" };
const BLOCK_BLOB = { "x-ms-blob-type": "BlockBlob" };
const COMP = "?restype=container&comp=lazuli-pipeline";

interface One {
  readonly method?: string;
  /** The name, and what comes behind it. */
  readonly at: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const put = (at: string, headers = {}, body = `bytes of ${at}`): One => {
  return { method: "PUT", at, headers: { ...BLOCK_BLOB, ...headers }, body };
};

function rendered(container: string, all: readonly One[]): Buffer {
  const root = new URL(server.url);
  const requests = all.map(({ method = "GET", at, headers = {}, body = "" }): PipelinedRequest => {
    const target = `${root.pathname}/${container}/${at}`;
    return { method, target, headers: { ...VERSION, ...headers }, body: Buffer.from(body) };
  });
  return renderPipeline(requests, root.host);
}

const TYPE = { "Content-Type": "application/http" };

function post(container: string, body: string | Uint8Array, headers = TYPE): Promise<RawAnswer> {
  return rawRequest(server, { method: "POST", path: `/${container}${COMP}`, headers, body });
}

async function pipelined(container: string, all: readonly One[]) {
  const { status, text } = await post(container, rendered(container, all));
  assert.equal(status, 200, text);
  return readPipeline(Buffer.from(text), all.length).map(({ status, raw, bytes }) => {
    const names = raw.filter((_, at) => at % 2 === 0);
    const headers = names.map((name, at) => [name.toLowerCase(), raw[2 * at + 1] ?? ""]);
    return { status, headers: comparable(headers), text: plain(bytes.toString()) };
  });
}

async function alone(container: string, { at, body, ...asked }: One) {
  const path = `/${container}/${at}`;
  const sent = body === undefined ? {} : { body };
  // As in the pipeline, which adds no type of its own.
  const headers = body === undefined ? {} : { "content-type": "" };
  const own = { ...asked, headers: { ...headers, ...asked.headers } };
  const answer = await rawRequest(server, { ...own, path, ...sent });
  const found = comparable([...answer.headers]);
  return { status: answer.status, headers: found, text: plain(answer.text) };
}

/** Of these every answer has its own. */
const OWN = ["etag", "last-modified", "x-ms-request-id", "x-ms-creation-time", "x-ms-version-id"];
const OF_CONNECTION = ["connection", "date", "keep-alive", "server"];

function comparable(headers: readonly (readonly string[])[]): Record<string, string> {
  const lasting = headers.filter(([name = ""]) => !OF_CONNECTION.includes(name));
  const shown = lasting.map(([name = "", value = ""]) => [
    name,
    OWN.includes(name) ? "own" : value,
  ]);
  return Object.fromEntries(shown.toSorted());
}

/** Error documents repeat the id of the request and its time. */
function plain(text: string): string {
  return text.replace(/RequestId:\S+\s+Time:\S+?(?=<)/, "");
}

async function contentsOf(box: ContainerClient) {
  const found = [];
  const all = { includeMetadata: true, includeTags: true, includeSnapshots: true };
  for await (const blob of box.listBlobsFlat(all)) {
    const { name, metadata, tags, properties } = blob;
    const { etag: _e, createdOn: _c, lastModified: _m, ...others } = properties;
    found.push({ name, metadata, tags, others });
  }
  return found;
}

const PAST = { as: "current", created: "2020-01-02T03:04:05Z", modified: "2020-02-03T04:05:06Z" };
const md5 = (text: string) => createHash("md5").update(text).digest("base64");

/** Writes that are done, and refused for every reason that a single one can be. */
const WRITES: readonly One[] = [
  put("plain"),
  put("empty", {}, ""),
  put("a%20b/%C3%A9?timeout=20"),
  put("typed", { "x-ms-blob-content-type": "text/plain", "x-ms-blob-cache-control": "no-cache" }),
  put("named", { "x-ms-meta-color": "blue", "x-ms-tags": "a=1&b=2", "x-ms-access-tier": "Cool" }),
  put("old", { "x-lazuli-past": JSON.stringify(PAST) }),
  put("checked", { "Content-MD5": md5("bytes of checked") }),
  put("wrong", { "Content-MD5": md5("others") }),
  put("there", { "If-None-Match": "*" }),
  put("there", { "If-Match": '"0x8D0000000000000"' }),
  put("there", {}, "newer"),
  put("leased"),
  put("leased", { "x-ms-lease-id": "00000000-0000-0000-0000-000000000000" }),
  { method: "PUT", at: "untyped", body: "x" },
  put("pages", { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512" }, ""),
  put("log", { "x-ms-blob-type": "AppendBlob" }, ""),
  put("odd", { "x-ms-blob-type": "Odd" }),
  put("big", { "x-ms-meta-a": "x".repeat(9_000) }),
  put("bad%01name"),
  put("there?snapshot=2020-01-01T00:00:00.0000000Z"),
  put("locked", { "x-ms-immutability-policy-mode": "unlocked" }),
  put("past", { "x-lazuli-past": "nothing" }),
  put("late", { "x-ms-if-tags": "a = 'b'" }),
  put("slow?timeout=never"),
  { method: "DELETE", at: "gone" },
  { method: "DELETE", at: "missing" },
  { method: "DELETE", at: "leased" },
];

const READS: readonly One[] = [
  { at: "plain" },
  { at: "empty" },
  { at: "named" },
  { at: "plain", headers: { "x-ms-range": "bytes=1-3" } },
  { at: "plain", headers: { "x-ms-range": "bytes=99-" } },
  { at: "plain", headers: { "If-Match": '"0x8D0000000000000"' } },
  { at: "plain", headers: { "If-None-Match": "*" } },
  { at: "missing" },
  { at: "pages" },
  { at: "large" },
  { at: "plain?snapshot=2020-01-01T00:00:00.0000000Z" },
  { at: "plain?lazuli-deleted=true" },
];

async function prepared(): Promise<ContainerClient> {
  const box = await server.makeContainer();
  for (const name of ["there", "leased", "gone"]) {
    await box.getBlockBlobClient(name).upload("first", 5);
  }
  await box.getBlockBlobClient("large").upload("x".repeat(200_000), 200_000);
  await box.getBlobClient("leased").getBlobLeaseClient().acquireLease(-1);
  return box;
}

test("each request of a pipeline is answered and stored as if it came alone", async () => {
  const [one, many] = [await prepared(), await prepared()];
  for (const asked of [WRITES, READS]) {
    const expected = [];
    for (const each of asked) expected.push(await alone(one.containerName, each));
    const found = await pipelined(many.containerName, asked);
    for (const [at, { method = "GET", at: name }] of asked.entries()) {
      assert.deepEqual(found[at], expected[at], `${at}: ${method} ${name}`);
    }
  }
  assert.deepEqual(await contentsOf(many), await contentsOf(one));
});

test("the requests of a pipeline are outcomes of their own, under its id", async () => {
  const { containerName } = await server.makeContainer();
  const { length } = server.outcomes.all;
  await pipelined(containerName, [put("a"), put("a", { "If-None-Match": "*" }), { at: "b" }]);
  await server.outcomes.untilThereAre(length + 4);
  const found = server.outcomes.all
    .slice(length)
    .map((one) => [one.operation, one.status, one.code, one.auth]);
  assert.deepEqual(found, [
    ["PutBlob", 201, null, "sharedKey"],
    ["PutBlob", 409, "BlobAlreadyExists", "sharedKey"],
    ["GetBlob", 404, "BlobNotFound", "sharedKey"],
    ["Pipeline", 200, null, "sharedKey"],
  ]);
});

const HEAD = `Host: x\r\n${Object.entries({ ...VERSION, ...BLOCK_BLOB })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("")}`;

test("a pipeline that cannot be read is refused as a whole, and changes nothing", async () => {
  const { containerName: box } = await server.makeContainer();
  const other = (await server.makeContainer()).containerName;
  const path = `${new URL(server.url).pathname}/${box}`;
  const first = rendered(box, [put("first")]).toString();
  const bodyless = (line: string, more = "") => `${line} HTTP/1.1\r\n${HEAD}${more}\r\n`;
  const bad: Record<string, [body: string | Uint8Array, code: string]> = {
    empty: ["", "InvalidInput"],
    noise: ["\0\0\r\n\r\n", "InvalidInput"],
    "no end of the head": [`PUT ${path}/a HTTP/1.1\r\n${HEAD}`, "InvalidInput"],
    "a lone line feed": [`PUT ${path}/a HTTP/1.1\n${HEAD}\r\n`, "InvalidInput"],
    "a body cut short": [bodyless(`PUT ${path}/a`, "Content-Length: 5\r\n"), "InvalidInput"],
    "more than a body": [
      `${bodyless(`PUT ${path}/a`, "Content-Length: 1\r\n")}abc`,
      "InvalidInput",
    ],
    "two lengths": [
      bodyless(`PUT ${path}/a`, "Content-Length: 0\r\nContent-Length: 0\r\n"),
      "InvalidHeaderValue",
    ],
    chunks: [
      bodyless(`PUT ${path}/a`, "Transfer-Encoding: chunked\r\n"),
      "MissingContentLengthHeader",
    ],
    "a long head": [bodyless(`PUT ${path}/a`, `X: ${"x".repeat(33_000)}\r\n`), "InvalidInput"],
    "another container": [rendered(other, [put("a")]), "InvalidInput"],
    "another account": [bodyless(`GET /else/${box}/a`), "InvalidInput"],
    "no path": [bodyless("GET http://x/a"), "InvalidInput"],
    "another operation": [bodyless(`PUT ${path}/a?comp=snapshot`), "InvalidInput"],
    "a copy": [bodyless(`PUT ${path}/a`, "x-ms-copy-source: http://x/y\r\n"), "InvalidInput"],
    "a signature": [bodyless(`GET ${path}/a`, "Authorization: SharedKey a:b\r\n"), "InvalidInput"],
    "a SAS": [bodyless(`GET ${path}/a?sig=x`), "InvalidInput"],
    "too many": [
      rendered(box, new Array(PIPELINE_REQUESTS_MAX).fill({ at: "a" })),
      "ExceedsMaxBatchRequestCount",
    ],
    "too long": ["x".repeat(PIPELINE_BYTES_MAX), "RequestBodyTooLarge"],
  };
  for (const [why, [body, code]] of Object.entries(bad)) {
    const whole = why === "empty" ? body : Buffer.concat([Buffer.from(first), Buffer.from(body)]);
    const answer = await post(box, whole);
    assert.equal(answer.code, code, `${why}: ${answer.text}`);
  }
  const untyped = await post(box, first, { "Content-Type": "text/plain" });
  assert.equal(untyped.code, "InvalidHeaderValue");
  assert.equal((await rawRequest(server, { path: `/${box}/first` })).status, 404);
});

test("only a key of the account sends a pipeline, to a container that exists", async () => {
  const box = await server.makeContainer();
  const { containerName } = box;
  const body = rendered(containerName, [put("a")]);
  assert.equal((await post("nowhere", body)).code, "ContainerNotFound");
  const account = server
    .client()
    .generateAccountSasUrl(undefined, AccountSASPermissions.parse("rwdxylacuptfi"), "sco");
  const permissions = ContainerSASPermissions.parse("racwdxltmei");
  const own = await box.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + 60_000) });
  for (const url of [account, own, ""]) {
    const path = `/${containerName}${COMP}${url === "" ? "" : `&${new URL(url).search.slice(1)}`}`;
    const asked = { method: "POST", path, headers: TYPE, body, signed: false };
    const { status } = await rawRequest(server, asked);
    assert.ok(status === 401 || status === 403, `${status} ${url}`);
  }
  assert.equal(await box.getBlobClient("a").exists(), false);
});

test("answers that would be too long together are refused, and later short ones are not", async () => {
  const box = await server.makeContainer();
  const bytes = 1.5 * 1024 * 1024;
  await box.getBlockBlobClient("large").upload("x".repeat(bytes), bytes);
  await box.getBlockBlobClient("small").upload("x", 1);
  const large = { at: "large" };
  const found = await pipelined(box.containerName, [large, large, large, { at: "small" }]);
  assert.deepEqual(
    found.map(({ status, text, headers }) => [
      status,
      status === 200 ? text.length : headers["x-ms-error-code"],
    ]),
    [
      [200, bytes],
      [200, bytes],
      [400, "InvalidInput"],
      [200, 1],
    ],
  );
});

test("a client that goes away in the middle leaves nothing half done", async () => {
  const box = await server.makeContainer();
  const all = Array.from({ length: 100 }, (_, at) => put(`${at}`, {}, "x".repeat(4096)));
  const body = rendered(box.containerName, all);
  const { hostname, port, pathname } = new URL(server.url);
  const path = `${pathname}/${box.containerName}`;
  const own = [`x-ms-date:${new Date().toUTCString()}`, "x-ms-version:2026-04-06"];
  const resource = [`/${server.account}${path}`, "comp:lazuli-pipeline", "restype:container"];
  const standard = ["", "", `${body.length}`, "", TYPE["Content-Type"], "", "", "", "", "", ""];
  const signed = CREDENTIAL.computeHMACSHA256(
    ["POST", ...standard, ...own, ...resource].join("\n"),
  );
  const head = [
    `POST ${path}${COMP} HTTP/1.1`,
    "Host: x",
    ...own,
    `Content-Type: ${TYPE["Content-Type"]}`,
    `Content-Length: ${body.length}`,
    `Authorization: SharedKey ${server.account}:${signed}`,
  ];
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
    socket.on("error", () => {});
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    socket.write(body.subarray(0, body.length / 2), () => socket.destroy());
  });
  // The answer to the next request shows that the server goes on.
  const found = await pipelined(box.containerName, all.slice(0, 1));
  assert.equal(found[0]?.status, 201);
  assert.deepEqual(
    (await contentsOf(box)).map(({ name }) => name),
    ["0"],
  );
  assert.deepEqual(server.failures, []);
});
