import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobSASPermissions, generateBlobSASQueryParameters } from "@azure/storage-blob";
import { askForKey, askSecurely, bearer, keyIn, TAKES_TOKENS, TENANT, USER } from "./bearer.ts";
import { forThisFile, startServer } from "./server.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const server = await forThisFile(startServer(TAKES_TOKENS));

const ask = (method: string, path: string, headers = {}, body = "") =>
  askSecurely(server, method, path, headers, body);

test("a bearer token grants everything on the account, and gets a key to sign with", async () => {
  assert.equal((await ask("PUT", "/container?restype=container", bearer())).status, 201);
  const put = { ...bearer(), "x-ms-blob-type": "BlockBlob" };
  assert.equal((await ask("PUT", "/container/blob", put, "text")).status, 201);

  const now = Date.now();
  const answer = await askForKey(server, now - HOUR_MS, now + HOUR_MS);
  assert.equal(answer.status, 200, answer.text);
  const key = keyIn(answer.text);
  assert.deepEqual([key.signedObjectId, key.signedTenantId], [USER, TENANT]);
  assert.deepEqual([key.signedService, key.signedVersion], ["b", "2026-04-06"]);

  const sas = generateBlobSASQueryParameters(
    {
      containerName: "container",
      blobName: "blob",
      permissions: BlobSASPermissions.parse("r"),
      expiresOn: new Date(now + HOUR_MS),
    },
    key,
    server.account,
  ).toString();
  const read = await ask("GET", `/container/blob?${sas}`);
  assert.deepEqual([read.status, read.text], [200, "text"]);
  const elsewhere = await ask("GET", `/container/other?${sas}`);
  assert.deepEqual([elsewhere.status, elsewhere.code], [403, "AuthenticationFailed"]);
  const write = await ask("DELETE", `/container/blob?${sas}`);
  assert.deepEqual([write.status, write.code], [403, "AuthorizationPermissionMismatch"]);
});

test("a key lasts up to seven days from now, and ends after it starts", async () => {
  const now = Date.now();
  assert.equal((await askForKey(server, now, now + 7 * DAY_MS - 5_000)).status, 200);
  for (const [start, expiry] of [
    [now, now + 7 * DAY_MS + 60_000],
    [now + HOUR_MS, now + HOUR_MS],
    [now - 2 * HOUR_MS, now - HOUR_MS],
  ] as const) {
    const answer = await askForKey(server, start, expiry);
    assert.deepEqual([answer.status, answer.code], [400, "InvalidXmlNodeValue"]);
  }
});

test("an invalid request for a key is refused", async () => {
  const path = "/?restype=service&comp=userdelegationkey";
  for (const [body, code] of [
    ["", "InvalidXmlDocument"],
    ["<Key />", "InvalidXmlDocument"],
    ["<KeyInfo />", "MissingRequiredXmlNode"],
    ["<KeyInfo><Start>now</Start><Expiry>later</Expiry></KeyInfo>", "InvalidXmlNodeValue"],
    ["<KeyInfo><Other /></KeyInfo>", "UnsupportedXmlNode"],
  ] as const) {
    const answer = await ask("POST", path, bearer(), body);
    assert.deepEqual([answer.status, answer.code], [400, code], body);
  }
});

test("an expired token, or none, gets 401", async () => {
  const now = Date.now();
  const old = await askForKey(server, now, now + HOUR_MS, bearer({ exp: 1, nbf: 0 }));
  assert.deepEqual([old.status, old.code], [401, "InvalidAuthenticationInfo"]);
  const none = await askForKey(server, now, now + HOUR_MS, {});
  assert.deepEqual([none.status, none.code], [401, "NoAuthenticationInformation"]);
});
