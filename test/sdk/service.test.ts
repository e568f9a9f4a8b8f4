import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import {
  AccountSASPermissions,
  BlobServiceClient,
  type BlobServiceProperties,
  generateAccountSASQueryParameters,
} from "@azure/storage-blob";
import { type RawAsked, rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

let server: TestServer;
let client: BlobServiceClient;

beforeEach(async () => {
  server = await startServer();
  client = server.client();
});

afterEach(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const PROPERTIES = "/?restype=service&comp=properties";

const DEFAULTS =
  '<?xml version="1.0" encoding="utf-8"?><StorageServiceProperties>' +
  "<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>" +
  "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>" +
  "<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>" +
  "<RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></HourMetrics>" +
  "<MinuteMetrics><Version>1.0</Version><Enabled>false</Enabled>" +
  "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></MinuteMetrics><Cors />" +
  "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>" +
  "<StaticWebsite><Enabled>false</Enabled></StaticWebsite></StorageServiceProperties>";

test("an account without properties shows the service's defaults", async () => {
  const { status, text } = await rawRequest(server, { path: PROPERTIES });
  assert.deepEqual([status, text], [200, DEFAULTS]);
});

test("properties come back as they were set, and those left out are unchanged", async () => {
  const wanted: BlobServiceProperties = {
    blobAnalyticsLogging: {
      version: "2.0",
      read: true,
      write: false,
      deleteProperty: true,
      retentionPolicy: { enabled: true, days: 365 },
    },
    hourMetrics: {
      version: "1.0",
      enabled: true,
      includeAPIs: false,
      retentionPolicy: { enabled: true, days: 1 },
    },
    minuteMetrics: {
      version: "1.0",
      enabled: true,
      includeAPIs: true,
      retentionPolicy: { enabled: false },
    },
    cors: [
      {
        allowedOrigins: "https://a.example,https://b.example",
        allowedMethods: "GET,PUT",
        allowedHeaders: "x-ms-*",
        exposedHeaders: "etag,x-ms-meta-*",
        maxAgeInSeconds: 60,
      },
    ],
  };
  const done = await client.setProperties(wanted);
  assert.equal(done._response.status, 202);
  const pick = async () => {
    const { blobAnalyticsLogging, hourMetrics, minuteMetrics, cors } = await client.getProperties();
    return JSON.parse(JSON.stringify({ blobAnalyticsLogging, hourMetrics, minuteMetrics, cors }));
  };
  assert.deepEqual(await pick(), wanted);
  await client.setProperties({ cors: [] });
  assert.deepEqual(await pick(), { ...wanted, cors: [] });
  await client.setProperties({});
  assert.deepEqual(await pick(), { ...wanted, cors: [] });
});

async function putProperties(inner: string) {
  const body = `<StorageServiceProperties>${inner}</StorageServiceProperties>`;
  return rawRequest(server, { method: "PUT", path: PROPERTIES, body });
}

test("unsupported features can be switched off, but not on", async () => {
  const off = await putProperties("<StaticWebsite><Enabled>false</Enabled></StaticWebsite>");
  assert.equal(off.status, 202);
  const on = await putProperties("<StaticWebsite><Enabled>true</Enabled></StaticWebsite>");
  assert.deepEqual([on.status, on.code], [400, "UnsupportedXmlNode"]);
  assert.match(on.text, /does not support StaticWebsite yet/);
});

test("the retention of deleted blobs is set with the other properties", async () => {
  const client = server.client();
  const retention = async () => (await client.getProperties()).deleteRetentionPolicy;
  assert.equal((await retention())?.enabled, false);
  await client.setProperties({ deleteRetentionPolicy: { enabled: true, days: 5 } });
  const { text } = await rawRequest(server, { path: PROPERTIES });
  assert.match(text, /<Enabled>true<.*<Days>5<.*<AllowPermanentDelete>false</);
  await client.setProperties({ cors: [] });
  assert.equal((await retention())?.days, 5);
  const policy = (inner: string) =>
    putProperties(`<DeleteRetentionPolicy>${inner}</DeleteRetentionPolicy>`);
  const on = "<Enabled>true</Enabled>";
  assert.equal((await policy(on)).code, "MissingRequiredXmlNode");
  assert.equal((await policy(`${on}<Days>0</Days>`)).code, "InvalidXmlNodeValue");
  assert.equal((await policy(`${on}<Days>366</Days>`)).code, "InvalidXmlNodeValue");
  assert.equal((await policy(`${on}<Days>1</Days><Hours>1</Hours>`)).code, "UnsupportedXmlNode");
  await client.setProperties({ deleteRetentionPolicy: { enabled: false } });
  assert.equal((await retention())?.enabled, false);
});

test("invalid properties are refused, and nothing changes", async () => {
  const before = (await rawRequest(server, { path: PROPERTIES })).text;
  const cors = (rules: string) => `<Cors>${rules}</Cors>`;
  const rule = (terms: string) =>
    "<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods>" +
    `${terms}</CorsRule>`;
  const age = "<MaxAgeInSeconds>1</MaxAgeInSeconds>";
  const days = "<Enabled>true</Enabled><Days>366</Days>";
  const retention = `<RetentionPolicy>${days}</RetentionPolicy>`;
  const logging = "<Version>1.0</Version><Read>true</Read><Write>true</Write>";
  for (const [inner, code] of [
    ["<Unknown />", "UnsupportedXmlNode"],
    ["<Logging />", "MissingRequiredXmlNode"],
    [`<Logging>${logging}</Logging>`, "MissingRequiredXmlNode"],
    [`<Logging>${logging}<Delete>maybe</Delete></Logging>`, "InvalidXmlNodeValue"],
    [`<HourMetrics><Enabled>true</Enabled>${retention}</HourMetrics>`, "InvalidXmlNodeValue"],
    [cors(rule("")), "MissingRequiredXmlNode"],
    [cors(rule("<MaxAgeInSeconds>-1</MaxAgeInSeconds>")), "InvalidXmlNodeValue"],
    [cors(rule(age).replace("GET", "TRACE")), "InvalidXmlNodeValue"],
    [cors(rule(age).repeat(6)), "InvalidXmlDocument"],
    [cors(rule(`${age}<AllowCredentials>true</AllowCredentials>`)), "UnsupportedXmlNode"],
    [cors("").repeat(2), "InvalidXmlDocument"],
    [cors(rule(age.repeat(2))), "InvalidXmlDocument"],
    ["<DefaultServiceVersion>newest</DefaultServiceVersion>", "InvalidXmlNodeValue"],
  ] as const) {
    const answer = await putProperties(inner);
    assert.deepEqual([answer.status, answer.code], [400, code], inner);
  }
  const empty = await rawRequest(server, { method: "PUT", path: PROPERTIES });
  assert.deepEqual([empty.status, empty.code], [400, "InvalidXmlDocument"]);
  assert.equal((await rawRequest(server, { path: PROPERTIES })).text, before);
});

test("service statistics are live on the secondary endpoint, and refused on the primary", async () => {
  await refused(client.getStatistics(), 400, "InvalidQueryParameterValue");
  const secondaryClient = new BlobServiceClient(`${server.url}-secondary`, CREDENTIAL);
  const stats = await secondaryClient.getStatistics();
  assert.equal(stats.geoReplication?.status, "live");
  assert.equal(
    stats.geoReplication?.lastSyncOn?.getTime(),
    Math.floor(server.clock.now() / 1_000) * 1_000,
  );
  const sas = accountSas("r");
  const secondary = `${server.url}-secondary/?restype=service&comp=stats&${sas}`;
  const answer = await fetch(secondary);
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /<Status>live<\/Status>/);
});

test("account information is the same on the account, a container and a blob", async () => {
  for (const path of ["/", "/container", "/container/blob"]) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await rawRequest(server, {
        method,
        path: `${path}?restype=account&comp=properties`,
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("x-ms-sku-name"), "Standard_RAGRS");
      assert.equal(answer.headers.get("x-ms-account-kind"), "StorageV2");
      assert.equal(answer.headers.get("x-ms-is-hns-enabled"), "false");
    }
  }
});

function accountSas(letters: string, resourceTypes = "sco"): string {
  return generateAccountSASQueryParameters(
    {
      services: "b",
      resourceTypes,
      permissions: AccountSASPermissions.parse(letters),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    CREDENTIAL,
  ).toString();
}

test("an account SAS grants what its letters say on the service", async () => {
  const code = async (method: string, path: string, sas: string) => {
    const body = method === "PUT" ? { body: "<StorageServiceProperties />" } : {};
    return (await rawRequest(server, { method, path: `${path}&${sas}`, signed: false, ...body }))
      .code;
  };
  for (const [method, path, letter] of [
    ["GET", PROPERTIES, "r"],
    ["PUT", PROPERTIES, "w"],
    ["GET", "-secondary/?restype=service&comp=stats", "r"],
    ["GET", "/?comp=list", "l"],
    ["GET", "/?restype=account&comp=properties", "r"],
  ] as const) {
    assert.equal(await code(method, path, accountSas(letter)), "", path);
    const others = "rwdlac".replace(letter, "");
    assert.equal(await code(method, path, accountSas(others)), "AuthorizationPermissionMismatch");
    const elsewhere = await code(method, path, accountSas("rwdlac", "co"));
    assert.equal(elsewhere, "AuthorizationResourceTypeMismatch");
    const nobody = await rawRequest(server, { method, path, signed: false });
    assert.deepEqual([nobody.status, nobody.code], [401, "NoAuthenticationInformation"]);
  }
});

test("a user delegation key is refused to the account's key", async () => {
  const path = "/?restype=service&comp=userdelegationkey";
  const answer = await rawRequest(server, { method: "POST", path, body: "<KeyInfo />" });
  assert.deepEqual([answer.status, answer.code], [403, "AuthenticationFailed"]);
  assert.match(answer.text, /Only authentication scheme Bearer is supported/);
});

async function containersFrom(options: object, pageSize = 5_000): Promise<string[][]> {
  const pages: string[][] = [];
  for await (const page of client.listContainers(options).byPage({ maxPageSize: pageSize })) {
    pages.push(page.containerItems.map(({ name }) => name));
  }
  return pages;
}

test("containers are listed in order, by prefix and in pages", async () => {
  const names = Array.from({ length: 25 }, (_, at) => `list-${String(at).padStart(2, "0")}`);
  for (const name of ["other", ...names]) await client.createContainer(name);
  assert.deepEqual(await containersFrom({}), [[...names, "other"]]);
  const pages = await containersFrom({ prefix: "list-" }, 10);
  assert.deepEqual(
    pages.map((page) => page.length),
    [10, 10, 5],
  );
  assert.deepEqual(pages.flat(), names);
  assert.deepEqual(await containersFrom({ prefix: "list-1" }), [names.slice(10, 20)]);
  assert.deepEqual(await containersFrom({ prefix: "none" }), [[]]);
});

test("a list of containers continues where it stopped, despite deletions", async () => {
  for (const name of ["aaa", "bbb", "ccc", "ddd"]) await client.createContainer(name);
  const pages = client.listContainers().byPage({ maxPageSize: 2 });
  assert.equal((await pages.next()).value.containerItems.length, 2);
  for (const name of ["bbb", "ccc"]) await client.deleteContainer(name);
  const [item, ...rest] = (await pages.next()).value.containerItems;
  assert.deepEqual([item.name, rest.length], ["ddd", 0]);
});

test("a listed container has its properties, and its metadata on request", async () => {
  const container = client.getContainerClient("listed");
  await container.create({ metadata: { one: "a & b" }, access: "blob" });
  await container.getBlobLeaseClient("aaaaaaaa-0000-4000-8000-000000000001").acquireLease(-1);
  const found = await container.getProperties();
  const [bare] = (await client.listContainers().byPage().next()).value.containerItems;
  assert.equal(bare.metadata, undefined);
  const properties = bare.properties;
  assert.equal(properties.etag, found.etag);
  assert.equal(properties.publicAccess, found.blobPublicAccess);
  for (const name of ["lastModified", "leaseStatus", "leaseState", "leaseDuration"] as const) {
    assert.deepEqual(properties[name], found[name], name);
  }
  const options = { includeMetadata: true };
  const [full] = (await client.listContainers(options).byPage().next()).value.containerItems;
  assert.deepEqual(full.metadata, { one: "a & b" });
});

test("system containers are listed on request only", async () => {
  for (const name of ["$logs", "$root", "$web", "data"]) await client.createContainer(name);
  assert.deepEqual(await containersFrom({}), [["$root", "$web", "data"]]);
  assert.deepEqual(await containersFrom({ includeDeleted: true }), [["$root", "$web", "data"]]);
  assert.deepEqual(await containersFrom({ includeSystem: true }, 3), [
    ["$logs", "$root", "$web"],
    ["data"],
  ]);
});

test("switching logging on creates the container for logs, once", async () => {
  const own = await startServer();
  try {
    const client = own.client();
    const listed = async () => {
      const names: string[] = [];
      for await (const { name } of client.listContainers({ includeSystem: true })) names.push(name);
      return names;
    };
    const retentionPolicy = { enabled: true, days: 5 };
    const off = {
      version: "1.0",
      read: false,
      write: false,
      deleteProperty: false,
      retentionPolicy,
    };
    await client.setProperties({ blobAnalyticsLogging: off });
    assert.deepEqual(await listed(), []);
    await client.setProperties({ blobAnalyticsLogging: { ...off, deleteProperty: true } });
    assert.deepEqual(await listed(), ["$logs"]);
    const { etag } = await client.getContainerClient("$logs").getProperties();
    await client.setProperties({ blobAnalyticsLogging: { ...off, read: true } });
    assert.equal((await client.getContainerClient("$logs").getProperties()).etag, etag);
  } finally {
    await own.close();
  }
});

test("an invalid list request for containers is refused", async () => {
  for (const [query, code] of [
    ["&maxresults=0", "OutOfRangeQueryParameterValue"],
    ["&maxresults=x", "InvalidQueryParameterValue"],
    ["&include=snapshots", "InvalidQueryParameterValue"],
    ["&marker=garbled", "InvalidQueryParameterValue"],
    ["&marker=cGEv", "InvalidQueryParameterValue"],
    [`&prefix=${"x".repeat(1_025)}`, "InvalidQueryParameterValue"],
  ]) {
    const answer = await rawRequest(server, { path: `/?comp=list${query}` });
    assert.deepEqual([answer.status, answer.code], [400, code], query);
  }
});

const RULE = {
  allowedOrigins: "https://page.example",
  allowedMethods: "GET,PUT",
  allowedHeaders: "x-ms-*,content-type",
  exposedHeaders: "etag,x-ms-meta-*",
  maxAgeInSeconds: 60,
};

function preflight(headers: Record<string, string>, path = "/any/thing") {
  return rawRequest(server, { method: "OPTIONS", path, headers, signed: false });
}

test("a CORS preflight gets what the rules allow", async () => {
  const asked = {
    origin: "https://page.example",
    "access-control-request-method": "PUT",
    "access-control-request-headers": "x-ms-version,content-type",
  };
  const none = await preflight(asked);
  assert.deepEqual([none.status, none.code], [403, "CorsPreflightFailure"]);
  await client.setProperties({ cors: [RULE] });
  const answer = await preflight(asked);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("access-control-allow-origin"), "https://page.example");
  assert.equal(answer.headers.get("access-control-allow-methods"), "PUT");
  assert.equal(answer.headers.get("access-control-max-age"), "60");
  const other = await preflight({ ...asked, origin: "https://other.example" });
  assert.deepEqual([other.status, other.code], [403, "CorsPreflightFailure"]);
  const incomplete = await preflight({ origin: "https://page.example" });
  assert.deepEqual([incomplete.status, incomplete.code], [400, "MissingRequiredHeader"]);
});

test("responses and refusals carry the CORS headers", async () => {
  await client.setProperties({ cors: [RULE] });
  await client.createContainer("pages", { metadata: { a: "b" } });
  const ask = async (asked: Partial<RawAsked>, origin = "https://page.example") => {
    const path = "/pages?restype=container";
    const { headers } = await rawRequest(server, { path, headers: { origin }, ...asked });
    const names = ["allow-origin", "expose-headers", "allow-credentials"];
    return [...names.map((name) => headers.get(`access-control-${name}`)), headers.get("vary")];
  };
  const page = "https://page.example";
  const exposed = "etag,x-ms-meta-a";
  assert.deepEqual(await ask({}), [page, exposed, "true", "Origin"]);
  assert.deepEqual(await ask({}, "https://other.example"), [null, null, null, "Origin"]);
  assert.deepEqual(await ask({ path: "/missing?restype=container" }), [
    page,
    "etag",
    "true",
    "Origin",
  ]);
  assert.deepEqual(await ask({ signed: false }), [page, "etag", "true", "Origin"]);
  const put = { method: "PUT", path: "/pages?restype=container&comp=metadata" };
  assert.deepEqual(await ask(put), [page, "etag", "true", null]);
  await client.setProperties({ cors: [{ ...RULE, exposedHeaders: "x-ms-*,date" }] });
  const id = { origin: page, "x-ms-client-request-id": "mine" };
  const [, all] = await ask({ path: "/missing?restype=container", headers: id });
  assert.deepEqual(
    all?.split(",").sort(),
    ["date", "x-ms-client-request-id", "x-ms-error-code", "x-ms-request-id", "x-ms-version"],
    "what every answer has is exposed, too",
  );
  assert.deepEqual(await ask({ headers: {} }), [null, null, null, "Origin"]);
  await client.setProperties({ cors: [] });
  assert.deepEqual(await ask({}), [null, null, null, null]);
});

test("a request without a version gets the account's default version", async () => {
  await client.createContainer("container");
  const putBlock = async (version: string | null) => {
    const path = "/container/blob?comp=block&blockid=YQ%3D%3D";
    const body = "x".repeat(5 * 1024 * 1024);
    const { code, headers } = await rawRequest(server, { method: "PUT", path, body, version });
    return [code, headers.get("x-ms-version")];
  };
  assert.deepEqual(await putBlock(null), ["", "2026-04-06"]);
  await client.setProperties({ defaultServiceVersion: "2015-04-05" });
  assert.equal((await client.getProperties()).defaultServiceVersion, "2015-04-05");
  // The version's limit for blocks was 4 MiB.
  assert.deepEqual(await putBlock(null), ["RequestBodyTooLarge", "2015-04-05"]);
  const forged = { path: "/container/blob", version: null, signed: false };
  const authorization = `SharedKey ${server.account}:AAAA`;
  for (const asked of [forged, { ...forged, headers: { authorization } }]) {
    const refused = await rawRequest(server, asked);
    assert.equal(refused.headers.get("x-ms-version"), "2015-04-05", refused.code);
  }
  assert.deepEqual(await putBlock("2026-04-06"), ["", "2026-04-06"]);
  assert.deepEqual(await putBlock("2099-01-01"), ["", "2099-01-01"]);
});

test("unknown operations on the account are refused", async () => {
  for (const [method, path, status, code] of [
    ["GET", "/", 405, "UnsupportedHttpVerb"],
    ["GET", "/?comp=nonsense", 400, "InvalidQueryParameterValue"],
    ["DELETE", "/?comp=list", 405, "UnsupportedHttpVerb"],
    ["GET", "/?comp=blobs&where=a", 400, "InvalidQueryParameterValue"],
  ] as const) {
    const answer = await rawRequest(server, { method, path });
    assert.deepEqual([answer.status, answer.code], [status, code], `${method} ${path}`);
  }
});
