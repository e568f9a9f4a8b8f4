import assert from "node:assert/strict";
import { test } from "node:test";
import { QueueRestService } from "../../src/front/rest/queue/queue-rest-service.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import {
  ACCOUNT,
  CREDENTIAL,
  forThisFile,
  startServer,
  startService,
  type TestService,
} from "./server.ts";

const blobs = await forThisFile(startServer());
const queues = await forThisFile(startService(QueueRestService));

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The path that is signed, if it differs from the path that is sent. */
  readonly signedPath?: string;
}

/** Signs as documented for blobs and queues: only `comp` of the query is signed. */
function ask(server: TestService, asked: Asked): Promise<RawAnswer> {
  const { method, path, body, signedPath = path } = asked;
  const headers: Record<string, string> = {
    "x-ms-date": new Date().toUTCString(),
    "x-ms-version": "2020-10-02",
    ...asked.headers,
  };
  if (body !== undefined) headers["content-type"] ??= "text/plain";
  const url = new URL(server.url + signedPath);
  const comp = url.searchParams.get("comp");
  const ours = Object.keys(headers).filter((name) => name.startsWith("x-ms-"));
  const lines = [method, headers["content-md5"] ?? "", headers["content-type"] ?? "", ""];
  for (const name of ours.sort()) lines.push(`${name}:${headers[name]}`);
  lines.push(`/${ACCOUNT}${url.pathname}${comp === null ? "" : `?comp=${comp}`}`);
  const signature = CREDENTIAL.computeHMACSHA256(lines.join("\n"));
  headers.authorization = `SharedKeyLite ${ACCOUNT}:${signature}`;
  const sent = { method, path, headers, version: null, signed: false };
  return rawRequest(server, body === undefined ? sent : { ...sent, body });
}

test("SharedKeyLite works for blobs: containers, bodies, metadata, lists", async () => {
  const container = "/lite";
  const blob = `${container}/a%20b`;
  const type = { "x-ms-blob-type": "BlockBlob", "x-ms-meta-b": "2", "x-ms-meta-a": "1" };
  const asks: [status: number, asked: Asked][] = [
    [201, { method: "PUT", path: `${container}?restype=container` }],
    [201, { method: "PUT", path: blob, body: "text", headers: type }],
    [200, { method: "PUT", path: `${blob}?comp=metadata`, headers: { "x-ms-meta-c": "3" } }],
    [200, { method: "GET", path: `${container}?restype=container&comp=list` }],
    [200, { method: "GET", path: blob }],
    [202, { method: "DELETE", path: blob }],
  ];
  for (const [status, asked] of asks) {
    const answer = await ask(blobs, asked);
    assert.equal(answer.status, status, `${asked.method} ${asked.path}: ${answer.text}`);
  }
});

test("SharedKeyLite works for queues: queues, messages, metadata", async () => {
  const body = "<QueueMessage><MessageText>text</MessageText></QueueMessage>";
  const headers = { "content-type": "application/xml" };
  const asks: [status: number, asked: Asked][] = [
    [201, { method: "PUT", path: "/lite" }],
    [201, { method: "POST", path: "/lite/messages?messagettl=60", body, headers }],
    [200, { method: "GET", path: "/lite/messages?peekonly=true" }],
    [204, { method: "PUT", path: "/lite?comp=metadata", headers: { "x-ms-meta-a": "1" } }],
    [200, { method: "GET", path: "/?comp=list" }],
  ];
  for (const [status, asked] of asks) {
    const answer = await ask(queues, asked);
    assert.equal(answer.status, status, `${asked.method} ${asked.path}: ${answer.text}`);
  }
});

test("a change to anything that SharedKeyLite signs is detected", async () => {
  const asked = { method: "PUT", path: "/a?restype=container&comp=acl" };
  for (const signedPath of ["/b?restype=container&comp=acl", "/a?restype=container&comp=lease"]) {
    const answer = await ask(blobs, { ...asked, signedPath });
    assert.deepEqual([answer.status, answer.code], [403, "AuthenticationFailed"], signedPath);
  }
});
