import assert from "node:assert/strict";
import { request } from "node:https";
import { after, before, test } from "node:test";
import {
  BlobSASPermissions,
  generateBlobSASQueryParameters,
  type UserDelegationKey,
} from "@azure/storage-blob";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import { startServer, type TestServer } from "./server.ts";

let server: TestServer;

before(async () => {
  server = await startServer({
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    oauth: { mode: "basic" },
  });
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const TENANT = "11111111-2222-4333-8444-555555555555";
const USER = "99999999-2222-4333-8444-555555555555";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function bearer(claims: object = {}): { authorization: string } {
  const seconds = Math.floor(Date.now() / 1_000);
  const all = {
    iss: `https://sts.windows.net/${TENANT}/`,
    aud: "https://storage.azure.com",
    nbf: seconds,
    exp: seconds + 3_600,
    oid: USER,
    tid: TENANT,
    ...claims,
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return { authorization: `Bearer ${part({ alg: "RS256", typ: "JWT" })}.${part(all)}.c2ln` };
}

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

function ask(method: string, path: string, headers = {}, body = ""): Promise<Answer> {
  const options = {
    method,
    ca: CERTIFICATE,
    headers: { "x-ms-version": "2026-04-06", "content-length": body.length, ...headers },
  };
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      answer.on("end", () => {
        const code = String(answer.headers["x-ms-error-code"] ?? "");
        resolve({ status: answer.statusCode ?? 0, code, text });
      });
    });
    sent.on("error", reject).end(body);
  });
}

function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function askForKey(startMs: number, expiryMs: number, headers: object = bearer()) {
  const terms = `<Start>${seconds(startMs)}</Start><Expiry>${seconds(expiryMs)}</Expiry>`;
  const path = "/?restype=service&comp=userdelegationkey";
  return ask("POST", path, headers, `<KeyInfo>${terms}</KeyInfo>`);
}

function keyOf(text: string): UserDelegationKey {
  const value = (name: string) => new RegExp(`<${name}>(.*)</${name}>`).exec(text)?.[1] ?? "";
  return {
    signedObjectId: value("SignedOid"),
    signedTenantId: value("SignedTid"),
    signedStartsOn: new Date(value("SignedStart")),
    signedExpiresOn: new Date(value("SignedExpiry")),
    signedService: value("SignedService"),
    signedVersion: value("SignedVersion"),
    value: value("Value"),
  };
}

test("who comes with a bearer token owns the account, and gets a key to sign with", async () => {
  assert.equal((await ask("PUT", "/container?restype=container", bearer())).status, 201);
  const put = { ...bearer(), "x-ms-blob-type": "BlockBlob" };
  assert.equal((await ask("PUT", "/container/blob", put, "text")).status, 201);

  const now = Date.now();
  const answer = await askForKey(now - HOUR_MS, now + HOUR_MS);
  assert.equal(answer.status, 200, answer.text);
  const key = keyOf(answer.text);
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
  assert.equal((await askForKey(now, now + 7 * DAY_MS - 5_000)).status, 200);
  for (const [start, expiry] of [
    [now, now + 7 * DAY_MS + 60_000],
    [now + HOUR_MS, now + HOUR_MS],
    [now - 2 * HOUR_MS, now - HOUR_MS],
  ] as const) {
    const answer = await askForKey(start, expiry);
    assert.deepEqual([answer.status, answer.code], [400, "InvalidXmlNodeValue"]);
  }
});

test("a request for a key that makes no sense is refused", async () => {
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

test("a token that has expired, or none, gets 401", async () => {
  const now = Date.now();
  const old = await askForKey(now, now + HOUR_MS, bearer({ exp: 1, nbf: 0 }));
  assert.deepEqual([old.status, old.code], [401, "InvalidAuthenticationInfo"]);
  const none = await askForKey(now, now + HOUR_MS, {});
  assert.deepEqual([none.status, none.code], [401, "NoAuthenticationInformation"]);
});
