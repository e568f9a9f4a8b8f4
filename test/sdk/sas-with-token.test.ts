import assert from "node:assert/strict";
import { globalAgent } from "node:https";
import { after, test } from "node:test";
import {
  BlobSASPermissions,
  BlobServiceClient,
  BlockBlobClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { FileSASPermissions, generateFileSASQueryParameters } from "@azure/storage-file-share";
import { generateQueueSASQueryParameters, QueueSASPermissions } from "@azure/storage-queue";
import { OWNER } from "../../src/rules/access.ts";
import { createShare } from "../../src/service/file/create-share.ts";
import { createQueue } from "../../src/service/queue/create-queue.ts";
import { askForKey, askSecurely, bearer, keyIn, TAKES_TOKENS, TENANT, USER } from "./bearer.ts";
import { CERTIFICATE } from "./certificate.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const HOUR_MS = 3_600_000;
const OTHER_TENANT = "77777777-2222-4333-8444-555555555555";
const GUEST = "88888888-2222-4333-8444-555555555555";

const server = await forThisFile(startServer(TAKES_TOKENS));
const queues = await forThisFile(startQueueServer(TAKES_TOKENS));
const files = await forThisFile(startFileServer(TAKES_TOKENS));

// The SDK has no option for certificates: it uses those of the global agent.
globalAgent.options.ca = CERTIFICATE;
after(() => {
  delete globalAgent.options.ca;
});
const OPTIONS = { keepAliveOptions: { enable: false }, retryOptions: { maxTries: 1 } };

/** Makes a credential like the identity library's, with a token of this user. */
function credentialOf(claims: object) {
  const token = bearer(claims).authorization.slice("Bearer ".length);
  return { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + HOUR_MS }) };
}

const expiresOn = new Date(Date.now() + HOUR_MS);
const TERMS = {
  containerName: "box",
  blobName: "blob",
  permissions: BlobSASPermissions.parse("r"),
  expiresOn,
};

const owner = new BlobServiceClient(server.url, credentialOf({}), OPTIONS);
await owner.getContainerClient("box").create();
await owner.getContainerClient("box").getBlockBlobClient("blob").upload("text", 4);

async function blobSas(more: object = {}, delegatedUserTenantId?: string): Promise<string> {
  const startsOn = new Date(Date.now() - HOUR_MS);
  const key =
    delegatedUserTenantId === undefined
      ? await owner.getUserDelegationKey(startsOn, expiresOn)
      : await owner.getUserDelegationKey({ startsOn, expiresOn, delegatedUserTenantId });
  return generateBlobSASQueryParameters({ ...TERMS, ...more }, key, server.account).toString();
}

const clientWith = (sas: string, claims: object) =>
  new BlockBlobClient(`${server.url}/box/blob?${sas}`, credentialOf(claims), OPTIONS);

/**
 * Checks a refusal as a client sees it. Uses GET, as a response to HEAD has no body with the
 * reason.
 */
const refused = (detail: RegExp) => (error: unknown) => {
  const { statusCode, code, details } = error as Record<string, unknown>;
  assert.deepEqual([statusCode, code], [403, "AuthenticationFailed"]);
  assert.match(JSON.stringify(details), detail);
  return true;
};

test("a SAS for one user grants the blob only with that user's token", async () => {
  const sas = await blobSas({ delegatedUserObjectId: GUEST });
  const guest = clientWith(sas, { oid: GUEST });
  assert.equal(String(await guest.downloadToBuffer()), "text");
  const other = clientWith(sas, { oid: USER });
  await assert.rejects(other.download(), refused(/bound to another user/));
  const stranger = clientWith(sas, { oid: GUEST, tid: OTHER_TENANT });
  await assert.rejects(stranger.download(), refused(/bound to another user/));
  const nobody = await askSecurely(server, "GET", `/box/blob?${sas}`);
  assert.deepEqual([nobody.status, nobody.code], [403, "AuthenticationFailed"]);
  assert.match(nobody.text, /send that user&apos;s bearer token|send that user's bearer token/);
});

test("a user of another tenant is named with the key", async () => {
  const sas = await blobSas({ delegatedUserObjectId: GUEST }, OTHER_TENANT);
  const guest = clientWith(sas, { oid: GUEST, tid: OTHER_TENANT });
  assert.equal(String(await guest.downloadToBuffer()), "text");
  const atHome = clientWith(sas, { oid: GUEST, tid: TENANT });
  await assert.rejects(atHome.download(), refused(/bound to another user/));
});

test("a SAS limits the request, even if its token would grant more", async () => {
  const bound = await blobSas({ delegatedUserObjectId: GUEST });
  const plain = generateBlobSASQueryParameters(TERMS, CREDENTIAL).toString();
  for (const sas of [bound, plain]) {
    await assert.rejects(clientWith(sas, { oid: GUEST }).delete(), {
      statusCode: 403,
      code: "AuthorizationPermissionMismatch",
    });
  }
});

test("an expired or wrong SAS is refused even with a valid token or key", async () => {
  const over = { ...TERMS, expiresOn: new Date(Date.now() - 1_000) };
  for (const sas of [
    generateBlobSASQueryParameters(over, CREDENTIAL).toString(),
    generateBlobSASQueryParameters({ ...TERMS, blobName: "other" }, CREDENTIAL).toString(),
    await blobSas({ expiresOn: over.expiresOn }),
    (await blobSas()).replace("sp=r", "sp=rw"),
  ]) {
    await assert.rejects(clientWith(sas, {}).download(), refused(/./));
    // The key signs the whole query, including the SAS.
    const keyed = new BlockBlobClient(`${server.url}/box/blob?${sas}`, CREDENTIAL, OPTIONS);
    await assert.rejects(keyed.download(), refused(/./));
  }
  const good = generateBlobSASQueryParameters(TERMS, CREDENTIAL).toString();
  const keyed = new BlockBlobClient(`${server.url}/box/blob?${good}`, CREDENTIAL, OPTIONS);
  assert.equal(String(await keyed.downloadToBuffer()), "text");
});

test("a second signature, or a repeated field, is refused", async () => {
  const sas = generateBlobSASQueryParameters(TERMS, CREDENTIAL).toString();
  assert.equal((await askSecurely(server, "GET", `/box/blob?${sas}`)).status, 200);
  for (const part of sas.split("&")) {
    for (const query of [`${sas}&${part}`, `sig=x&${sas}`, `${sas}&SIG=x`]) {
      const { status, code } = await askSecurely(server, "GET", `/box/blob?${query}`);
      assert.deepEqual([status, code], [403, "AuthenticationFailed"], query);
    }
  }
});

test("queues accept a SAS for one user in the same way", async () => {
  const at = { account: queues.account, queue: "queue" };
  await createQueue(queues.context, { at, access: OWNER, metadata: [] });
  const key = keyIn((await askForKey(queues, Date.now(), expiresOn.getTime())).text);
  const sas = generateQueueSASQueryParameters(
    {
      queueName: "queue",
      permissions: QueueSASPermissions.parse("r"),
      expiresOn,
      delegatedUserObjectId: GUEST,
    },
    key as never,
    queues.account,
  );
  const path = `/queue/messages?peekonly=true&${sas}`;
  assert.equal((await askSecurely(queues, "GET", path, bearer({ oid: GUEST }))).status, 200);
  for (const headers of [{}, bearer()]) {
    const { status, code } = await askSecurely(queues, "GET", path, headers);
    assert.deepEqual([status, code], [403, "AuthenticationFailed"]);
  }
});

test("files accept a SAS for one user in the same way, also for renames", async () => {
  const intent = { "x-ms-file-request-intent": "backup" };
  const all = { ...bearer(), ...intent };
  const at = { account: files.account, share: "share", snapshot: null };
  await createShare(files.context, { at, access: OWNER, metadata: [], quotaGib: 1, tier: "Hot" });
  const create = { "x-ms-type": "file", "x-ms-content-length": "4", ...all };
  assert.equal((await askSecurely(files, "PUT", "/share/file", create)).status, 201);
  const { text } = await askForKey(files, Date.now(), expiresOn.getTime(), all);
  const sasFor = (filePath: string, more: object = {}) =>
    generateFileSASQueryParameters(
      {
        shareName: "share",
        filePath,
        permissions: FileSASPermissions.parse("rcw"),
        expiresOn,
        delegatedUserObjectId: GUEST,
        ...more,
      },
      keyIn(text) as never,
      files.account,
    ).toString();
  const guest = bearer({ oid: GUEST });
  const read = `/share/file?${sasFor("file")}`;
  assert.equal((await askSecurely(files, "GET", read, guest)).status, 200);
  for (const headers of [{}, bearer()]) {
    const { status, code } = await askSecurely(files, "GET", read, headers);
    assert.deepEqual([status, code], [403, "AuthenticationFailed"]);
  }

  const rename = async (headers: object, sas: string) => {
    const source = { "x-ms-file-rename-source": `${files.url}/share/file?${sas}` };
    const path = `/share/moved?comp=rename&${sasFor("moved")}`;
    const { status } = await askSecurely(files, "PUT", path, { ...headers, ...source });
    return status;
  };
  const over = { expiresOn: new Date(Date.now() - 1_000) };
  assert.equal(await rename(bearer(), sasFor("file")), 403, "another user");
  assert.equal(await rename(guest, sasFor("file", over)), 403, "the SAS of the source is over");
  assert.equal(await rename(guest, sasFor("file")), 200);

  // The owner's SAS for the source is not ignored, either.
  const source = `${files.url}/share/moved?${sasFor("moved", { ...over, delegatedUserObjectId: undefined })}`;
  const headers = { ...all, "x-ms-file-rename-source": source };
  const late = await askSecurely(files, "PUT", "/share/again?comp=rename", headers);
  assert.deepEqual([late.status, late.code], [403, "AuthenticationFailed"]);
});
