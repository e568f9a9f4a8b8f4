import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  AccountSASPermissions,
  FileSASPermissions,
  generateAccountSASQueryParameters,
  generateFileSASQueryParameters,
  ShareDirectoryClient,
  ShareFileClient,
  ShareSASPermissions,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { startFileServer } from "./file-server.ts";
import { type RawAsked, rawRequest } from "./raw-request.ts";
import { inOrder, lettersThatOpen, op, type SasOperation, withSas } from "./sas-matrix.ts";
import { forThisFile } from "./server.ts";

const ACCOUNT_LETTERS = "rwdlacup";
const SHARE_LETTERS = "rcwdl";
const FILE_LETTERS = "rcwd";
const LEASE = "00000000-0000-0000-0000-00000000000a";

const NO_POLICIES = "<SignedIdentifiers></SignedIdentifiers>";
const PROPERTIES = "<StorageServiceProperties></StorageServiceProperties>";
const PERMISSION = '{"permission":"O:SYG:SYD:(A;;FA;;;SY)"}';
const FILE = { "x-ms-type": "file", "x-ms-content-length": "4" };
const RANGE = { "x-ms-write": "update", "x-ms-range": "bytes=0-3" };
const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
const broken = { "x-ms-lease-action": "break" };

/** As documented by the service; on a share `box` with `there`, `leased` and an empty `dir`. */
const OPERATIONS: readonly SasOperation[] = [
  op("GET", "/?comp=list", "s", "l", ""),
  op("GET", "/?restype=service&comp=properties", "s", "r", ""),
  op("PUT", "/?restype=service&comp=properties", "s", "w", "", {}, PROPERTIES),
  op("PUT", "/other?restype=share", "c", "cw", ""),
  op("GET", "/box?restype=share", "c", "r", ""),
  op("GET", "/box?restype=share&comp=metadata", "c", "r", ""),
  op("PUT", "/box?restype=share&comp=metadata", "c", "w", ""),
  op("PUT", "/box?restype=share&comp=properties", "c", "w", ""),
  op("GET", "/box?restype=share&comp=stats", "c", "r", ""),
  op("PUT", "/box?restype=share&comp=snapshot", "c", "cw", ""),
  op("GET", "/box?restype=share&comp=acl", "c", "", ""),
  op("PUT", "/box?restype=share&comp=acl", "c", "", "", {}, NO_POLICIES),
  op("PUT", "/box?restype=share&comp=lease", "c", "w", "", acquire),
  op("PUT", "/leased?restype=share&comp=lease", "c", "wd", "", broken),
  op("DELETE", "/box?restype=share", "c", "d", ""),
  op("PUT", "/box?restype=share&comp=filepermission", "o", "cw", "cw", {}, PERMISSION),
  op("GET", "/box?restype=directory&comp=list", "c", "l", "l"),
  op("PUT", "/box/new?restype=directory", "o", "cw", "cw"),
  op("GET", "/box/dir?restype=directory", "o", "r", "r"),
  op("GET", "/box/dir?restype=directory&comp=metadata", "o", "r", "r"),
  op("PUT", "/box/dir?restype=directory&comp=metadata", "o", "w", "w"),
  op("PUT", "/box/dir?restype=directory&comp=properties", "o", "w", "w"),
  op("DELETE", "/box/dir?restype=directory", "o", "d", "d"),
  op("PUT", "/box/new", "o", "cw", "cw", FILE),
  op("PUT", "/box/there", "o", "w", "w", FILE),
  op("GET", "/box/there", "o", "r", "r"),
  op("HEAD", "/box/there", "o", "r", "r"),
  op("GET", "/box/there?comp=metadata", "o", "r", "r"),
  op("GET", "/box/there?comp=rangelist", "o", "r", "r"),
  op("PUT", "/box/there?comp=metadata", "o", "w", "w"),
  op("PUT", "/box/there?comp=properties", "o", "w", "w"),
  op("PUT", "/box/there?comp=range", "o", "w", "w", RANGE, "text"),
  op("PUT", "/box/there?comp=lease", "o", "w", "w", acquire),
  op("PUT", "/box/leased?comp=lease", "o", "wd", "wd", broken),
  op("DELETE", "/box/there", "o", "d", "d"),
  op("GET", "/box/there?comp=listhandles", "o", "r", "r"),
  op("PUT", "/box/there?comp=forceclosehandles", "o", "w", "w", { "x-ms-handle-id": "*" }),
];

const server = await forThisFile(startFileServer());
const CREDENTIAL = new StorageSharedKeyCredential(server.account, server.key);

/** Restores the initial state before each attempt. */
async function prepare(): Promise<void> {
  const client = server.client();
  for await (const { name } of client.listShares()) {
    const share = client.getShareClient(name);
    await share
      .getShareLeaseClient(LEASE)
      .breakLease()
      .catch(() => {});
    await share.delete({ deleteSnapshots: "include" });
  }
  for (const name of ["box", "leased"]) await client.createShare(name);
  await client.getShareClient("leased").getShareLeaseClient(LEASE).acquireLease(-1);
  const root = client.getShareClient("box").rootDirectoryClient;
  await root.getDirectoryClient("dir").create();
  for (const name of ["there", "leased"]) await root.getFileClient(name).create(4);
  await root.getFileClient("leased").getShareLeaseClient(LEASE).acquireLease();
}

beforeEach(prepare);

const until = () => new Date(Date.now() + 3_600_000);

for (const { name, asked, type, account } of OPERATIONS) {
  test(`account SAS: ${name} takes ${account === "" ? "no letter" : `one of ${account}`}, for ${type}`, async () => {
    const opened = await lettersThatOpen(
      ACCOUNT_LETTERS,
      (letter) => ask(asked, accountSas(letter, type)),
      prepare,
    );
    assert.equal(opened, inOrder(account, ACCOUNT_LETTERS));
    for (const other of "sco") {
      if (other === type || account === "") continue;
      const { status, code } = await ask(asked, accountSas(ACCOUNT_LETTERS, other));
      assert.equal(status, 403);
      if (asked.method !== "HEAD") assert.equal(code, "AuthorizationResourceTypeMismatch");
    }
  });
}

for (const { name, asked, service } of OPERATIONS.filter(({ asked }) => isInBox(asked))) {
  test(`share SAS: ${name} takes ${service === "" ? "no letter" : `one of ${service}`}`, async () => {
    const opened = await lettersThatOpen(
      SHARE_LETTERS,
      (letter) => ask(asked, shareSas(letter)),
      prepare,
    );
    assert.equal(opened, inOrder(service, SHARE_LETTERS));
  });
}

for (const { name, asked, service } of OPERATIONS.filter(({ asked }) =>
  asked.path.startsWith("/box/"),
)) {
  test(`file SAS: ${name} takes one of ${service}, and only on its own path`, async () => {
    const path = (asked.path.split("?")[0] ?? "").slice("/box/".length);
    const opened = await lettersThatOpen(
      FILE_LETTERS,
      (letter) => ask(asked, fileSas(letter, path)),
      prepare,
    );
    assert.equal(opened, inOrder(service, FILE_LETTERS));
    assert.equal((await ask(asked, fileSas(FILE_LETTERS, "elsewhere"))).status, 403);
  });
}

test("a rename with a SAS requires one for the source, too", async () => {
  const rename = (source: string, sas: string) =>
    ask(
      {
        method: "PUT",
        path: "/box/moved?comp=rename",
        headers: { "x-ms-file-rename-source": `${server.url}/box/there${source}` },
        signed: false,
      },
      sas,
    );
  assert.equal((await rename("", shareSas("w"))).status, 401);
  for (const [source, target] of [
    ["cd", "w"],
    ["r", "rcd"],
  ] as const) {
    const refused = await rename(`?${fileSas(source, "there")}`, fileSas(target, "moved"));
    assert.deepEqual([refused.status, refused.code], [403, "AuthorizationPermissionMismatch"]);
  }
  assert.equal((await rename(`?${fileSas("w", "moved")}`, shareSas("w"))).status, 403);
  assert.equal((await rename(`?${fileSas("w", "there")}`, fileSas("w", "moved"))).status, 200);
});

test("the client renames with a source SAS that reads and a target SAS that writes", async () => {
  const box = server.client().getShareClient("box");
  const file = new ShareFileClient(
    `${box.rootDirectoryClient.getFileClient("there").url}?${fileSas("r", "there")}`,
  );
  await file.rename(`moved?${fileSas("w", "moved")}`);
  assert.equal(await box.rootDirectoryClient.getFileClient("moved").exists(), true);
  const url = box.getDirectoryClient("dir").url;
  const directory = new ShareDirectoryClient(`${url}?${fileSas("r", "dir")}`);
  await directory.rename(`dir2?${fileSas("w", "dir2")}`);
  assert.equal(await box.getDirectoryClient("dir2").exists(), true);
});

test("a stored policy defines what a SAS grants, and revokes it", async () => {
  const share = server.client().getShareClient("box");
  const accessPolicy = { permissions: "r", startsOn: new Date(0), expiresOn: until() };
  await share.setAccessPolicy([{ id: "readers", accessPolicy }]);
  const sas = generateFileSASQueryParameters(
    { shareName: "box", identifier: "readers" },
    CREDENTIAL,
  ).toString();
  const read = { path: "/box/there", signed: false };
  assert.equal((await ask(read, sas)).status, 200);
  const remove = { method: "DELETE", path: "/box/there", signed: false };
  assert.equal((await ask(remove, sas)).code, "AuthorizationPermissionMismatch");
  await share.setAccessPolicy([]);
  assert.equal((await ask(read, sas)).code, "AuthenticationFailed");
});

test("a SAS replaces response headers", async () => {
  const sas = generateFileSASQueryParameters(
    {
      shareName: "box",
      filePath: "there",
      permissions: FileSASPermissions.parse("r"),
      expiresOn: until(),
      contentType: "text/special",
      cacheControl: "no-store",
    },
    CREDENTIAL,
  ).toString();
  const { headers } = await ask({ path: "/box/there", signed: false }, sas);
  assert.equal(headers.get("content-type"), "text/special");
  assert.equal(headers.get("cache-control"), "no-store");
});

function isInBox({ path }: RawAsked): boolean {
  return path.startsWith("/box");
}

function ask(asked: RawAsked, sas: string) {
  const path = withSas(asked.path, sas);
  return rawRequest(server, { ...asked, path });
}

function accountSas(letters: string, types: string): string {
  return generateAccountSASQueryParameters(
    {
      expiresOn: until(),
      permissions: AccountSASPermissions.parse(letters),
      resourceTypes: types,
      services: "f",
    },
    CREDENTIAL,
  ).toString();
}

function shareSas(letters: string): string {
  return generateFileSASQueryParameters(
    { shareName: "box", permissions: ShareSASPermissions.parse(letters), expiresOn: until() },
    CREDENTIAL,
  ).toString();
}

function fileSas(letters: string, filePath: string): string {
  return generateFileSASQueryParameters(
    {
      shareName: "box",
      filePath,
      permissions: FileSASPermissions.parse(letters),
      expiresOn: until(),
    },
    CREDENTIAL,
  ).toString();
}
