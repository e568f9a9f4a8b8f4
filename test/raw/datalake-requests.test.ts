import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { startDataLake } from "../sdk/datalake-server.ts";
import { type RawAsked, rawRequest } from "../sdk/raw-request.ts";
import { forThisFile } from "../sdk/server.ts";

const server = await forThisFile(startDataLake());
const flat = await forThisFile(startDataLake({ hierarchicalNamespace: false }));
const LEASE = "ca761232-ed42-11ce-bacd-00aa0057b223";

for (const at of [server, flat]) {
  await rawRequest(at, { method: "PUT", path: "/box?resource=filesystem" });
}

function ask(method: string, path: string, more: Omit<RawAsked, "path"> = {}, at = server) {
  return rawRequest(at, { ...more, method, path });
}

/** Sends requests one after the other; each must have the status at its head. */
async function run(steps: readonly [number, string, string, Omit<RawAsked, "path">?][]) {
  for (const [status, method, path, more] of steps) {
    const answer = await ask(method, path, more);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.code} ${answer.text}`);
  }
}

async function write(name: string, text: string): Promise<void> {
  await run([
    [201, "PUT", `/box/${name}?resource=file`],
    [202, "PATCH", `/box/${name}?action=append&position=0`, { body: text }],
    [200, "PATCH", `/box/${name}?action=flush&position=${text.length}`],
  ]);
}

test("a file is read whole and in ranges, with its headers", async () => {
  await write("read", "0123456789");
  const whole = await ask("GET", "/box/read");
  assert.deepEqual([whole.status, whole.text], [200, "0123456789"]);
  assert.equal(whole.headers.get("x-ms-resource-type"), "file");
  assert.equal(whole.headers.get("x-ms-request-server-encrypted"), "true");
  assert.equal(whole.headers.get("x-ms-blob-type"), null);
  assert.equal(whole.headers.get("x-ms-permissions"), "rw-r-----");
  const headers = { range: "bytes=2-4", "x-ms-range-get-content-md5": "true" };
  const part = await ask("GET", "/box/read", { headers });
  assert.deepEqual([part.status, part.text], [206, "234"]);
  assert.equal(part.headers.get("content-range"), "bytes 2-4/10");
  const md5 = createHash("md5").update("234").digest("base64");
  assert.equal(part.headers.get("content-md5"), md5);
  const beyond = await ask("GET", "/box/read", { headers: { range: "bytes=10-" } });
  assert.deepEqual([beyond.status, beyond.code], [416, "InvalidRange"]);
  const etag = whole.headers.get("etag") ?? "";
  const same = await ask("GET", "/box/read", { headers: { "if-none-match": etag } });
  assert.equal(same.status, 304);
  const other = await ask("GET", "/box/read", { headers: { "if-match": '"0x1"' } });
  assert.deepEqual([other.status, other.code], [412, "ConditionNotMet"]);
});

test("HEAD shows properties, getStatus only those of the system", async () => {
  await ask("PUT", "/box/head?resource=file", {
    headers: { "x-ms-properties": "a=MQ==", "x-ms-content-type": "text/plain" },
  });
  const properties = await ask("HEAD", "/box/head");
  assert.equal(properties.headers.get("x-ms-properties"), "a=MQ==");
  assert.equal(properties.headers.get("content-type"), "text/plain");
  assert.equal(properties.headers.get("content-length"), "0");
  const status = await ask("HEAD", "/box/head?action=getStatus");
  assert.equal(status.headers.get("x-ms-properties"), null);
  assert.equal(status.headers.get("x-ms-owner"), "$superuser");
  await ask("PUT", "/box/headed/?resource=directory");
  const directory = await ask("HEAD", "/box/headed");
  assert.equal(directory.headers.get("x-ms-resource-type"), "directory");
  const missing = await ask("HEAD", "/box/none");
  assert.deepEqual([missing.status, missing.code, missing.text], [404, "PathNotFound", ""]);
});

test("Set Properties replaces the user's properties, and the headers that it names", async () => {
  const headers = {
    "x-ms-properties": "a=MQ==",
    "x-ms-content-type": "t",
    "x-ms-cache-control": "c",
  };
  await ask("PUT", "/box/set?resource=file", { headers });
  const set = await ask("PATCH", "/box/set?action=setProperties", {
    headers: { "x-ms-properties": "b=Mg==", "x-ms-content-type": "u" },
  });
  assert.equal(set.status, 200);
  const found = await ask("HEAD", "/box/set");
  assert.equal(found.headers.get("x-ms-properties"), "b=Mg==");
  assert.equal(found.headers.get("content-type"), "u");
  assert.equal(found.headers.get("cache-control"), "c");
  await ask("PUT", "/box/set-d?resource=directory");
  await ask("PATCH", "/box/set-d?action=setProperties", {
    headers: { "x-ms-properties": "b=Mg==" },
  });
  const directory = await ask("HEAD", "/box/set-d");
  assert.equal(directory.headers.get("x-ms-resource-type"), "directory");
  assert.match(directory.headers.get("x-ms-properties") ?? "", /b=Mg==/);
});

test("POST leases a path, and the lease guards it", async () => {
  await write("leased", "x");
  const lease = (action: string, more: Record<string, string> = {}) =>
    ask("POST", "/box/leased", { headers: { "x-ms-lease-action": action, ...more } });
  const acquired = await lease("acquire", {
    "x-ms-proposed-lease-id": LEASE,
    "x-ms-lease-duration": "-1",
  });
  assert.deepEqual([acquired.status, acquired.headers.get("x-ms-lease-id")], [201, LEASE]);
  const refusals = [
    ["PUT", "/box/leased?resource=file"],
    ["PATCH", "/box/leased?action=flush&position=1"],
    ["PATCH", "/box/leased?action=setProperties"],
    ["DELETE", "/box/leased"],
  ] as const;
  for (const [method, path] of refusals) {
    const without = await ask(method, path);
    assert.deepEqual([without.status, without.code], [412, "LeaseIdMissing"], path);
    const wrong = await ask(method, path, {
      headers: { "x-ms-lease-id": LEASE.replace("ca", "da") },
    });
    assert.deepEqual([wrong.status, wrong.code], [412, "LeaseIdMismatch"], path);
  }
  assert.equal((await lease("renew", { "x-ms-lease-id": LEASE })).status, 200);
  assert.equal((await lease("break", { "x-ms-lease-break-period": "0" })).status, 202);
  assert.equal((await lease("release", { "x-ms-lease-id": LEASE })).status, 200);
  const stale = await ask("DELETE", "/box/leased", { headers: { "x-ms-lease-id": LEASE } });
  assert.deepEqual([stale.status, stale.code], [412, "LeaseNotPresent"]);
});

test("appends and flushes work on the lease in the same step", async () => {
  await run([
    [201, "PUT", "/box/steps?resource=file"],
    [
      202,
      "PATCH",
      "/box/steps?action=append&position=0",
      {
        body: "a",
        headers: {
          "x-ms-lease-action": "acquire",
          "x-ms-proposed-lease-id": LEASE,
          "x-ms-lease-duration": "15",
        },
      },
    ],
    [412, "PATCH", "/box/steps?action=append&position=1", { body: "b" }],
  ]);
  const renewed = await ask("PATCH", "/box/steps?action=append&position=1", {
    body: "b",
    headers: { "x-ms-lease-action": "auto-renew", "x-ms-lease-id": LEASE },
  });
  assert.equal(renewed.headers.get("x-ms-lease-renewed"), "true");
  const early = await ask("PATCH", "/box/steps?action=append&position=2", {
    body: "c",
    headers: { "x-ms-lease-action": "release", "x-ms-lease-id": LEASE },
  });
  assert.deepEqual([early.status, early.code], [400, "InvalidHeaderValue"]);
  await run([
    [
      200,
      "PATCH",
      "/box/steps?action=flush&position=2",
      { headers: { "x-ms-lease-action": "release", "x-ms-lease-id": LEASE } },
    ],
    [
      202,
      "PATCH",
      "/box/steps?action=append&position=2&flush=true",
      {
        body: "c",
        headers: {
          "x-ms-lease-action": "acquire-release",
          "x-ms-proposed-lease-id": LEASE,
          "x-ms-lease-duration": "-1",
        },
      },
    ],
    [200, "DELETE", "/box/steps"],
  ]);
});

test("digests of appended data are checked and answered", async () => {
  await ask("PUT", "/box/digests?resource=file");
  const md5 = createHash("md5").update("data").digest("base64");
  const append = (headers: Record<string, string>) =>
    ask("PATCH", "/box/digests?action=append&position=0", { body: "data", headers });
  const right = await append({ "content-md5": md5 });
  assert.equal(right.headers.get("content-md5"), md5);
  assert.notEqual((await append({})).headers.get("x-ms-content-crc64"), null);
  const wrong = await append({ "content-md5": createHash("md5").digest("base64") });
  assert.deepEqual([wrong.status, wrong.code], [400, "Md5Mismatch"]);
  const crc = await append({ "x-ms-content-crc64": "AAAAAAAAAAA=" });
  assert.deepEqual([crc.status, crc.code], [400, "Crc64Mismatch"]);
});

test("the source of a rename may name the account or not, and be a whole URL, in both modes", async () => {
  const sources = [
    (name: string) => `/box/${name}`,
    (name: string) => `box/${name}`,
    (name: string) => `/${server.account}/box/${name}`,
    (name: string) => `${server.url}/box/${name}`,
  ];
  for (const [at, sourceOf] of sources.entries()) {
    await write(`from%20${at}`, `${at}`);
    const headers = { "x-ms-rename-source": sourceOf(`from%20${at}`) };
    const mode = at % 2 === 0 ? "posix" : "legacy";
    const renamed = await ask("PUT", `/box/to${at}?mode=${mode}`, { headers });
    assert.equal(renamed.status, 201, renamed.text);
    assert.equal((await ask("GET", `/box/to${at}`)).text, `${at}`);
  }
  for (const [source, code] of [
    ["/box/ü", "InvalidSourceUri"],
    ["/box", "InvalidSourceUri"],
    ["/box/missing", "SourcePathNotFound"],
    ["/nosuchfs/a", "FilesystemNotFound"],
  ] as const) {
    const encoded = Buffer.from(source, "utf8").toString("latin1");
    const headers = { "x-ms-rename-source": encoded };
    assert.equal((await ask("PUT", "/box/x", { headers })).code, code, source);
  }
});

test("flat file systems refuse access control and expiry, and say why", async () => {
  await ask("PUT", "/box/f?resource=file", {}, flat);
  for (const [method, path, headers] of [
    ["HEAD", "/box/f?action=getAccessControl", {}],
    ["HEAD", "/box/?action=getAccessControl", {}],
    ["PATCH", "/box/f?action=setAccessControl", { "x-ms-permissions": "0777" }],
    ["PUT", "/box/g?resource=file", { "x-ms-permissions": "0777" }],
    ["PUT", "/box/f?comp=expiry", { "x-ms-expiry-option": "NeverExpire" }],
  ] as const) {
    const answer = await ask(method, path, { headers }, flat);
    const found = [answer.status, answer.code];
    assert.deepEqual(found, [400, "HierarchicalNamespaceNotEnabled"], path);
  }
});

test("a file expires at a time to come, and a directory never", async () => {
  await ask("PUT", "/box/expires?resource=file");
  await ask("PUT", "/box/stays?resource=directory");
  const expiry = (path: string, option: string, time?: string) =>
    ask("PUT", `/box/${path}?comp=expiry`, {
      headers: {
        "x-ms-expiry-option": option,
        ...(time === undefined ? {} : { "x-ms-expiry-time": time }),
      },
    });
  const past = new Date(server.clock.now() - 10_000).toUTCString();
  for (const [option, time] of [
    ["Absolute", past],
    ["Absolute", "soon"],
    ["RelativeToNow", "0"],
    ["Later", "1"],
  ] as const) {
    assert.equal((await expiry("expires", option, time)).code, "InvalidHeaderValue", option);
  }
  assert.equal((await expiry("expires", "Absolute")).code, "MissingRequiredHeader");
  assert.equal((await expiry("stays", "RelativeToNow", "1000")).code, "PathConflict");
  assert.equal((await expiry("expires", "RelativeToNow", "1000")).status, 200);
});
