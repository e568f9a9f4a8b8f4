import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { rfc1123 } from "../../../base/time-text.ts";
import {
  ACCOUNT_NAME,
  type Asked,
  assertRefused,
  authenticated,
  KEY,
  NOON,
  SECOND_KEY,
  sign,
} from "./request.fixture.ts";

const URL = `http://127.0.0.1:10000/${ACCOUNT_NAME}/c/b`;
const PATH = `/${ACCOUNT_NAME}/${ACCOUNT_NAME}/c/b`;
const DATE = rfc1123(NOON);
const VERSION = "2026-04-06";

/** Assembles a string to sign; `lines` are the eleven lines after the verb. */
function full(verb: string, lines: string, headers: string, resource: string): string {
  return `${verb}\n${lines}${headers}${resource}`;
}

function withKey(text: string, scheme = "SharedKey", key = KEY): string {
  return `${scheme} ${ACCOUNT_NAME}:${sign(text, key)}`;
}

function assertOwner(asked: Asked, service: "blob" | "table" = "blob"): void {
  assert.equal(authenticated(service, asked).access.kind, "owner");
}

const NO_LINES = "\n".repeat(11);
const USUAL_HEADERS = { "x-ms-date": DATE, "x-ms-version": VERSION };
const USUAL = full("GET", NO_LINES, `x-ms-date:${DATE}\nx-ms-version:${VERSION}\n`, PATH);

test("either of the two keys is accepted, a third is not", () => {
  for (const key of [KEY, SECOND_KEY]) {
    assertOwner({
      url: URL,
      headers: { ...USUAL_HEADERS, authorization: withKey(USUAL, "SharedKey", key) },
    });
  }
  const third = Buffer.alloc(64, "third").toString("base64");
  const authorization = withKey(USUAL, "SharedKey", third);
  assertRefused("AuthenticationFailed", () =>
    authenticated("blob", { url: URL, headers: { ...USUAL_HEADERS, authorization } }),
  );
});

test("a request is valid within 15 minutes of its date", () => {
  const authorization = withKey(USUAL);
  const at = (minutes: number) => () =>
    authenticated("blob", {
      url: URL,
      headers: { ...USUAL_HEADERS, authorization },
      receivedMs: NOON + minutes * 60_000,
    });
  for (const minutes of [-15, -14, 14, 15]) assert.equal(at(minutes)().access.kind, "owner");
  assert.match(assertRefused("AuthenticationFailed", at(16)), /too old/);
  assert.match(assertRefused("AuthenticationFailed", at(-16)), /too far ahead/);
});

test("a request without a readable date is refused", () => {
  const headers = { "x-ms-version": VERSION, authorization: withKey(USUAL) };
  const attempt = (more: object) => () =>
    authenticated("blob", { url: URL, headers: { ...headers, ...more } });
  assert.match(assertRefused("AuthenticationFailed", attempt({})), /no date/);
  assert.match(
    assertRefused("AuthenticationFailed", attempt({ "x-ms-date": "2030-01-01T12:00:00Z" })),
    /RFC 1123/,
  );
});

test("Date is signed on its own line, and as empty if x-ms-date is sent", () => {
  const headers = `x-ms-version:${VERSION}\n`;
  const plain = full("GET", `\n\n\n\n\n${DATE}\n\n\n\n\n\n`, headers, PATH);
  assertOwner({
    url: URL,
    headers: { Date: DATE, "x-ms-version": VERSION, authorization: withKey(plain) },
  });
  assertOwner({
    url: URL,
    headers: {
      ...USUAL_HEADERS,
      Date: "Tue, 01 Jan 2002 00:00:00 GMT",
      authorization: withKey(USUAL),
    },
  });
});

test("every standard header is signed on its own line", () => {
  const headers = {
    "Content-Encoding": "gzip",
    "Content-Language": "en",
    "Content-Length": "7",
    "Content-MD5": "md5",
    "Content-Type": "text/plain",
    "If-Modified-Since": "a",
    "If-Match": "b",
    "If-None-Match": "c",
    "If-Unmodified-Since": "d",
    Range: "bytes=0-1",
  };
  const lines = "gzip\nen\n7\nmd5\ntext/plain\n\na\nb\nc\nd\nbytes=0-1\n";
  const text = full("PUT", lines, `x-ms-date:${DATE}\nx-ms-version:${VERSION}\n`, PATH);
  assertOwner({
    method: "PUT",
    url: URL,
    headers: { ...headers, ...USUAL_HEADERS, authorization: withKey(text) },
  });
});

test("a length of zero is signed as empty since 2015-02-21, as 0 before", () => {
  for (const [version, length] of [
    ["2015-02-21", ""],
    ["2014-02-14", "0"],
  ] as const) {
    const headers = `x-ms-date:${DATE}\nx-ms-version:${version}\n`;
    const text = full("PUT", `\n\n${length}\n\n\n\n\n\n\n\n\n`, headers, PATH);
    assertOwner({
      method: "PUT",
      url: URL,
      headers: {
        "Content-Length": "0",
        "x-ms-date": DATE,
        "x-ms-version": version,
        authorization: withKey(text),
      },
    });
  }
});

test("headers without a value are signed since 2016-05-31, left out before", () => {
  for (const [version, empty] of [
    ["2016-05-31", "x-ms-meta-a:\n"],
    ["2015-12-11", ""],
  ] as const) {
    const headers = `x-ms-date:${DATE}\n${empty}x-ms-version:${version}\n`;
    const text = full("GET", NO_LINES, headers, PATH);
    assertOwner({
      url: URL,
      headers: {
        "x-ms-meta-a": "",
        "x-ms-date": DATE,
        "x-ms-version": version,
        authorization: withKey(text),
      },
    });
  }
});

test("headers may be signed in the service's order or in ordinal order, with names in lower case", () => {
  const [first, second] = ["x-ms-meta-a-b:1\n", "x-ms-meta-ab:2\n"];
  for (const meta of [`${second}${first}`, `${first}${second}`]) {
    const signed = `x-ms-date:${DATE}\n${meta}x-ms-version:${VERSION}\n`;
    const authorization = withKey(full("GET", NO_LINES, signed, PATH));
    const headers = { "X-MS-Meta-A-B": "1", "x-ms-meta-ab": "2", ...USUAL_HEADERS, authorization };
    assertOwner({ url: URL, headers });
  }
});

test("spaces around a header's value are ignored, and spaces within may be folded", () => {
  for (const value of ["a  b", "a b"]) {
    const signed = `x-ms-date:${DATE}\nx-ms-meta-a:${value}\nx-ms-version:${VERSION}\n`;
    const authorization = withKey(full("GET", NO_LINES, signed, PATH));
    const headers = { "x-ms-meta-a": "  a  b ", ...USUAL_HEADERS, authorization };
    assertOwner({ url: URL, headers });
  }
});

test("a value may end with a byte that is a blank in Latin-1, which is signed", () => {
  const value = Buffer.from("voilà").toString("latin1");
  const signed = `x-ms-date:${DATE}\nx-ms-meta-a:${value}\nx-ms-version:${VERSION}\n`;
  const authorization = withKey(full("GET", NO_LINES, signed, PATH));
  assertOwner({ url: URL, headers: { "x-ms-meta-a": value, ...USUAL_HEADERS, authorization } });
});

test("a duplicate x-ms header is refused", () => {
  const headers: [string, string][] = [
    ["x-ms-meta-a", "1"],
    ["X-MS-Meta-A", "1"],
    ...Object.entries({ ...USUAL_HEADERS, authorization: withKey(USUAL) }),
  ];
  assertRefused("InvalidHeaderValue", () => authenticated("blob", { url: URL, headers }));
});

test("query parameters are signed decoded, sorted, and joined if a name repeats", () => {
  const url = `${URL}?Restype=container&prefix=a%2Fb+c&comp=list&INCLUDE=b&include=a&empty`;
  const query = "\ncomp:list\nempty:\ninclude:a,b\nprefix:a/b+c\nrestype:container";
  const authorization = withKey(`${USUAL}${query}`);
  assertOwner({ url, headers: { ...USUAL_HEADERS, authorization } });
});

test("headers and parameters are sorted for signing, however many there are", () => {
  for (const count of [2, 16, 17, 40]) {
    const names = Array.from({ length: count }, (_, at) => `n${String(at).padStart(2, "0")}`);
    const meta = names.map((name) => `x-ms-meta-${name}:1\n`).join("");
    const signed = `x-ms-date:${DATE}\n${meta}x-ms-version:${VERSION}\n`;
    const query = names.map((name) => `\n${name}:1`).join("");
    const authorization = withKey(full("GET", NO_LINES, signed, `${PATH}${query}`));
    const back = names.toReversed();
    const url = `${URL}?${back.map((name) => `${name}=1`).join("&")}`;
    const metadata = Object.fromEntries(back.map((name) => [`x-ms-meta-${name}`, "1"]));
    assertOwner({ url, headers: { ...metadata, ...USUAL_HEADERS, authorization } });
  }
});

test("on the secondary, the path may be signed with or without its suffix", () => {
  const url = `http://127.0.0.1:10000/${ACCOUNT_NAME}-secondary/c/b`;
  for (const path of [PATH, `/${ACCOUNT_NAME}/${ACCOUNT_NAME}-secondary/c/b`]) {
    const headers = `x-ms-date:${DATE}\nx-ms-version:${VERSION}\n`;
    const authorization = withKey(full("GET", NO_LINES, headers, path));
    assertOwner({ url, headers: { ...USUAL_HEADERS, authorization } });
  }
});

test("SharedKeyLite signs few headers, and only comp of the query", () => {
  const headers = `x-ms-date:${DATE}\nx-ms-version:${VERSION}\n`;
  const text = `PUT\nmd5\ntext/plain\n\n${headers}${PATH}?comp=metadata`;
  assertOwner({
    method: "PUT",
    url: `${URL}?timeout=3&comp=metadata`,
    headers: {
      "Content-MD5": "md5",
      "Content-Type": "text/plain",
      "Content-Length": "3",
      ...USUAL_HEADERS,
      authorization: withKey(text, "SharedKeyLite"),
    },
  });
});

test("a table's SharedKey has no headers, and its date is never empty", () => {
  const text = `POST\nmd5\napplication/json\n${DATE}\n${PATH}?comp=acl`;
  assertOwner(
    {
      method: "POST",
      url: `${URL}?comp=acl&timeout=3`,
      headers: {
        "Content-MD5": "md5",
        "Content-Type": "application/json",
        ...USUAL_HEADERS,
        authorization: withKey(text),
      },
    },
    "table",
  );
});

test("an unknown account is reported as unknown, even if the date is wrong too", () => {
  const url = "http://127.0.0.1:10000/nosuchaccount/c/b";
  const authorization = `SharedKey nosuchaccount:${sign(USUAL)}`;
  const detail = assertRefused("AuthenticationFailed", () =>
    authenticated("blob", { url, headers: { ...USUAL_HEADERS, "x-ms-date": "x", authorization } }),
  );
  assert.match(detail, /^The account 'nosuchaccount' is unknown to this server\. The path /);
});

test("a signature for one account is refused for another", () => {
  const url = "http://127.0.0.1:10000/otheraccount/c/b";
  const text = USUAL.replace(PATH, `/${ACCOUNT_NAME}/otheraccount/c/b`);
  const authorization = withKey(text);
  assertRefused("AuthenticationFailed", () =>
    authenticated("blob", { url, headers: { ...USUAL_HEADERS, authorization } }),
  );
});

test("the header must name the account that the URL names", () => {
  const authorization = `SharedKey someoneelse:${sign(USUAL)}`;
  const detail = assertRefused("AuthenticationFailed", () =>
    authenticated("blob", { url: URL, headers: { ...USUAL_HEADERS, authorization } }),
  );
  assert.match(
    detail,
    /signed for the account 'someoneelse', but its URL names 'devstoreaccount1'/,
  );
});

test("a signature must be canonical Base64", () => {
  const signature = sign(USUAL);
  const last = signature.charAt(42);
  // The last character before the padding has two bits that no byte uses.
  const twin = String.fromCharCode(last.charCodeAt(0) + 1);
  for (const altered of [
    `${signature.slice(0, 42)}${twin}=`,
    signature.slice(0, -1),
    `${signature}=`,
    `${signature}AAAA`,
    signature.replaceAll("+", "-").replaceAll("/", "_").slice(0, -1),
    "====",
  ]) {
    const authorization = `SharedKey ${ACCOUNT_NAME}:${altered}`;
    assertRefused(
      "AuthenticationFailed",
      () => authenticated("blob", { url: URL, headers: { ...USUAL_HEADERS, authorization } }),
      altered,
    );
  }
});

test("unprintable characters in the signed string are shown escaped", () => {
  const url = `${URL}?prefix=%00%1B%7F`;
  const headers = { ...USUAL_HEADERS, authorization: withKey("wrong") };
  const detail = assertRefused("AuthenticationFailed", () =>
    authenticated("blob", { url, headers }),
  );
  assert.ok(detail.includes("\nprefix:\\u0000\\u001b\\u007f'"), detail);
});

/** Captures the request that the official client sends. */
async function sentBy(use: (client: BlobServiceClient) => Promise<unknown>): Promise<Asked> {
  let sent: Asked = { url: "" };
  const client = new BlobServiceClient(
    `http://127.0.0.1:10000/${ACCOUNT_NAME}`,
    new StorageSharedKeyCredential(ACCOUNT_NAME, KEY),
    {
      httpClient: {
        sendRequest(request) {
          const { method, url } = request;
          sent = { method, url, headers: request.headers.rawHeaders(), receivedMs: Date.now() };
          return Promise.reject(new Error("caught"));
        },
      },
      retryOptions: { maxTries: 1 },
    },
  );
  await assert.rejects(use(client), /caught/);
  return sent;
}

test("what the official client signs is accepted, including its header order", async () => {
  const blob = (client: BlobServiceClient) =>
    client.getContainerClient("c").getBlockBlobClient("dir/ü #%?+ 100%.txt");
  const requests = [
    await sentBy((client) => client.createContainer("c")),
    await sentBy((client) => client.getContainerClient("c").listBlobsFlat().next()),
    await sentBy((client) =>
      client.getContainerClient("c").listBlobsByHierarchy("/", { prefix: "a b+c/ü&=%" }).next(),
    ),
    await sentBy((client) => blob(client).upload("", 0)),
    await sentBy((client) =>
      blob(client).upload("text", 4, {
        metadata: { a_b: "1", ab: "2", a1: "two  spaces", a: " " },
        blobHTTPHeaders: { blobContentLanguage: "en", blobContentEncoding: "gzip" },
        conditions: { ifMatch: '"0x1"', ifUnmodifiedSince: new Date(NOON) },
      }),
    ),
    await sentBy((client) => blob(client).download(5, 10, { conditions: { ifNoneMatch: "*" } })),
    await sentBy((client) => blob(client).stageBlock("AAAA", "text", 4)),
    await sentBy((client) =>
      blob(client).setMetadata({ x: "1" }, { conditions: { leaseId: "l" } }),
    ),
  ];
  for (const request of requests) assertOwner(request);
});

test("Content-Language may be signed before Content-Encoding, as one client does", () => {
  const lines = "en\ngzip\n\n\n\n\n\n\n\n\n\n";
  const text = full("PUT", lines, `x-ms-date:${DATE}\nx-ms-version:${VERSION}\n`, PATH);
  assertOwner({
    method: "PUT",
    url: URL,
    headers: {
      "Content-Encoding": "gzip",
      "Content-Language": "en",
      ...USUAL_HEADERS,
      authorization: withKey(text),
    },
  });
});
