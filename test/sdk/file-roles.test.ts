import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ShareClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { askSecurely } from "./bearer.ts";
import { startFileServer } from "./file-server.ts";
import {
  assertPermitted,
  attempt,
  HAS_ROLES,
  MISMATCH,
  OPTIONS,
  OWN,
  PERMITTED,
  userWith,
} from "./role-users.ts";
import { forThisFile } from "./server.ts";

const HOUR_MS = 3_600_000;
const server = await forThisFile(startFileServer(HAS_ROLES));
const key = new StorageSharedKeyCredential(server.account, server.key);
const owner = new ShareServiceClient(server.url, key, OPTIONS);
const clientOf = (role: Parameters<typeof userWith>[0], share: string | null = null) =>
  new ShareServiceClient(server.url, userWith(role, share), {
    ...OPTIONS,
    fileRequestIntent: "backup",
  });

let count = 0;

/** Creates a share with one file. */
async function filled(name = `share${count++}`): Promise<string> {
  const share = owner.getShareClient(name);
  await share.create();
  await share.rootDirectoryClient.getFileClient("file").uploadData(Buffer.from("text"));
  return name;
}

/** Tries an operation in a share of its own. */
function inside(work: (share: ShareClient) => Promise<unknown>) {
  return async (client: ShareServiceClient) => work(client.getShareClient(await filled()));
}

const fileIn = (share: ShareClient, name = "file") => share.rootDirectoryClient.getFileClient(name);

const OPERATIONS: Readonly<Record<string, (client: ShareServiceClient) => Promise<unknown>>> = {
  serviceProperties: (client) => client.getProperties(),
  setServiceProperties: (client) => client.setProperties({}),
  key: (client) => client.getUserDelegationKey(new Date(), new Date(Date.now() + HOUR_MS)),
  listShares: (client) => client.listShares().next(),
  create: (client) => client.getShareClient(`made${count++}`).create(),
  shareProperties: inside((share) => share.getProperties()),
  setShareMetadata: inside((share) => share.setMetadata({ a: "b" })),
  stats: inside((share) => share.getStatistics()),
  acl: inside((share) => share.getAccessPolicy()),
  setAcl: inside((share) => share.setAccessPolicy([])),
  snapshot: inside((share) => share.createSnapshot()),
  leaseShare: inside((share) => share.getShareLeaseClient().acquireLease(15)),
  deleteShare: inside((share) => share.delete()),
  list: inside((share) => share.rootDirectoryClient.listFilesAndDirectories().next()),
  get: inside((share) => fileIn(share).downloadToBuffer()),
  properties: inside((share) => fileIn(share).getProperties()),
  ranges: inside((share) => fileIn(share).getRangeList()),
  handles: inside((share) => fileIn(share).listHandles().next()),
  createDirectory: inside((share) => share.createDirectory("new")),
  createFile: inside((share) => fileIn(share, "new").create(4)),
  putRange: inside((share) => fileIn(share).uploadRange("more", 0, 4)),
  setMetadata: inside((share) => fileIn(share).setMetadata({ a: "b" })),
  lease: inside((share) => fileIn(share).getShareLeaseClient().acquireLease()),
  copy: inside((share) => fileIn(share, "copy").startCopyFromURL(fileIn(share).url)),
  closeHandles: inside((share) => fileIn(share).forceCloseAllHandles()),
  createPermission: inside((share) => share.createPermission("O:SYG:SYD:(A;;FA;;;SY)")),
  delete: inside((share) => fileIn(share).delete()),
};

test("each role permits its kinds of operations to the official client, and no others", async () => {
  const reading = "list get properties ranges handles";
  await assertPermitted(
    {
      "account-contributor":
        "serviceProperties setServiceProperties key listShares create shareProperties " +
        "setShareMetadata stats acl setAcl snapshot leaseShare deleteShare",
      "file-reader": reading,
      "file-contributor":
        `${reading} createDirectory createFile putRange setMetadata lease copy closeHandles ` +
        "createPermission delete",
      "file-delegator": "key",
      "blob-owner": "",
      none: "",
    },
    OPERATIONS,
    (role) => clientOf(role),
  );
});

test("a role for one share covers its files, and no other share", async () => {
  await filled(OWN);
  const other = await filled();
  const client = clientOf("file-contributor", OWN);
  const get = (name: string) =>
    attempt(() => fileIn(client.getShareClient(name)).downloadToBuffer());
  assert.equal(await get(OWN), PERMITTED);
  assert.equal(await get(other), MISMATCH);
});

test("a rename needs a role, and none beside it for its source", async () => {
  const name = await filled();
  const renamed = async (role: Parameters<typeof userWith>[0]) => {
    const { token } = await userWith(role).getToken();
    const { status, code } = await askSecurely(server, "PUT", `/${name}/new?comp=rename`, {
      authorization: `Bearer ${token}`,
      "x-ms-file-request-intent": "backup",
      "x-ms-file-rename-source": `${server.url}/${name}/file`,
    });
    return `${status} ${code}`.trim();
  };
  assert.equal(await renamed("file-reader"), MISMATCH);
  assert.equal(await renamed("file-contributor"), "200");
});
