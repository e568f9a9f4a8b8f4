import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FileSASPermissions,
  generateFileSASQueryParameters,
  type ServiceGetUserDelegationKeyResponse,
} from "@azure/storage-file-share";
import { OWNER } from "../../src/rules/access.ts";
import { createShare } from "../../src/service/file/create-share.ts";
import { askForKey, askSecurely, bearer, keyIn, TAKES_TOKENS, USER } from "./bearer.ts";
import { startFileServer } from "./file-server.ts";
import { forThisFile } from "./server.ts";

const HOUR_MS = 3_600_000;
const INTENT = { "x-ms-file-request-intent": "backup" };

const server = await forThisFile(startFileServer(TAKES_TOKENS));
await createShare(server.context, {
  at: { account: server.account, share: "share", snapshot: null },
  access: OWNER,
  metadata: [],
  quotaGib: 1,
  tier: "Hot",
});

const ask = (method: string, path: string, headers = {}, body = "") =>
  askSecurely(server, method, path, headers, body);

test("a bearer token grants everything, and operations on files require the intent header", async () => {
  for (const path of ["?restype=directory", "?restype=directory&comp=list", "?comp=listhandles"]) {
    assert.equal((await ask("GET", `/share${path}`, { ...bearer(), ...INTENT })).status, 200);
    for (const intent of [{}, { "x-ms-file-request-intent": "restore" }]) {
      const silent = await ask("GET", `/share${path}`, { ...bearer(), ...intent });
      assert.deepEqual([silent.status, silent.code], [400, "MissingRequiredHeader"], path);
    }
  }
});

test("operations on a share, on the service and for a key require no intent header", async () => {
  const share = "/share?restype=share";
  for (const [method, path, status] of [
    ["GET", "/?comp=list", 200],
    ["GET", "/?restype=service&comp=properties", 200],
    ["PUT", "/other?restype=share", 201],
    ["DELETE", "/other?restype=share", 202],
    ["GET", share, 200],
    ["GET", `${share}&comp=metadata`, 200],
    ["PUT", `${share}&comp=metadata`, 200],
    ["PUT", `${share}&comp=properties`, 200],
    ["GET", `${share}&comp=stats`, 200],
    ["GET", `${share}&comp=acl`, 200],
    ["PUT", `${share}&comp=snapshot`, 201],
  ] as const) {
    const answer = await ask(method, path, bearer());
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
  }
  const { status, text } = await askForKey(server, Date.now(), Date.now() + HOUR_MS);
  assert.equal(status, 200, text);
});

test("a SAS signed with a user delegation key grants what its letters say", async () => {
  const create = { "x-ms-type": "file", "x-ms-content-length": "4", ...bearer(), ...INTENT };
  assert.equal((await ask("PUT", "/share/file", create)).status, 201);
  const expiresOn = new Date(Date.now() + HOUR_MS);
  const headers = { ...bearer(), ...INTENT };
  const { status, text } = await askForKey(server, Date.now(), expiresOn.getTime(), headers);
  assert.equal(status, 200, text);
  const key = keyIn(text) as ServiceGetUserDelegationKeyResponse;
  assert.deepEqual([key.signedObjectId, key.signedService], [USER, "f"]);
  const sas = generateFileSASQueryParameters(
    {
      shareName: "share",
      filePath: "file",
      permissions: FileSASPermissions.parse("r"),
      expiresOn,
    },
    key,
    server.account,
  );
  assert.equal((await ask("GET", `/share/file?${sas}`)).status, 200);
  assert.equal((await ask("DELETE", `/share/file?${sas}`)).code, "AuthorizationPermissionMismatch");
  assert.equal((await ask("GET", `/share/other?${sas}`)).code, "AuthenticationFailed");
});

test("nothing is granted without credentials", async () => {
  const { status, code } = await ask("GET", "/share/file");
  assert.deepEqual([status, code], [401, "NoAuthenticationInformation"]);
});
