import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobSASPermissions,
  ContainerSASPermissions,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { type RawAsked, rawRequest } from "./raw-request.ts";
import { inOrder, lettersThatOpen, op, type SasOperation, withSas } from "./sas-matrix.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

const ACCOUNT_LETTERS = "rwdxylacuptfi";
const CONTAINER_LETTERS = "racwdxyltmeif";
const BLOB_LETTERS = "racwdxytmei";
const LEASE = "00000000-0000-0000-0000-00000000000a";

const BLOCK_LIST = "<BlockList></BlockList>";
const NO_POLICIES = "<SignedIdentifiers></SignedIdentifiers>";
const PROPERTIES = "<StorageServiceProperties></StorageServiceProperties>";
const TAGS = "<Tags><TagSet></TagSet></Tags>";
const lease = (action: string, more: Record<string, string> = {}) => ({
  "x-ms-lease-action": action,
  ...more,
});
const PAGE = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };
const acquire = lease("acquire", { "x-ms-lease-duration": "15" });

/** A public source, so that only the target requires permissions. */
const FROM = { "x-ms-copy-source": "SOURCE" };
const FROM_SNAPSHOT = { "x-ms-copy-source": "SNAPSHOT" };
const FROM_PAGE = { "x-ms-source-range": "bytes=0-511" };

/**
 * As documented by the service; on a container `box` with a blob `there`, none called `new`, and a
 * deleted blob `gone`.
 */
const OPERATIONS: readonly SasOperation[] = [
  op("GET", "/?comp=list", "s", "l", ""),
  op("GET", "/?restype=service&comp=properties", "s", "r", ""),
  op("PUT", "/?restype=service&comp=properties", "s", "w", "", {}, PROPERTIES),
  op("GET", "-secondary/?restype=service&comp=stats", "s", "r", ""),
  op("PUT", "/other?restype=container", "c", "cw", ""),
  op("GET", "/box?restype=container", "c", "r", ""),
  op("GET", "/box?restype=container&comp=metadata", "c", "r", ""),
  op("PUT", "/box?restype=container&comp=metadata", "c", "w", ""),
  op("GET", "/box?restype=container&comp=acl", "c", "", ""),
  op("PUT", "/box?restype=container&comp=acl", "c", "", "", {}, NO_POLICIES),
  op("PUT", "/box?restype=container&comp=lease", "c", "w", "", acquire),
  op("PUT", "/leased?restype=container&comp=lease", "c", "wd", "", lease("break")),
  op("DELETE", "/box?restype=container", "c", "d", ""),
  op("GET", "/box?restype=container&comp=list", "c", "l", "l"),
  op("PUT", "/box/new", "o", "cw", "cw", { "x-ms-blob-type": "BlockBlob" }, "text"),
  op("PUT", "/box/there", "o", "w", "w", { "x-ms-blob-type": "BlockBlob" }, "text"),
  op("GET", "/box/there", "o", "r", "r"),
  op("HEAD", "/box/there", "o", "r", "r"),
  op("GET", "/box/there?comp=metadata", "o", "r", "r"),
  op("GET", "/box/there?comp=blocklist", "o", "r", "r"),
  op("PUT", "/box/there?comp=metadata", "o", "w", "w"),
  op("PUT", "/box/there?comp=properties", "o", "w", "w"),
  op("PUT", "/box/new?comp=block&blockid=AAAA", "o", "cw", "cw", {}, "text"),
  op("PUT", "/box/there?comp=block&blockid=AAAA", "o", "w", "w", {}, "text"),
  op("PUT", "/box/new?comp=blocklist", "o", "cw", "cw", {}, BLOCK_LIST),
  op("PUT", "/box/there?comp=blocklist", "o", "w", "w", {}, BLOCK_LIST),
  op("PUT", "/box/there?comp=lease", "o", "w", "w", acquire),
  op("PUT", "/box/leased?comp=lease", "o", "wd", "wd", lease("break")),
  op("PUT", "/box/pages?comp=page", "o", "w", "w", PAGE, "x".repeat(512)),
  op("PUT", "/box/pages?comp=page", "o", "w", "w", { ...PAGE, "x-ms-page-write": "clear" }),
  op("GET", "/box/pages?comp=pagelist", "o", "r", "r"),
  op("PUT", "/box/log?comp=appendblock", "o", "aw", "aw", {}, "text"),
  op("PUT", "/box/log?comp=seal", "o", "w", "w"),
  op("PUT", "/box/there?comp=snapshot", "o", "cw", "cw"),
  op("GET", "/box/there?comp=tags", "o", "t", "t"),
  op("PUT", "/box/there?comp=tags", "o", "t", "t", {}, TAGS),
  op("PUT", "/box/there?comp=tier", "o", "w", "w", { "x-ms-access-tier": "Cool" }),
  op("GET", "/?comp=blobs&where=a%3D%27b%27", "o", "f", ""),
  op("GET", "/box?restype=container&comp=blobs&where=a%3D%27b%27", "co", "f", "f"),
  op("PUT", "/box/gone?comp=undelete", "o", "w", "w"),
  op("PUT", "/box/new", "o", "cw", "cw", FROM),
  op("PUT", "/box/there", "o", "w", "w", FROM),
  op("PUT", "/box/new", "o", "cw", "cw", { ...FROM, "x-ms-requires-sync": "true" }),
  op("PUT", "/box/there", "o", "w", "w", { ...FROM, "x-ms-requires-sync": "true" }),
  op("PUT", "/box/new", "o", "cw", "cw", { ...FROM, "x-ms-blob-type": "BlockBlob" }),
  op("PUT", "/box/there", "o", "w", "w", { ...FROM, "x-ms-blob-type": "BlockBlob" }),
  op("PUT", "/box/new?comp=block&blockid=AAAA", "o", "cw", "cw", FROM),
  op("PUT", "/box/there?comp=block&blockid=AAAA", "o", "w", "w", FROM),
  op("PUT", "/box/pages?comp=page", "o", "w", "w", { ...FROM, ...PAGE, ...FROM_PAGE }),
  op("PUT", "/box/log?comp=appendblock", "o", "aw", "aw", FROM),
  op("PUT", "/box/new?comp=incrementalcopy", "o", "cw", "cw", FROM_SNAPSHOT),
  op("DELETE", "/box/there", "o", "d", "d"),
];

let server: TestServer;
/** The URLs of the sources in the table. */
let sources: Record<string, string> = {};

before(async () => {
  server = await startServer();
  const deleteRetentionPolicy = { enabled: true, days: 1 };
  await server.client().setProperties({ deleteRetentionPolicy });
});

after(() => server.close());

/** Restores the initial state before each attempt. */
async function prepare(): Promise<void> {
  const client = server.client();
  for await (const { name } of client.listContainers()) {
    const container = client.getContainerClient(name);
    await container
      .getBlobLeaseClient(LEASE)
      .breakLease(0)
      .catch(() => {});
    await container.delete();
  }
  for (const name of ["box", "leased"]) await client.createContainer(name);
  const { containerClient: open } = await client.createContainer("open", { access: "blob" });
  await open.getBlockBlobClient("source").upload("x".repeat(512), 512);
  const disk = open.getPageBlobClient("disk");
  await disk.create(512);
  const { snapshot = "" } = await disk.createSnapshot();
  sources = { SOURCE: `${server.url}/open/source`, SNAPSHOT: disk.withSnapshot(snapshot).url };
  await client.getContainerClient("leased").getBlobLeaseClient(LEASE).acquireLease(-1);
  const box = client.getContainerClient("box");
  for (const name of ["there", "leased"]) await box.getBlockBlobClient(name).upload("old", 3);
  await box.getBlockBlobClient("gone").upload("old", 3);
  await box.deleteBlob("gone");
  await box.getPageBlobClient("pages").create(512);
  await box.getAppendBlobClient("log").create();
  await box.getBlobClient("leased").getBlobLeaseClient(LEASE).acquireLease(-1);
}

beforeEach(prepare);

const until = () => new Date(Date.now() + 3_600_000);

for (const { name, asked, type, account } of OPERATIONS) {
  test(`account SAS: ${name} takes ${account === "" ? "no letter" : `one of ${account}`}`, async () => {
    for (const one of type) {
      const opened = await lettersThatOpen(
        ACCOUNT_LETTERS,
        (letter) => ask(asked, accountSas(letter, one)),
        prepare,
      );
      assert.equal(opened, inOrder(account, ACCOUNT_LETTERS), `srt=${one}`);
    }
  });

  test(`account SAS: ${name} requires the resource type ${[...type].join(" or ")}`, async () => {
    for (const other of "sco") {
      if (type.includes(other) || account === "") continue;
      const { status, code } = await ask(asked, accountSas(ACCOUNT_LETTERS, other));
      const expected = asked.method === "HEAD" ? 403 : "AuthorizationResourceTypeMismatch";
      assert.equal(asked.method === "HEAD" ? status : code, expected, `srt=${other}`);
    }
  });
}

for (const { name, asked, service } of OPERATIONS) {
  if (!asked.path.startsWith("/box")) continue;
  test(`container SAS: ${name} takes ${service === "" ? "no letter" : `one of ${service}`}`, async () => {
    const opened = await lettersThatOpen(
      CONTAINER_LETTERS,
      (letter) => ask(asked, containerSas(letter)),
      prepare,
    );
    assert.equal(opened, inOrder(service, CONTAINER_LETTERS));
  });
}

for (const { name, asked, service } of OPERATIONS.filter(({ asked: { path } }) =>
  path.startsWith("/box/"),
)) {
  test(`blob SAS: ${name} takes one of ${service}, and only on its own blob`, async () => {
    const blob = (asked.path.split("?")[0] ?? "").split("/").at(-1) ?? "";
    const opened = await lettersThatOpen(
      BLOB_LETTERS,
      (letter) => ask(asked, blobSas(letter, blob)),
      prepare,
    );
    assert.equal(opened, inOrder(service, BLOB_LETTERS));
    const foreign = await ask(asked, blobSas(BLOB_LETTERS, "elsewhere"));
    assert.equal(foreign.status, 403);
  });
}

function ask(asked: RawAsked, sas: string) {
  const path = withSas(asked.path, sas);
  const headers = { ...asked.headers };
  const source = sources[headers["x-ms-copy-source"] ?? ""];
  if (source !== undefined) headers["x-ms-copy-source"] = source;
  return rawRequest(server, { ...asked, headers, path });
}

function accountSas(letters: string, types: string): string {
  return generateAccountSASQueryParameters(
    {
      expiresOn: until(),
      permissions: AccountSASPermissions.parse(letters),
      resourceTypes: AccountSASResourceTypes.parse(types).toString(),
      services: AccountSASServices.parse("b").toString(),
    },
    CREDENTIAL,
  ).toString();
}

function containerSas(letters: string): string {
  return generateBlobSASQueryParameters(
    {
      containerName: "box",
      permissions: ContainerSASPermissions.parse(letters),
      expiresOn: until(),
    },
    CREDENTIAL,
  ).toString();
}

function blobSas(letters: string, blobName: string): string {
  return generateBlobSASQueryParameters(
    {
      containerName: "box",
      blobName,
      permissions: BlobSASPermissions.parse(letters),
      expiresOn: until(),
    },
    CREDENTIAL,
  ).toString();
}
