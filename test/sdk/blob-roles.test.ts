import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BlobClient,
  BlobSASPermissions,
  BlobServiceClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { TENANT, USER } from "./bearer.ts";
import {
  assertPermitted,
  attempt,
  credential,
  HAS_ROLES,
  MISMATCH,
  OPTIONS,
  OWN,
  PERMITTED,
  roleOf,
  userWith,
} from "./role-users.ts";
import { CREDENTIAL, forThisFile, OTHER_ACCOUNT, startServer } from "./server.ts";

const HOUR_MS = 3_600_000;
const server = await forThisFile(
  startServer({
    ...HAS_ROLES,
    blob: { versioning: true, containerRetentionDays: null },
    roles: [
      ...(HAS_ROLES.roles ?? []),
      { principal: { groups: "readers" }, role: roleOf("blob-reader"), container: null },
    ],
  }),
);

const owner = new BlobServiceClient(server.url, CREDENTIAL, OPTIONS);
const clientOf = (role: Parameters<typeof userWith>[0], container: string | null = null) =>
  new BlobServiceClient(server.url, userWith(role, container), OPTIONS);

let count = 0;

/** Creates a container with a blob, an append blob and an earlier version. */
async function filled(name = `box${count++}`): Promise<string> {
  const container = owner.getContainerClient(name);
  await container.createIfNotExists();
  await container.getBlockBlobClient("blob").upload("text", 4);
  await container.getAppendBlobClient("log").create();
  return name;
}

/** Tries an operation in a container of its own. */
function inside(work: (container: ContainerClient) => Promise<unknown>) {
  return async (client: BlobServiceClient) => work(client.getContainerClient(await filled()));
}

const OPERATIONS: Readonly<Record<string, (client: BlobServiceClient) => Promise<unknown>>> = {
  serviceProperties: (client) => client.getProperties(),
  setServiceProperties: (client) => client.setProperties({ defaultServiceVersion: "2026-04-06" }),
  accountInformation: (client) => client.getAccountInfo(),
  key: (client) => keyOf(client),
  listContainers: (client) => client.listContainers().next(),
  find: (client) => client.findBlobsByTags("a = 'b'").next(),

  create: (client) => client.getContainerClient(`made${count++}`).create(),
  containerProperties: inside((container) => container.getProperties()),
  setContainerMetadata: inside((container) => container.setMetadata({ a: "b" })),
  leaseContainer: inside((container) => container.getBlobLeaseClient().acquireLease(15)),
  acl: inside((container) => container.getAccessPolicy()),
  setAcl: inside((container) => container.setAccessPolicy()),
  deleteContainer: inside((container) => container.delete()),

  list: inside((container) => container.listBlobsFlat().next()),
  listWithTags: inside((container) => container.listBlobsFlat({ includeTags: true }).next()),
  findInContainer: inside((container) => container.findBlobsByTags("a = 'b'").next()),
  get: inside((container) => container.getBlobClient("blob").downloadToBuffer()),
  properties: inside((container) => container.getBlobClient("blob").getProperties()),
  put: inside((container) => container.getBlockBlobClient("new").upload("text", 4)),
  replace: inside((container) => container.getBlockBlobClient("blob").upload("text", 4)),
  putWithTags: inside((container) =>
    container.getBlockBlobClient("new").upload("text", 4, { tags: { a: "b" } }),
  ),
  append: inside((container) => container.getAppendBlobClient("log").appendBlock("text", 4)),
  setMetadata: inside((container) => container.getBlobClient("blob").setMetadata({ a: "b" })),
  setTier: inside((container) => container.getBlobClient("blob").setAccessTier("Cool")),
  snapshot: inside((container) => container.getBlobClient("blob").createSnapshot()),
  lease: inside((container) =>
    container.getBlobClient("blob").getBlobLeaseClient().acquireLease(15),
  ),
  copy: inside(async (container) => {
    const from = owner.getContainerClient(await filled()).getBlobClient("blob").url;
    await container.getBlobClient("copy").syncCopyFromURL(from);
  }),
  delete: inside((container) => container.getBlobClient("blob").delete()),
  deleteVersion: inside(async (container) => {
    const own = owner.getContainerClient(container.containerName).getBlockBlobClient("blob");
    const { versionId = "" } = await own.getProperties();
    await own.upload("newer", 5);
    await container.getBlobClient("blob").withVersion(versionId).delete();
  }),
  tags: inside((container) => container.getBlobClient("blob").getTags()),
  setTags: inside((container) => container.getBlobClient("blob").setTags({ a: "b" })),
};

const MANAGING =
  "listContainers create containerProperties setContainerMetadata leaseContainer deleteContainer";
const READING = "list get properties";
const WRITING = "put replace append setMetadata setTier snapshot lease copy delete";

test("each role permits its kinds of operations to the official client, and no others", async () => {
  await assertPermitted(
    {
      "account-contributor": `serviceProperties setServiceProperties accountInformation key ${MANAGING} acl setAcl`,
      "blob-reader": `key listContainers containerProperties ${READING}`,
      "blob-contributor": `key ${MANAGING} ${READING} ${WRITING}`,
      "blob-owner":
        `key ${MANAGING} acl setAcl ${READING} ${WRITING} ` +
        "find findInContainer listWithTags putWithTags deleteVersion tags setTags",
      "blob-delegator": "key",
      "queue-contributor": "",
      none: "",
    },
    OPERATIONS,
    (role) => clientOf(role),
  );
});

test("a role for one container covers it, and neither the service nor another container", async () => {
  await filled(OWN);
  const other = await filled();
  const writer = clientOf("blob-contributor", OWN);
  const get = (name: string) => () =>
    writer.getContainerClient(name).getBlobClient("blob").download();
  assert.equal(await attempt(get(OWN)), PERMITTED);
  assert.equal(await attempt(get(other)), MISMATCH);
  assert.equal(await attempt(() => writer.listContainers().next()), MISMATCH);
  assert.equal(await attempt(() => keyOf(writer)), MISMATCH, "a key is for the whole account");
});

test("a copy needs a role for its source, too", async () => {
  await filled(OWN);
  const from = async (name: string) => {
    const source = owner.getContainerClient(name).getBlobClient("blob").url;
    const target = clientOf("blob-contributor", OWN).getContainerClient(OWN).getBlobClient("copy");
    return attempt(() => target.syncCopyFromURL(source));
  };
  assert.equal(await from(OWN), PERMITTED);
  assert.equal(await from(await filled()), "403 CannotVerifyCopySource");
});

test("each operation in a batch needs its own role", async () => {
  const [own, other] = [await filled(OWN), await filled()];
  const client = clientOf("blob-contributor", OWN);
  const urls = [own, other].map((name) => owner.getContainerClient(name).getBlobClient("blob").url);
  const batch = await client
    .getBlobBatchClient()
    .deleteBlobs(urls, userWith("blob-contributor", OWN));
  assert.deepEqual(
    batch.subResponses.map(({ status, errorCode }) => [status, errorCode]),
    [
      [202, undefined],
      [403, "AuthorizationPermissionMismatch"],
    ],
  );
});

test("a token of a group has the roles of the group", async () => {
  const name = await filled();
  const told = (claims: object) => {
    const client = new BlobServiceClient(server.url, credential({ oid: USER, ...claims }), OPTIONS);
    return attempt(() => client.getContainerClient(name).getBlobClient("blob").download());
  };
  assert.equal(await told({}), MISMATCH);
  assert.equal(await told({ groups: ["writers"] }), MISMATCH);
  assert.equal(await told({ groups: ["writers", "readers"] }), PERMITTED);
  assert.equal(await told({ roles: ["readers"] }), MISMATCH, "another claim");
});

test("keys and SAS of the account know no roles", async () => {
  const container = owner.getContainerClient(await filled());
  const url = await container
    .getBlobClient("blob")
    .generateSasUrl({ permissions: BlobSASPermissions.parse("d"), expiresOn: inAnHour() });
  assert.equal(await attempt(() => new BlobClient(url, undefined, OPTIONS).delete()), PERMITTED);
});

test("an account without roles takes every token for its owner", async () => {
  const url = server.url.replace(server.account, OTHER_ACCOUNT);
  const stranger = new BlobServiceClient(url, userWith(null), OPTIONS);
  assert.equal(await attempt(() => stranger.getContainerClient("open").create()), PERMITTED);
});

test("a user delegation SAS permits what it says and what the roles of its signer permit", async () => {
  await filled(OWN);
  const other = await filled();
  const told = async (
    signer: BlobServiceClient,
    letters: string,
    work: (container: ContainerClient) => Promise<unknown>,
    containerName: string,
  ) => {
    const terms = { containerName, permissions: BlobSASPermissions.parse(letters) };
    const key = await keyOf(signer);
    const sas = generateBlobSASQueryParameters(
      { ...terms, blobName: "blob", expiresOn: inAnHour() },
      key,
      server.account,
    );
    const anonymous = new BlobServiceClient(`${server.url}?${sas}`, undefined, OPTIONS);
    return attempt(() => work(anonymous.getContainerClient(containerName)));
  };
  const get = (container: ContainerClient) => container.getBlobClient("blob").downloadToBuffer();
  const put = (container: ContainerClient) =>
    container.getBlockBlobClient("blob").upload("text", 4);
  assert.equal(await told(clientOf("blob-reader"), "rw", get, other), PERMITTED);
  assert.equal(await told(clientOf("blob-reader"), "rw", put, other), MISMATCH);
  assert.equal(await told(clientOf("blob-contributor"), "rw", put, other), PERMITTED);
  assert.equal(await told(clientOf("blob-contributor"), "r", put, other), MISMATCH);
  assert.equal(await told(clientOf("blob-delegator"), "rw", get, other), MISMATCH);
  const inGroup = { oid: USER, tid: TENANT, groups: ["readers"] };
  const grouped = new BlobServiceClient(server.url, credential(inGroup), OPTIONS);
  assert.equal(await told(grouped, "r", get, other), MISMATCH, "a SAS names no group");
});

function keyOf(client: BlobServiceClient) {
  return client.getUserDelegationKey(new Date(Date.now() - HOUR_MS), inAnHour());
}

function inAnHour(): Date {
  return new Date(Date.now() + HOUR_MS);
}
