import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BlobServiceClient,
  ContainerClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { askSecurely, bearer, TAKES_TOKENS } from "./bearer.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import {
  ACCOUNT,
  CREDENTIAL,
  forThisFile,
  KEY,
  OTHER_ACCOUNT,
  startServer,
  type TestService,
} from "./server.ts";
import { startTableServer, tableRequest } from "./table-server.ts";

/**
 * URLs in which neither the host nor the path names an account, which clients make when they
 * rename. Both accounts of the server have the same key, so that only the name differs.
 */
const ONCE = { retryOptions: { maxTries: 1 } };
const OTHER = new StorageSharedKeyCredential(OTHER_ACCOUNT, KEY);
const until = () => new Date(Date.now() + 3_600_000);

const server = await forThisFile(startServer());
const { origin } = new URL(server.url);
const there = (credential: StorageSharedKeyCredential) =>
  new BlobServiceClient(origin, credential, ONCE);
const other = new BlobServiceClient(`${origin}/${OTHER_ACCOUNT}`, OTHER, ONCE);

test("a SharedKey signature names the account, and the request acts on that one alone", async () => {
  const container = there(CREDENTIAL).getContainerClient("signed");
  await container.create();
  await container.getBlockBlobClient("a/b c").upload("text", 4);
  const named = server.client().getContainerClient("signed");
  assert.equal(String(await named.getBlobClient("a/b c").downloadToBuffer()), "text");
  assert.equal(await other.getContainerClient("signed").exists(), false);
  await there(OTHER).getContainerClient("others").create();
  assert.equal(await other.getContainerClient("others").exists(), true);
  assert.equal(await server.client().getContainerClient("others").exists(), false);
});

test("every service accepts such URLs", async () => {
  const atRoot = <S extends TestService>(own: S): S => ({ ...own, url: new URL(own.url).origin });
  const queues = await forThisFile(startQueueServer());
  const queue = await rawRequest(atRoot(queues), { method: "PUT", path: "/queue" });
  assert.equal(queue.status, 201, queue.text);
  assert.equal(await queues.client().getQueueClient("queue").exists(), true);
  const files = await forThisFile(startFileServer());
  const share = await rawRequest(atRoot(files), { method: "PUT", path: "/share?restype=share" });
  assert.equal(share.status, 201, share.text);
  assert.equal(await files.client().getShareClient("share").exists(), true);
  const tables = await forThisFile(startTableServer());
  const body = '{"TableName":"table"}';
  const table = await tableRequest(atRoot(tables), { method: "POST", path: "/Tables", body });
  assert.equal(table.status, 201, table.text);
  await tables.table("table").createEntity({ partitionKey: "p", rowKey: "r" });
});

test("a wrong key, an unknown account and missing credentials grant nothing", async () => {
  await server.client().createContainer("closed");
  const wrong = new StorageSharedKeyCredential(ACCOUNT, Buffer.alloc(64).toString("base64"));
  const nobody = new StorageSharedKeyCredential("nobody", KEY);
  for (const credential of [wrong, nobody]) {
    const container = there(credential).getContainerClient("closed");
    await refused(container.getProperties(), 403, "AuthenticationFailed");
  }
  const open = new ContainerClient(`${origin}/closed`);
  await refused(open.getProperties(), 401, "NoAuthenticationInformation");
});

test("a path that begins with an account names it, whatever the signature says", async () => {
  // In the account that signs, this would be a container with the name of the other account.
  await server.client().createContainer(OTHER_ACCOUNT);
  const container = there(CREDENTIAL).getContainerClient(OTHER_ACCOUNT);
  await assert.rejects(container.getBlobClient("b").getProperties(), { statusCode: 403 });
  await assert.rejects(container.getBlockBlobClient("b").upload("x", 1), ({ details }) => {
    assert.match(details.authenticationErrorDetail, /signed for .* its URL names 'otheraccount'/);
    return true;
  });
});

test("a SAS names the account that signed it", async () => {
  for (const [client, credential] of [
    [server.client(), CREDENTIAL],
    [other, OTHER],
  ] as const) {
    const container = client.getContainerClient("shared");
    await container.create();
    await container
      .getBlockBlobClient("blob")
      .upload(client.accountName, client.accountName.length);
    const token = (expiresOn: Date) =>
      generateBlobSASQueryParameters(
        { containerName: "shared", permissions: ContainerSASPermissions.parse("r"), expiresOn },
        credential,
      );
    const read = (sas: unknown) =>
      new ContainerClient(`${origin}/shared?${sas}`, undefined, ONCE)
        .getBlobClient("blob")
        .downloadToBuffer();
    assert.equal(String(await read(token(until()))), client.accountName);
    const forged = `${token(until())}`.replace("sp=r", "sp=rw");
    await refused(read(forged), 403, "AuthenticationFailed");
    const late = await fetch(`${origin}/shared/blob?${token(new Date(0))}`);
    assert.match(await late.text(), /Signed expiry time \[Thu, 01 Jan 1970/);
  }
});

test("a bearer token, which may be valid for several accounts, names none", async () => {
  const secure = await forThisFile(startServer(TAKES_TOKENS));
  const create = "/by-token?restype=container";
  const atRoot = { ...secure, url: new URL(secure.url).origin };
  const answer = await askSecurely(atRoot, "PUT", create, bearer());
  assert.deepEqual([answer.status, answer.code], [403, "AuthenticationFailed"]);
  assert.match(answer.text, /The account 'by-token' is unknown to this server/);
  assert.equal((await askSecurely(secure, "PUT", create, bearer())).status, 201);
});
