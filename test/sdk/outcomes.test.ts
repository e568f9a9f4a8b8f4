import assert from "node:assert/strict";
import { test } from "node:test";
import { AzureNamedKeyCredential, generateTableSas, TableTransaction } from "@azure/data-tables";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobSASPermissions,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import type { RestOutcome } from "../../src/front/outcome.ts";
import { askForKey, askSecurely, bearer, keyIn, TAKES_TOKENS } from "./bearer.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { rawRequest } from "./raw-request.ts";
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

const HOUR_MS = 3_600_000;

const blobs = await forThisFile(startServer());
const secure = await forThisFile(startServer(TAKES_TOKENS));
const queues = await forThisFile(startQueueServer());
const tables = await forThisFile(startTableServer());
const files = await forThisFile(startFileServer());

/** Returns the outcomes of what `act` does; refusals of the SDK do not matter. */
async function outcomesOf(
  server: TestService,
  count: number,
  act: () => Promise<unknown>,
): Promise<readonly RestOutcome[]> {
  const { outcomes } = server;
  const before = outcomes.all.length;
  await act().catch((error) => assert.ok("statusCode" in error, error));
  await outcomes.untilThereAre(before + count);
  assert.equal(outcomes.all.length, before + count);
  return outcomes.all.slice(before);
}

async function outcomeOf(server: TestService, act: () => Promise<unknown>): Promise<RestOutcome> {
  return (await outcomesOf(server, 1, act))[0] as RestOutcome;
}

/** The fields that name what was asked and what came of it. */
function summary({ operation, account, container, auth, status, code }: RestOutcome) {
  return [operation, account, container, auth, status, code];
}

test("an outcome has operation, account, container, credentials, status, bytes and ids", async () => {
  const container = blobs.client().getContainerClient("first");
  await outcomeOf(blobs, () => container.create());
  const blob = container.getBlockBlobClient("a b");
  let requestId: string | undefined;
  const put = await outcomeOf(blobs, async () => {
    ({ requestId } = await blob.upload("12345", 5));
  });
  assert.deepEqual(summary(put), ["PutBlob", ACCOUNT, "first", "sharedKey", 201, null]);
  assert.deepEqual(
    [put.service, put.method, put.target],
    ["blob", "PUT", `/${ACCOUNT}/first/a%20b`],
  );
  assert.deepEqual([put.requestBytes, put.responseBytes, put.aborted], [5, 0, false]);
  assert.equal(put.requestId, requestId);
  assert.match(put.clientRequestId ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(put.batchId, null);
  assert.equal(put.remoteAddress, "127.0.0.1");
  assert.ok(Math.abs(put.atMs - Date.now()) < HOUR_MS && put.tookMs > 0);
  const get = await outcomeOf(blobs, () => blob.downloadToBuffer(0, 5));
  assert.deepEqual(summary(get), ["GetBlob", ACCOUNT, "first", "sharedKey", 206, null]);
  assert.deepEqual([get.requestBytes, get.responseBytes], [0, 5]);
});

test("a refusal has its code, also where the answer has no body", async () => {
  const container = await blobs.makeContainer();
  const name = container.containerName;
  const blob = container.getBlockBlobClient("b");
  const { etag } = await blob.upload("1", 1);
  const refusals: [() => Promise<unknown>, string, number, string][] = [
    [
      () => blob.upload("2", 1, { conditions: { ifMatch: '"0"' } }),
      "PutBlob",
      412,
      "ConditionNotMet",
    ],
    [
      () => blob.getProperties({ conditions: { ifNoneMatch: etag ?? "" } }),
      "GetBlobProperties",
      304,
      "ConditionNotMet",
    ],
    [
      () => container.getBlobClient("none").getProperties(),
      "GetBlobProperties",
      404,
      "BlobNotFound",
    ],
    [() => container.create(), "CreateContainer", 409, "ContainerAlreadyExists"],
  ];
  for (const [act, operation, status, code] of refusals) {
    const outcome = await outcomeOf(blobs, act);
    assert.deepEqual(summary(outcome), [operation, ACCOUNT, name, "sharedKey", status, code]);
  }
});

test("a request that finds no account or operation has an outcome, too", async () => {
  const elsewhere = { url: new URL("/nobody", blobs.url).href, account: "nobody" };
  const unknown = await outcomeOf(blobs, () => rawRequest(elsewhere, { path: "/c/b" }));
  assert.deepEqual(summary(unknown), ["Unknown", null, null, "none", 403, "AuthenticationFailed"]);
  const unrouted = await outcomeOf(blobs, () => rawRequest(blobs, { path: "/c/b?comp=nonsense" }));
  assert.deepEqual(summary(unrouted), ["Unknown", ACCOUNT, null, "none", 400, unrouted.code]);
  const bad = await outcomeOf(blobs, () => rawRequest(blobs, { method: "PATCH", path: "/c/b" }));
  assert.deepEqual([bad.operation, bad.method, bad.status], ["Unknown", "PATCH", 405]);
  const health = await outcomeOf(blobs, () => fetch(new URL("/healthz", blobs.url)));
  assert.deepEqual(summary(health), ["HealthCheck", null, null, "none", 200, null]);
  const preflight = await outcomeOf(blobs, () =>
    rawRequest(blobs, { method: "OPTIONS", path: "/c/b", signed: false }),
  );
  assert.deepEqual(preflight.operation, "Preflight");
});

test("an outcome names the kind of the credentials, accepted or not", async () => {
  const container = await blobs.makeContainer();
  await container.setAccessPolicy("blob");
  await container.getBlockBlobClient("b").upload("1", 1);
  const path = `/${container.containerName}/b`;
  const expiresOn = new Date(Date.now() + HOUR_MS);
  const serviceSas = generateBlobSASQueryParameters(
    {
      containerName: container.containerName,
      blobName: "b",
      permissions: BlobSASPermissions.parse("r"),
      expiresOn,
    },
    CREDENTIAL,
  ).toString();
  const accountSas = generateAccountSASQueryParameters(
    {
      services: AccountSASServices.parse("b").toString(),
      resourceTypes: AccountSASResourceTypes.parse("o").toString(),
      permissions: AccountSASPermissions.parse("r"),
      expiresOn,
    },
    CREDENTIAL,
  ).toString();
  const wrong = { authorization: `SharedKey ${ACCOUNT}:${"A".repeat(43)}=` };
  const basic = { authorization: "Basic YTpi" };
  const asked: [string, Record<string, string>, string, number][] = [
    ["", {}, "anonymous", 200],
    [`?${serviceSas}`, {}, "serviceSas", 200],
    [`?${accountSas}`, {}, "accountSas", 200],
    [`?${serviceSas.replace("sp=r", "sp=rw")}`, {}, "serviceSas", 403],
    ["", wrong, "sharedKey", 403],
    [`?${serviceSas}`, wrong, "sharedKey", 403],
    ["", { authorization: wrong.authorization.replace("Key", "KeyLite") }, "sharedKeyLite", 403],
    ["", basic, "other", 400],
    ["", { authorization: "Bearer a.b.c" }, "bearer", 403],
  ];
  for (const [query, headers, auth, status] of asked) {
    const outcome = await outcomeOf(blobs, () =>
      rawRequest(blobs, { path: path + query, headers, signed: false }),
    );
    assert.deepEqual([outcome.auth, outcome.status], [auth, status], JSON.stringify(headers));
    assert.doesNotMatch(outcome.target ?? "", /sig=(?!\[redacted\]$|\[redacted\]&)/);
  }
});

test("an outcome names tokens and the SAS of their delegation keys", async () => {
  const ask = (path: string, headers = {}) => askSecurely(secure, "GET", path, headers);
  const now = Date.now();
  let keyText = "";
  const asked = await outcomeOf(secure, async () => {
    keyText = (await askForKey(secure, now - HOUR_MS, now + HOUR_MS)).text;
  });
  assert.deepEqual(
    [asked.operation, asked.auth, asked.status],
    ["GetUserDelegationKey", "bearer", 200],
  );
  const sas = generateBlobSASQueryParameters(
    {
      containerName: "ccc",
      permissions: BlobSASPermissions.parse("r"),
      expiresOn: new Date(now + HOUR_MS),
    },
    keyIn(keyText),
    ACCOUNT,
  ).toString();
  const read = await outcomeOf(secure, () => ask(`/ccc/b?${sas}`));
  assert.deepEqual(summary(read), [
    "GetBlob",
    ACCOUNT,
    "ccc",
    "userDelegationSas",
    404,
    "ContainerNotFound",
  ]);
  const token = await outcomeOf(secure, () => ask("/ccc/b", bearer()));
  assert.deepEqual(summary(token), ["GetBlob", ACCOUNT, "ccc", "bearer", 404, "ContainerNotFound"]);
});

test("queues, tables and files name their operations and containers", async () => {
  const queue = queues.client().getQueueClient("jobs");
  const made = await outcomeOf(queues, () => queue.create());
  assert.deepEqual(
    [made.service, ...summary(made)],
    ["queue", "CreateQueue", ACCOUNT, "jobs", "sharedKey", 201, null],
  );
  const sent = await outcomeOf(queues, () => queue.sendMessage("hello"));
  assert.deepEqual(summary(sent), ["PutMessage", ACCOUNT, "jobs", "sharedKey", 201, null]);

  const table = tables.table("People");
  await outcomeOf(tables, () => table.createTable());
  const entity = { partitionKey: "p", rowKey: "r" };
  await outcomeOf(tables, () => table.createEntity(entity));
  const twice = await outcomeOf(tables, () => table.createEntity(entity));
  assert.deepEqual(
    [twice.service, ...summary(twice)],
    ["table", "InsertEntity", ACCOUNT, "People", "sharedKeyLite", 409, "EntityAlreadyExists"],
  );
  const sas = generateTableSas("People", new AzureNamedKeyCredential(ACCOUNT, KEY), {
    permissions: { query: true },
  });
  const asked = await outcomeOf(tables, () =>
    tableRequest(tables, { path: `/People()?${sas}`, signed: false }),
  );
  assert.deepEqual(summary(asked), ["QueryEntities", ACCOUNT, "People", "serviceSas", 200, null]);

  const share = files.client().getShareClient("docs");
  await outcomeOf(files, () => share.create());
  const file = await outcomeOf(files, () => share.rootDirectoryClient.getFileClient("f").create(3));
  assert.deepEqual(
    [file.service, ...summary(file)],
    ["file", "CreateFile", ACCOUNT, "docs", "sharedKey", 201, null],
  );
});

test("each request inside a batch has an outcome with the id of the batch", async () => {
  const container = await blobs.makeContainer();
  const name = container.containerName;
  const [here, gone] = ["here", "gone"].map((one) => container.getBlockBlobClient(one));
  await here?.upload("1", 1);
  const urls = [here?.url ?? "", gone?.url ?? ""];
  const all = await outcomesOf(blobs, 3, () =>
    blobs.client().getBlobBatchClient().deleteBlobs(urls, CREDENTIAL),
  );
  const batch = all[2] as RestOutcome;
  assert.deepEqual(summary(batch), ["Batch", ACCOUNT, null, "sharedKey", 202, null]);
  const inner = all.slice(0, 2).map(summary);
  assert.deepEqual(inner.toSorted(), [
    ["DeleteBlob", ACCOUNT, name, "sharedKey", 202, null],
    ["DeleteBlob", ACCOUNT, name, "sharedKey", 404, "BlobNotFound"],
  ]);
  for (const one of all.slice(0, 2)) {
    assert.equal(one.batchId, batch.requestId);
    assert.notEqual(one.requestId, batch.requestId);
    assert.deepEqual([one.requestBytes, one.responseBytes], [0, 0]);
  }
});

test("a change set has an outcome for each operation, a refused one only for the refused", async () => {
  const table = await tables.makeTable();
  const transaction = new TableTransaction();
  transaction.createEntity({ partitionKey: "p", rowKey: "1" });
  transaction.upsertEntity({ partitionKey: "p", rowKey: "2" }, "Replace");
  const done = await outcomesOf(tables, 3, () => table.submitTransaction(transaction.actions));
  const named = [ACCOUNT, table.tableName, "sharedKeyLite"];
  assert.deepEqual(done.map(summary), [
    ["InsertEntity", ...named, 204, null],
    ["InsertOrReplaceEntity", ...named, 204, null],
    ["Batch", ACCOUNT, null, "sharedKeyLite", 202, null],
  ]);
  const refused = await outcomesOf(tables, 2, () => table.submitTransaction(transaction.actions));
  assert.deepEqual(refused.map(summary), [
    ["InsertEntity", ...named, 409, "EntityAlreadyExists"],
    ["Batch", ACCOUNT, null, "sharedKeyLite", 202, null],
  ]);
  assert.equal(refused[0]?.batchId, refused[1]?.requestId);
});

test("an outcome names the account that the request is for, not the one that signed", async () => {
  const elsewhere = { url: new URL(`/${OTHER_ACCOUNT}`, blobs.url).href, account: ACCOUNT };
  const outcome = await outcomeOf(blobs, () => rawRequest(elsewhere, { path: "/c/b" }));
  assert.deepEqual([outcome.account, outcome.status], [OTHER_ACCOUNT, 403]);
});
