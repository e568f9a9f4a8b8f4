import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RawAsked, rawRequest } from "../sdk/raw-request.ts";
import { startServer, type TestServer } from "../sdk/server.ts";

/** Nothing is accepted and ignored: a header is obeyed or refused by name. */

const KEYS = {
  "x-ms-encryption-key": "a2V5",
  "x-ms-encryption-key-sha256": "c2hh",
  "x-ms-encryption-algorithm": "AES256",
};
const SCOPE = { "x-ms-encryption-scope": "scope" };
const POLICY = {
  "x-ms-immutability-policy-until-date": "Wed, 01 Jan 2031 00:00:00 GMT",
  "x-ms-immutability-policy-mode": "Unlocked",
};
const HOLD = { "x-ms-legal-hold": "true" };
const TAGS = { "x-ms-tags": "a=b" };
const TIER = { "x-ms-access-tier": "Hot" };
const IF_TAGS = { "x-ms-if-tags": "a='b'" };
const ON_CREATIONS = { ...SCOPE, ...POLICY, ...HOLD };
const ON_UPDATES = { ...ON_CREATIONS, ...TAGS, ...TIER };
const OF_PAGES = { "x-ms-blob-content-length": "512", "x-ms-blob-sequence-number": "1" };
const TIER_TIMES = {
  "x-ms-access-tier-if-modified-since": "Wed, 01 Jan 2020 00:00:00 GMT",
  "x-ms-access-tier-if-unmodified-since": "Wed, 01 Jan 2020 00:00:00 GMT",
};

const SOURCE = { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/box/there" };
const SOURCE_KEYS = {
  "x-ms-source-encryption-key": "a2V5",
  "x-ms-source-encryption-key-sha256": "c2hh",
  "x-ms-source-encryption-algorithm": "AES256",
};
const ON_COPIES = {
  ...SCOPE,
  ...POLICY,
  ...HOLD,
  "x-ms-source-lease-id": "00000000-0000-0000-0000-00000000000a",
};
/** Headers for copies of another kind. */
const OF_OTHER_COPIES = {
  "x-ms-source-range": "bytes=0-1",
  "x-ms-copy-source-blob-properties": "true",
  "x-ms-blob-content-type": "text/plain",
  "x-ms-blob-cache-control": "no-cache",
};
const SEAL = { "x-ms-seal-blob": "true" };
const SOURCE_DIGEST = { "x-ms-source-content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" };
const PRIORITY = { "x-ms-rehydrate-priority": "High" };
const ALL_KEYS = { ...KEYS, ...SOURCE_KEYS };

interface Case extends RawAsked {
  readonly refused: Readonly<Record<string, string>>;
}

const BLOCK_LIST = "<BlockList></BlockList>";
const NO_TAGS = "<Tags><TagSet></TagSet></Tags>";
const PAGE = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };
const CLEAR = { "x-ms-page-write": "clear", "x-ms-range": "bytes=0-511" };
const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };

const CASES: readonly Case[] = [
  put("/box/new", { ...ON_CREATIONS, ...OF_PAGES }, type("BlockBlob"), "text"),
  put("/box/new", ON_CREATIONS, { ...type("PageBlob"), "x-ms-blob-content-length": "512" }),
  put("/box/new", { ...ON_CREATIONS, ...OF_PAGES }, type("AppendBlob")),
  put("/box/new?comp=block&blockid=AAAA", { ...ON_UPDATES, ...IF_TAGS }, {}, "text"),
  put("/box/new?comp=blocklist", ON_CREATIONS, {}, BLOCK_LIST),
  put("/box/there?comp=metadata", ON_UPDATES),
  put("/box/there?comp=properties", ON_UPDATES),
  put("/box/there?comp=snapshot", ON_UPDATES),
  put("/box/there?comp=lease", { ...KEYS, ...ON_UPDATES }, acquire),
  put("/box/there?comp=tags", { ...KEYS, ...ON_UPDATES }, {}, NO_TAGS),
  put("/box/there?comp=tier", { ...KEYS, ...ON_CREATIONS, ...TAGS }, TIER),
  put("/box/pages?comp=page", ON_UPDATES, PAGE, "x".repeat(512)),
  put("/box/pages?comp=page", ON_UPDATES, CLEAR),
  put("/box/log?comp=appendblock", ON_UPDATES, {}, "text"),
  put("/box/log?comp=seal", { ...KEYS, ...ON_UPDATES }),
  put("/box/new", { ...ON_COPIES, ...ALL_KEYS, ...OF_OTHER_COPIES, ...SOURCE_DIGEST }, SOURCE),
  put(
    "/box/new",
    { ...ON_COPIES, ...ALL_KEYS, ...OF_OTHER_COPIES, ...SEAL, ...PRIORITY },
    { ...SOURCE, "x-ms-requires-sync": "true" },
  ),
  put(
    "/box/new",
    { ...ON_COPIES, ...SEAL, ...PRIORITY, "x-ms-source-range": "bytes=0-1" },
    { ...SOURCE, ...type("BlockBlob") },
  ),
  put(
    "/box/new?comp=incrementalcopy",
    {
      ...{ ...ON_COPIES, ...ALL_KEYS, ...OF_OTHER_COPIES, ...SEAL, ...PRIORITY, ...TAGS, ...TIER },
      ...{ ...SOURCE_DIGEST, "x-ms-meta-colour": "green" },
    },
    SOURCE,
  ),
  put("/box/new?comp=block&blockid=AAAA", { ...ON_UPDATES, ...IF_TAGS }, SOURCE),
  put("/box/pages?comp=page", ON_UPDATES, {
    ...SOURCE,
    ...PAGE,
    "x-ms-source-range": "bytes=0-511",
  }),
  put("/box/log?comp=appendblock", ON_UPDATES, SOURCE),
  ask("GET", "/box/there?comp=blocklist", KEYS),
  ask("GET", "/box/there?comp=tags", KEYS),
  ask("GET", "/box/pages?comp=pagelist", KEYS),
  ask("DELETE", "/box/there", { ...KEYS, ...TIER_TIMES }),
  put("/more?restype=container", {
    "x-ms-default-encryption-scope": "scope",
    "x-ms-deny-encryption-scope-override": "true",
  }),
  put("/box?restype=container&comp=metadata", IF_TAGS),
  put("/box?restype=container&comp=lease", IF_TAGS, acquire),
  ask("DELETE", "/box?restype=container", IF_TAGS),
];

function type(name: string) {
  return { "x-ms-blob-type": name };
}

function put(
  path: string,
  refused: Case["refused"],
  headers: Record<string, string> = {},
  body?: string,
): Case {
  return { method: "PUT", path, headers, refused, ...(body !== undefined && { body }) };
}

function ask(method: string, path: string, refused: Case["refused"]): Case {
  return { method, path, refused };
}

let server: TestServer;

before(async () => {
  server = await startServer();
  const box = server.client().getContainerClient("box");
  await box.create();
  await box.getBlockBlobClient("there").upload("text", 4);
  await box.getPageBlobClient("pages").create(512);
  await box.getAppendBlobClient("log").create();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

for (const { refused, ...asked } of CASES) {
  const kind = Object.values(asked.headers ?? {})[0] ?? "";
  test(`${asked.method} ${asked.path} ${kind} refuses unsupported headers by name`, async () => {
    for (const [name, value] of Object.entries(refused)) {
      const headers = { ...asked.headers, [name]: value };
      const { status, code, text } = await rawRequest(server, { ...asked, headers });
      assert.deepEqual([status, code], [400, "UnsupportedHeader"], name);
      if (asked.method !== "HEAD") assert.match(text, new RegExp(`<HeaderName>${name}<`));
    }
  });
}

test("a digest of an empty body is checked as well", async () => {
  const asked = { method: "PUT", path: "/box/log?comp=appendblock" };
  const source = { "x-ms-copy-source": `${server.url}/box/there` };
  const wrong = { ...source, "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" };
  assert.equal((await rawRequest(server, { ...asked, headers: wrong })).code, "Md5Mismatch");
  const right = { ...source, "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" };
  assert.equal((await rawRequest(server, { ...asked, headers: right })).status, 201);
});

test("x-ms-requires-sync is read in any case, and other values than true and false are refused", async () => {
  const ask = (value: string) =>
    rawRequest(server, {
      method: "PUT",
      path: "/box/copy",
      headers: { "x-ms-copy-source": `${server.url}/box/pages`, "x-ms-requires-sync": value },
    });
  // Only a synchronous copy refuses page blobs.
  for (const value of ["true", "True", "TRUE"]) {
    assert.equal((await ask(value)).code, "InvalidSourceBlobType", value);
  }
  for (const value of ["false", "False"]) assert.equal((await ask(value)).status, 202, value);
  for (const value of ["yes", "1", "true,true"]) {
    const { status, code, text } = await ask(value);
    assert.deepEqual([status, code], [400, "InvalidHeaderValue"], value);
    assert.match(text, /<HeaderName>x-ms-requires-sync</);
  }
});

/** Whole operations that are refused, each by its name. */
const OPERATIONS: readonly [string, RawAsked][] = [
  ["queryBlob", { method: "POST", path: "/box/there?comp=query", body: "<QueryRequest/>" }],
  ["setImmutabilityPolicy", { method: "PUT", path: "/box/there?comp=immutabilityPolicies" }],
  ["deleteImmutabilityPolicy", { method: "DELETE", path: "/box/there?comp=immutabilityPolicies" }],
  ["setLegalHold", { method: "PUT", path: "/box/there?comp=legalhold" }],
  ["renameContainer", { method: "PUT", path: "/box?restype=container&comp=rename" }],
];

for (const [operation, asked] of OPERATIONS) {
  test(`${operation} is refused by its name`, async () => {
    const { status, code, text } = await rawRequest(server, asked);
    assert.deepEqual([status, code], [501, "NotImplemented"]);
    assert.match(text, new RegExp(`<Reason>[^<]* ${operation} `));
  });
}

test("a static website cannot be switched on", async () => {
  const { status, code } = await rawRequest(server, {
    method: "PUT",
    path: "/?restype=service&comp=properties",
    body: "<StorageServiceProperties><StaticWebsite><Enabled>true</Enabled></StaticWebsite></StorageServiceProperties>",
  });
  assert.equal(status, 400, code);
});

test("the change feed is refused", async () => {
  const { status, code } = await rawRequest(server, {
    path: "/$blobchangefeed?restype=container&comp=list",
  });
  assert.deepEqual([status, code], [404, "ContainerNotFound"]);
});
