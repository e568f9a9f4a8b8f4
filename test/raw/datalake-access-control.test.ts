import assert from "node:assert/strict";
import { test } from "node:test";
import { startDataLake } from "../sdk/datalake-server.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { forThisFile } from "../sdk/server.ts";

const server = await forThisFile(startDataLake());
await rawRequest(server, { method: "PUT", path: "/box?resource=filesystem" });
for (const name of ["d/e/f", "d/g"]) {
  await rawRequest(server, { method: "PUT", path: `/box/${name}?resource=file` });
}

type Headers = Readonly<Record<string, string>>;

const SET = "PATCH /box/d?action=setAccessControl";
const RECURSIVE = "PATCH /box/d?action=setAccessControlRecursive";
const CREATE = "PUT /box/new?resource=file";
const PLAIN = "user::rwx,group::r-x,other::---";

function ask(request: string, headers: Headers = {}, body?: string) {
  const [method = "", path = ""] = request.split(" ");
  return rawRequest(server, { method, path, headers, ...(body === undefined ? {} : { body }) });
}

async function refuses(request: string, code: string, headers: Headers = {}, body?: string) {
  const { status, code: told, text } = await ask(request, headers, body);
  assert.deepEqual([status, told], [400, code], `${request} ${JSON.stringify(headers)}`);
  assert.equal(JSON.parse(text).error.code, code);
}

async function headersOf(path: string): Promise<string[]> {
  const { headers } = await ask(`HEAD /box/${path}?action=getAccessControl`);
  const names = ["x-ms-owner", "x-ms-group", "x-ms-permissions", "x-ms-acl"];
  return names.map((name) => headers.get(name) ?? "");
}

test("the answer about access control has these headers, and no others of a path", async () => {
  const answer = await ask("HEAD /box/d?action=getAccessControl&upn=true");
  assert.equal(answer.status, 200);
  const named = [...answer.headers.keys()].filter((name) => name.startsWith("x-ms-"));
  const common = ["x-ms-request-id", "x-ms-version"];
  assert.deepEqual(named.filter((name) => !common.includes(name)).sort(), [
    "x-ms-acl",
    "x-ms-group",
    "x-ms-owner",
    "x-ms-permissions",
  ]);
  assert.ok(answer.headers.get("etag") && answer.headers.get("last-modified"));
  assert.deepEqual(await headersOf("d"), ["$superuser", "$superuser", "rwxr-x---", PLAIN]);
  assert.deepEqual(await headersOf(""), ["$superuser", "$superuser", "rwxr-x---", PLAIN]);
});

test("a bad ACL is refused with the service's code, and a reason", async () => {
  const wrong = [
    `${PLAIN},`,
    `${PLAIN},user:a:rwxx`,
    `${PLAIN},user::rwx`,
    `${PLAIN},nobody::rwx`,
    `${PLAIN},mask:a:rwx`,
    `${PLAIN},default:user:a:rw`,
    `${PLAIN} ,user:a:rwx`,
    [PLAIN, ...Array.from({ length: 29 }, (_, at) => `user:u${at}:r--`)].join(","),
  ];
  for (const acl of wrong) {
    await refuses(SET, "InvaldAccessControlList", { "x-ms-acl": acl });
    await refuses(`${RECURSIVE}&mode=set`, "InvaldAccessControlList", { "x-ms-acl": acl });
    await refuses(CREATE, "InvaldAccessControlList", { "x-ms-acl": acl });
  }
  const { text } = await ask(SET, { "x-ms-acl": `${PLAIN},user:a:rwxx` });
  assert.match(text, /The access control list value is invalid\..*user:a:rwxx/s);
  assert.equal((await ask("HEAD /box/new")).status, 404);
});

test("bad permissions, umasks and owners are refused by the name of their header", async () => {
  const wrong: [string, string, string][] = [
    [SET, "x-ms-permissions", "777"],
    [SET, "x-ms-permissions", "rwxrwxrw"],
    [SET, "x-ms-permissions", "4777"],
    [CREATE, "x-ms-permissions", "rwx"],
    [CREATE, "x-ms-umask", "27"],
    [CREATE, "x-ms-umask", "rwxr-x---"],
    [CREATE, "x-ms-umask", "1027"],
    [SET, "x-ms-owner", "a,b"],
    [SET, "x-ms-group", "a b"],
    [CREATE, "x-ms-owner", ""],
  ];
  for (const [request, name, value] of wrong) {
    await refuses(request, "InvalidHeaderValue", { [name]: value });
    assert.match((await ask(request, { [name]: value })).text, new RegExp(name));
  }
  const both = { "x-ms-permissions": "0777", "x-ms-acl": PLAIN };
  await refuses(SET, "InvalidInput", both);
  await refuses(CREATE, "InvalidInput", both);
  await refuses(SET, "MissingRequiredHeader");
  await refuses(SET, "MissingRequiredHeader", { "x-ms-acl": "" });
  await refuses(`${RECURSIVE}&mode=set`, "InvaldAccessControlList", { "x-ms-acl": "" });
  assert.equal((await ask("HEAD /box/new")).status, 404);
});

test("the parameters of a recursive change are checked", async () => {
  const acl = { "x-ms-acl": "user:a:r-x" };
  await refuses(RECURSIVE, "MissingRequiredQueryParameter", acl);
  await refuses(`${RECURSIVE}&mode=chmod`, "InvalidQueryParameterValue", acl);
  await refuses(`${RECURSIVE}&mode=modify`, "MissingRequiredHeader");
  for (const bad of ["maxRecords=0", "maxRecords=-1"]) {
    await refuses(`${RECURSIVE}&mode=modify&${bad}`, "OutOfRangeQueryParameterValue", acl);
  }
  const elsewhere = Buffer.from("/elsewhere").toString("base64");
  const continuation = `continuation=${elsewhere}`;
  for (const bad of ["maxRecords=x", "forceFlag=maybe", "continuation=%3F", continuation]) {
    await refuses(`${RECURSIVE}&mode=modify&${bad}`, "InvalidQueryParameterValue", acl);
  }
  for (const name of ["x-ms-owner", "x-ms-group", "x-ms-permissions", "x-ms-lease-id"]) {
    await refuses(`${RECURSIVE}&mode=modify`, "UnsupportedHeader", { ...acl, [name]: "0777" });
  }
  await refuses(`${RECURSIVE}&mode=modify`, "InvalidHeaderValue", acl, "body");
  await refuses(SET, "InvalidHeaderValue", { "x-ms-permissions": "0777" }, "body");
  assert.deepEqual(await headersOf("d"), ["$superuser", "$superuser", "rwxr-x---", PLAIN]);
});

test("a recursive change answers with counts in JSON, and with a place to go on", async () => {
  const acl = { "x-ms-acl": "user:a:r-x,default:user:a:r-x" };
  const first = await ask(`${RECURSIVE}&mode=modify&maxRecords=3&forceFlag=true`, acl);
  assert.equal(first.status, 200);
  assert.match(first.headers.get("content-type") ?? "", /^application\/json/);
  const counts = { failureCount: 0, failedEntries: [] };
  assert.deepEqual(JSON.parse(first.text), {
    directoriesSuccessful: 2,
    filesSuccessful: 1,
    ...counts,
  });
  const next = encodeURIComponent(first.headers.get("x-ms-continuation") ?? "");
  const rest = await ask(`${RECURSIVE}&mode=modify&maxRecords=9000&continuation=${next}`, acl);
  assert.deepEqual(JSON.parse(rest.text), {
    directoriesSuccessful: 0,
    filesSuccessful: 1,
    ...counts,
  });
  assert.equal(rest.headers.get("x-ms-continuation"), null);
});

test("a missing path, and one below a file, are not found", async () => {
  for (const path of ["none", "d/none", "d/g/below"]) {
    const found = await ask(`HEAD /box/${path}?action=getAccessControl`);
    assert.deepEqual([found.status, found.code], [404, "PathNotFound"]);
    const set = await ask(`PATCH /box/${path}?action=setAccessControl`, {
      "x-ms-permissions": "0777",
    });
    assert.deepEqual([set.status, set.code], [404, "PathNotFound"]);
  }
});

test("List Blobs shows access control if it is asked for", async () => {
  const list = async (include: string) =>
    (await ask(`GET /box?restype=container&comp=list${include}`)).text;
  assert.match(
    await list("&include=permissions"),
    /<Owner>\$superuser<\/Owner><Group>\$superuser<\/Group><Permissions>rw-[^<]*<\/Permissions><Acl>user::rw-/,
  );
  assert.doesNotMatch(await list(""), /<Owner>|<Acl>/);
});

test("the root directory has properties, a status and access control", async () => {
  for (const action of ["", "?action=getStatus"]) {
    const { status, headers } = await ask(`HEAD /box/${action}`);
    assert.equal(status, 200, action);
    assert.equal(headers.get("x-ms-resource-type"), "directory");
    assert.equal(headers.get("x-ms-permissions"), "rwxr-x---");
    assert.equal(headers.get("content-length"), "0");
    assert.ok(headers.get("etag") && headers.get("last-modified"));
  }
  const { status, code } = await ask("HEAD /box/", { "if-match": '"0x1"' });
  assert.deepEqual([status, code], [412, "ConditionNotMet"]);
});
