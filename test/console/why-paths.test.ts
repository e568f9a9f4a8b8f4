import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { DataLakeServiceClient } from "@azure/storage-file-datalake";
import { CERTIFICATE } from "../sdk/certificate.ts";
import { DATALAKE_CREDENTIAL } from "../sdk/datalake-server.ts";
import { ANN, BOB, itemsOf } from "../sdk/datalake-users.ts";
import { credential, OPTIONS } from "../sdk/role-users.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { certificateFiles, startedConsole } from "./opened-console.ts";

type Test = Parameters<typeof startedConsole>[0];

interface Judged {
  readonly operation: string | null;
  readonly refusal: { readonly status: number; readonly code: string } | null;
  readonly acl: {
    readonly path: string;
    readonly granted: string;
    readonly needed: string | null;
  } | null;
}

type Headers = Readonly<Record<string, string>>;
/** Path and lacking rights of the ACL that refuses; null if the credentials are good. */
type Expected = readonly [path: string, granted: string, needed: string] | null;

/** A container with directories, a user with ACLs only, and the page's judgement of its requests. */
async function opened(t: Test) {
  const server = await startedConsole(t, {
    ...certificateFiles(t),
    oauth: "basic",
    config: {
      accounts: [{ name: ACCOUNT, keys: [KEY], blob: { hierarchicalNamespace: true } }],
      roles: [{ principal: { oid: BOB }, role: "blob-reader" }],
    },
  });
  const urls = { blob: `${server.urls.blob}/${ACCOUNT}`, dfs: `${server.urls.dfs}/${ACCOUNT}` };
  const own = new DataLakeServiceClient(urls.dfs, DATALAKE_CREDENTIAL, OPTIONS);
  const lake = own.getFileSystemClient("lake");
  await lake.create();
  await lake.getFileClient("raw/2026/a.txt").upload(Buffer.from("a"));
  await lake.getDirectoryClient("archive").create();
  const grant = async (path: string, rights: string) => {
    const acl = `user::rwx,user:${ANN}:${rights},group::---,mask::rwx,other::---`;
    await lake.getDirectoryClient(path).setAccessControl(itemsOf(acl));
  };
  await grant("/", "--x");
  const ask = await signedIn(server.consoleUrl);
  const { token } = await credential({ oid: ANN }).getToken();
  /** What the page says of a request, which is then sent: both must agree. */
  const explained = async (
    service: "blob" | "dfs",
    [method = "", path = ""]: readonly string[],
    expected: Expected,
    more: Headers = {},
  ) => {
    const url = `${urls[service]}/lake${path}`;
    const headers = { authorization: `Bearer ${token}`, "x-ms-version": "2023-11-03", ...more };
    const judged = await ask("/api/why", { service, method, url, headers });
    const { acl, refusal } = judged;
    const found = acl === null ? null : [acl.path, acl.granted, acl.needed];
    assert.deepEqual(found, expected, JSON.stringify([method, path, judged]));
    assert.equal(refusal?.code ?? null, expected && "AuthorizationPermissionMismatch");
    const { status, said } = await sent(method, url, headers);
    assert.equal(status === 403, expected !== null, `${status} ${said}`);
  };
  return { lake, grant, explained };
}

/** The console's API, which is on HTTPS here as the services are. */
async function signedIn(address: string) {
  const { origin, hash } = new URL(address);
  const post = (path: string, body: object, cookie: string) =>
    sent("POST", origin + path, { "x-lazuli-console": "1", cookie }, JSON.stringify(body));
  const { cookies } = await post("/api/sign-in", { token: hash.replace("#token=", "") }, "");
  const cookie = cookies.map((one) => one.split(";")[0]).join("; ");
  return async (path: string, body: object): Promise<Judged> => {
    const { status, said } = await post(path, body, cookie);
    assert.equal(status, 200, said);
    return JSON.parse(said);
  };
}

async function sent(method: string, url: string, headers: Headers, body?: string) {
  const asked = request(url, { method, headers, ca: CERTIFICATE }).end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const cookies = answer.headers["set-cookie"] ?? [];
  return { status: answer.statusCode, said: await text(answer), cookies };
}

test("a rename is explained by the old name's directory, then by the new one's", async (t) => {
  const { lake, grant, explained } = await opened(t);
  const rename = ["PUT", "/archive/2026"];
  const source = { "x-ms-rename-source": "/lake/raw/2026" };
  await grant("raw", "r-x");
  await grant("archive", "r-x");
  await explained("dfs", rename, ["raw", "r-x", "-wx"], source);
  await grant("raw", "-wx");
  await explained("dfs", rename, ["archive", "r-x", "-wx"], source);
  await grant("archive", "rwx");
  await explained("dfs", ["PUT", "/archive/2026"], null, source);
  assert.equal(await lake.getFileClient("archive/2026/a.txt").exists(), true);
});

test("a check of access is explained by the first of the rights that is missing", async (t) => {
  const { grant, explained } = await opened(t);
  const check = (rights: string) => ["HEAD", `/raw/2026?action=checkAccess&fsAction=${rights}`];
  await grant("raw", "---");
  await grant("raw/2026", "r-x");
  await explained("dfs", check("r--"), ["raw", "---", "--x"]);
  await grant("raw", "--x");
  await explained("dfs", check("r-x"), null);
  await explained("dfs", check("rw-"), ["raw/2026", "r-x", "-w-"]);
  await grant("raw/2026", "-w-");
  await explained("dfs", check("-w-"), null);
  await explained("dfs", check("-wx"), ["raw/2026", "-w-", "--x"]);
  await explained("dfs", check("rw-"), ["raw/2026", "-w-", "r--"]);
});

test("a list by prefix is explained by the directory of the prefix", async (t) => {
  const { grant, explained } = await opened(t);
  const list = (prefix: string) => [
    "GET",
    `?restype=container&comp=list&delimiter=%2F&prefix=${encodeURIComponent(prefix)}`,
  ];
  await grant("raw", "--x");
  await grant("raw/2026", "r-x");
  await explained("blob", list(""), ["", "--x", "r-x"]);
  await explained("blob", list("raw/"), ["raw", "--x", "r-x"]);
  await explained("blob", list("raw/20"), ["raw", "--x", "r-x"]);
  await explained("blob", list("raw/2026/"), null);
  await explained("blob", list("raw/2026/a"), null);
});

test("a list of paths is explained by the directory that it names", async (t) => {
  const { grant, explained } = await opened(t);
  const list = (directory: string) => [
    "GET",
    `?resource=filesystem&recursive=false&directory=${encodeURIComponent(directory)}`,
  ];
  await grant("raw", "--x");
  await grant("raw/2026", "r-x");
  await explained("dfs", list(""), ["", "--x", "r-x"]);
  await explained("dfs", list("raw"), ["raw", "--x", "r-x"]);
  await explained("dfs", list("raw/2026"), null);
});
