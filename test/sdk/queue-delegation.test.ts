import assert from "node:assert/strict";
import { test } from "node:test";
import {
  generateQueueSASQueryParameters,
  QueueSASPermissions,
  type ServiceGetUserDelegationKeyResponse,
} from "@azure/storage-queue";
import { OWNER } from "../../src/rules/access.ts";
import { createQueue } from "../../src/service/queue/create-queue.ts";
import { askForKey, askSecurely, bearer, keyIn, TAKES_TOKENS, USER } from "./bearer.ts";
import { startQueueServer } from "./queue-server.ts";
import { forThisFile } from "./server.ts";

const HOUR_MS = 3_600_000;

const server = await forThisFile(startQueueServer(TAKES_TOKENS));
const at = { account: server.account, queue: "queue" };
await createQueue(server.context, { at, access: OWNER, metadata: [] });

const ask = (method: string, path: string, headers = {}, body = "") =>
  askSecurely(server, method, path, headers, body);

test("a SAS signed with a user delegation key grants what its letters say", async () => {
  const expiresOn = new Date(Date.now() + HOUR_MS);
  const { status, text } = await askForKey(server, Date.now(), expiresOn.getTime());
  assert.equal(status, 200, text);
  const key = keyIn(text) as ServiceGetUserDelegationKeyResponse;
  assert.deepEqual([key.signedObjectId, key.signedService], [USER, "q"]);
  const sas = generateQueueSASQueryParameters(
    { queueName: "queue", permissions: QueueSASPermissions.parse("ar"), expiresOn },
    key,
    server.account,
  );
  const body = "<QueueMessage><MessageText>x</MessageText></QueueMessage>";
  assert.equal((await ask("POST", `/queue/messages?${sas}`, {}, body)).status, 201);
  const peeked = await ask("GET", `/queue/messages?peekonly=true&${sas}`);
  assert.match(peeked.text, /<MessageText>x<\/MessageText>/);
  const got = await ask("GET", `/queue/messages?${sas}`);
  assert.equal(got.code, "AuthorizationPermissionMismatch");
  const other = await ask("GET", `/other/messages?peekonly=true&${sas}`);
  assert.equal(other.code, "AuthenticationFailed");
});

test("a bearer token grants everything; without one there is no key", async () => {
  assert.equal((await ask("GET", "/queue?comp=acl", bearer())).status, 200);
  const { code } = await ask("POST", "/?restype=service&comp=userdelegationkey", {}, "<KeyInfo />");
  assert.equal(code, "NoAuthenticationInformation");
});
