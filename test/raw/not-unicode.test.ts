import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  generateAccountSASQueryParameters,
} from "@azure/storage-blob";
import { BROKEN_UTF8 } from "../../src/base/broken-utf8.fixture.ts";
import { startFileServer } from "../sdk/file-server.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import {
  CREDENTIAL,
  forThisFile,
  ON_NODE_LISTENER,
  startServer,
  type TestService,
} from "../sdk/server.ts";
import { startTableServer } from "../sdk/table-server.ts";

const blobs = await forThisFile(startServer());
const queues = await forThisFile(startQueueServer());
const tables = await forThisFile(startTableServer());
const files = await forThisFile(startFileServer());

/** A SAS that grants everything and does not sign the URL it is in. */
const SAS = generateAccountSASQueryParameters(
  {
    services: AccountSASServices.parse("bqtf").toString(),
    resourceTypes: AccountSASResourceTypes.parse("sco").toString(),
    permissions: AccountSASPermissions.parse("rwdxlacuptfi"),
    expiresOn: new Date(Date.now() + 3_600_000),
  },
  CREDENTIAL,
).toString();

type Headers = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

/** Sends exactly these bytes: each character of `path` and of a header is one byte. */
function send(
  { url, account }: TestService,
  method: string,
  path: string,
  headers: Headers = {},
  body: string | Buffer = "",
): Promise<Answer> {
  const { host, hostname, port } = new URL(url);
  const target = `/${account}${path}${path.includes("?") ? "&" : "?"}${SAS}`;
  const bytes = Buffer.from(body);
  const all = {
    Host: host,
    "Content-Length": String(bytes.length),
    "x-ms-version": "2026-04-06",
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${target} HTTP/1.1`, ...lines, "", ""].join("\r\n");
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(Buffer.concat([Buffer.from(head, "latin1"), bytes]));
    });
    socket.setEncoding("latin1");
    socket.on("data", (part: string) => {
      text += part;
    });
    socket.on("error", reject);
    socket.on("end", () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
      const code = /^x-ms-error-code: (.*)\r$/im.exec(text)?.[1] ?? "";
      resolve({ status, code, text });
    });
  });
}

const JSON_TYPE = { "content-type": "application/json", accept: "application/json" };
const BLOCK = { "x-ms-blob-type": "BlockBlob" };
const FILE = { "x-ms-type": "file", "x-ms-content-length": "0" };

await send(blobs, "PUT", "/box?restype=container");
await send(blobs, "PUT", "/box/there", BLOCK);
await send(queues, "PUT", "/box");
await send(tables, "POST", "/Tables", JSON_TYPE, '{"TableName":"Box"}');
await send(files, "PUT", "/box?restype=share");
await send(files, "PUT", "/box/there", FILE);

async function refused(code: string | RegExp, ...request: Parameters<typeof send>): Promise<void> {
  const answer = await send(...request);
  const shown = `${request[1]} ${request[2]} ${answer.text}`;
  assert.equal(answer.status, 400, shown);
  // Node's own parser refuses such bytes in a URL, so that the response has no code of the service.
  if (ON_NODE_LISTENER && /[^\0-\x7f]/.test(request[2])) return;
  assert.match(answer.code, typeof code === "string" ? new RegExp(`^${code}$`) : code, shown);
}

/** Decodes percent-encoding to raw bytes. */
const rawOf = (encoded: string) => unescape(encoded);

test("paths that are not UTF-8 get 400 InvalidUri, in every service", async () => {
  for (const name of [...BROKEN_UTF8, ...BROKEN_UTF8.map(rawOf), "\xc3\xbc", "a\x80b"]) {
    await refused("InvalidUri", blobs, "PUT", `/box/a${name}`, BLOCK);
    await refused("InvalidUri", blobs, "GET", `/box/${name}`);
    await refused("InvalidUri", blobs, "PUT", `/${name}?restype=container`);
    await refused("InvalidUri", queues, "PUT", `/${name}`);
    await refused("InvalidUri", queues, "GET", `/box/messages/${name}`);
    await refused("InvalidUri", tables, "GET", `/${name}()`);
    await refused("InvalidUri", tables, "GET", `/Box(PartitionKey='${name}',RowKey='b')`);
    await refused("InvalidUri", files, "PUT", `/${name}?restype=share`);
    await refused("InvalidUri", files, "PUT", `/box/a${name}`, FILE);
    await refused("InvalidUri", files, "PUT", `/box/${name}?restype=directory`);
    await refused("InvalidUri", files, "GET", `/box/dir${name}/file`);
  }
  for (const [server, path] of [
    [blobs, "/box?restype=container&comp=list"],
    [files, "/box?restype=directory&comp=list"],
  ] as const) {
    const { text } = await send(server, "GET", path);
    assert.deepEqual(
      [...text.matchAll(/<Name>(.*?)<\/Name>/g)].map(([, name]) => name),
      ["there"],
    );
  }
});

test("queries that are not UTF-8 are refused by name", async () => {
  for (const value of BROKEN_UTF8) {
    const list = `comp=list&prefix=${value}`;
    await refused("InvalidQueryParameterValue", blobs, "GET", `/box?restype=container&${list}`);
    await refused("InvalidQueryParameterValue", queues, "GET", `/?${list}`);
    const filter = `/Box()?$filter=PartitionKey%20eq%20'${value}'`;
    await refused(/^(?:InvalidQueryParameterValue|InvalidInput)$/, tables, "GET", filter);
    await refused("InvalidQueryParameterValue", files, "GET", `/box?restype=directory&${list}`);
    await refused("InvalidUri", blobs, "GET", `/box/there?${value}=x`);
  }
  await refused("InvalidUri", blobs, "GET", "/box?restype=container&comp=list&prefix=\xc3\xbc");
});

test("sources in headers that are not UTF-8 are refused", async () => {
  for (const name of [...BROKEN_UTF8, ...BROKEN_UTF8.map(rawOf), "\xc3\xbc"]) {
    const source = { "x-ms-copy-source": `${blobs.url}/box/${name}?${SAS}` };
    const copied = await send(blobs, "PUT", "/box/copy", source);
    assert.ok(copied.status === 400 || copied.status === 404, copied.text);
    assert.match(copied.code, /^(?:InvalidHeaderValue|CannotVerifyCopySource|InvalidUri)$/);
    const renamed = { "x-ms-file-rename-source": `${files.url}/box/${name}?${SAS}` };
    await refused(/^Invalid(?:Uri|HeaderValue)$/, files, "PUT", "/box/moved?comp=rename", renamed);
    const target = { "x-ms-file-rename-source": `${files.url}/box/there?${SAS}` };
    await refused("InvalidUri", files, "PUT", `/box/${name}?comp=rename`, target);
  }
});

test("metadata that is not UTF-8 is refused, in every service", async () => {
  for (const value of BROKEN_UTF8.map(rawOf)) {
    const headers = { "x-ms-meta-a": value };
    await refused("InvalidMetadata", blobs, "PUT", "/box/there?comp=metadata", headers);
    await refused("InvalidMetadata", blobs, "PUT", "/newbox?restype=container", headers);
    await refused("InvalidMetadata", queues, "PUT", "/newbox", headers);
    await refused("InvalidMetadata", files, "PUT", "/newbox?restype=share", headers);
    await refused("InvalidMetadata", files, "PUT", "/box/there?comp=metadata", headers);
  }
  const good = await send(blobs, "PUT", "/box/there?comp=metadata", { "x-ms-meta-a": "\xc3\xbc" });
  assert.equal(good.status, 200, good.text);
  const { text } = await send(blobs, "HEAD", "/box/there");
  assert.match(text, /^x-ms-meta-a: \xc3\xbc\r$/im, "UTF-8 comes back byte by byte");
});

/** Puts the raw bytes between two texts. */
const around = (before: string, encoded: string, after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from(rawOf(encoded), "latin1"), Buffer.from(after)]);

test("XML bodies that are not UTF-8, or contain half a surrogate pair, are refused", async () => {
  const messages = "/box/messages";
  const [before, after] = ["<QueueMessage><MessageText>", "</MessageText></QueueMessage>"];
  const [tagBefore, tagAfter] = [
    "<Tags><TagSet><Tag><Key>a</Key><Value>",
    "</Value></Tag></TagSet></Tags>",
  ];
  for (const value of BROKEN_UTF8) {
    const message = around(before, value, after);
    await refused("InvalidXmlDocument", queues, "POST", messages, {}, message);
    const tags = around(tagBefore, value, tagAfter);
    await refused("InvalidXmlDocument", blobs, "PUT", "/box/there?comp=tags", {}, tags);
    const block = around("<BlockList><Latest>", value, "</Latest></BlockList>");
    await refused("InvalidXmlDocument", blobs, "PUT", "/box/x?comp=blocklist", {}, block);
  }
  for (const half of ["&#xD800;", "&#55296;", "&#xDFFF;", "&#xD83D;&#xDE00;"]) {
    const message = before + half + after;
    await refused("InvalidXmlDocument", queues, "POST", messages, {}, message);
  }
});

test("JSON bodies that are not UTF-8, or contain half a surrogate pair, are refused", async () => {
  const insert = (body: string | Buffer) =>
    refused("InvalidInput", tables, "POST", "/Box", JSON_TYPE, body);
  const [before, after] = ['{"PartitionKey":"a","RowKey":"b","Text":"', '"}'];
  for (const value of BROKEN_UTF8) await insert(around(before, value, after));
  for (const half of ["\\ud800", "\\uDFFF", "\\ude00\\ud83d", "a\\ud83d\\u0041"]) {
    await insert(before + half + after);
    await insert(`{"PartitionKey":"a${half}","RowKey":"b"}`);
    await insert(`{"PartitionKey":"a","RowKey":"${half}"}`);
    await insert(`{"PartitionKey":"a","RowKey":"b","${half}":1}`);
    await refused("InvalidInput", tables, "POST", "/Tables", JSON_TYPE, `{"TableName":"a${half}"}`);
  }
  const whole = await send(tables, "POST", "/Box", JSON_TYPE, `${before}\\ud83d\\ude00${after}`);
  assert.equal(whole.status, 201, whole.text);
});

test("metadata may end with a byte that is a blank in Latin-1, and comes back whole", async () => {
  const said = Buffer.from("voilà").toString("latin1");
  const created = await send(blobs, "PUT", "/blank?restype=container", {
    "x-ms-meta-said": ` ${said} `,
  });
  assert.equal(created.status, 201, created.text);
  const { text } = await send(blobs, "HEAD", "/blank?restype=container");
  assert.ok(text.includes(`x-ms-meta-said: ${said}\r\n`), text);
});
