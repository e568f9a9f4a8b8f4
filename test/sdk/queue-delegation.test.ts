import assert from "node:assert/strict";
import { request } from "node:https";
import { after, before, test } from "node:test";
import {
  generateQueueSASQueryParameters,
  QueueSASPermissions,
  type ServiceGetUserDelegationKeyResponse,
} from "@azure/storage-queue";
import { OWNER } from "../../src/rules/access.ts";
import { createQueue } from "../../src/service/queue/create-queue.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import { type QueueServer, startQueueServer } from "./queue-server.ts";

let server: QueueServer;

before(async () => {
  server = await startQueueServer({
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    oauth: { mode: "basic" },
  });
  const at = { account: server.account, queue: "queue" };
  await createQueue(server.context, { at, access: OWNER, metadata: [] });
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const TENANT = "11111111-2222-4333-8444-555555555555";
const USER = "99999999-2222-4333-8444-555555555555";
const HOUR_MS = 3_600_000;

function bearer(): { authorization: string } {
  const seconds = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: `https://sts.windows.net/${TENANT}/`,
    aud: "https://storage.azure.com",
    nbf: seconds,
    exp: seconds + 3_600,
    oid: USER,
    tid: TENANT,
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return { authorization: `Bearer ${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}.c2ln` };
}

function ask(method: string, path: string, headers = {}, body = "") {
  const options = {
    method,
    ca: CERTIFICATE,
    headers: { "x-ms-version": "2026-04-06", "content-length": body.length, ...headers },
  };
  return new Promise<{ status: number; code: string; text: string }>((resolve, reject) => {
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

async function getKey(expiresOn: Date): Promise<ServiceGetUserDelegationKeyResponse> {
  const time = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;
  const body = `<KeyInfo><Start>${time(new Date())}</Start><Expiry>${time(expiresOn)}</Expiry></KeyInfo>`;
  const path = "/?restype=service&comp=userdelegationkey";
  const { status, text } = await ask("POST", path, bearer(), body);
  assert.equal(status, 200, text);
  const field = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "";
  return {
    signedObjectId: field("SignedOid"),
    signedTenantId: field("SignedTid"),
    signedStartsOn: new Date(field("SignedStart")),
    signedExpiresOn: new Date(field("SignedExpiry")),
    signedService: field("SignedService"),
    signedVersion: field("SignedVersion"),
    value: field("Value"),
  } as ServiceGetUserDelegationKeyResponse;
}

test("a SAS signed with a user delegation key opens what its letters say", async () => {
  const expiresOn = new Date(Date.now() + HOUR_MS);
  const key = await getKey(expiresOn);
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

test("who has a bearer token may do everything; without one there is no key", async () => {
  assert.equal((await ask("GET", "/queue?comp=acl", bearer())).status, 200);
  const { code } = await ask("POST", "/?restype=service&comp=userdelegationkey", {}, "<KeyInfo />");
  assert.equal(code, "NoAuthenticationInformation");
});
