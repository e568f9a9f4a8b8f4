import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobSASPermissions, generateBlobSASQueryParameters } from "@azure/storage-blob";
import {
  ACCOUNT,
  ACCOUNT_NAME,
  type Asked,
  assertRefused,
  authenticated,
  NOON,
  sign,
} from "./request.fixture.ts";
import type { ServiceName } from "./resource.ts";
import { makeUserDelegationKey } from "./user-delegation-key.ts";

const URL = `http://127.0.0.1:10000/${ACCOUNT_NAME}/c1/b`;
const HOUR_MS = 3_600_000;
const IDENTITY = { objectId: "object", tenantId: "tenant" };
const VERSIONS = ["2018-11-09", "2020-02-10", "2020-12-06", "2025-07-05", "2026-04-06"];

type Values = Parameters<typeof generateBlobSASQueryParameters>[0];

function keyFor(service: string, startMs = NOON - HOUR_MS, expiryMs = NOON + HOUR_MS) {
  const { delegationSecret } = ACCOUNT;
  return makeUserDelegationKey(
    delegationSecret,
    IDENTITY,
    startMs,
    expiryMs,
    service,
    "2026-04-06",
  );
}

/** A token that the official client made with a key of this server. */
function tokenOf(values: Partial<Values> = {}, key = keyFor("b")): string {
  return generateBlobSASQueryParameters(
    {
      containerName: "c1",
      blobName: "b",
      permissions: BlobSASPermissions.parse("r"),
      expiresOn: new Date(NOON + HOUR_MS),
      ...values,
    },
    {
      signedObjectId: key.objectId,
      signedTenantId: key.tenantId,
      signedStartsOn: new Date(key.startMs),
      signedExpiresOn: new Date(key.expiryMs),
      signedService: key.service,
      signedVersion: key.version,
      value: key.value.toString("base64"),
    },
    ACCOUNT_NAME,
  ).toString();
}

function asking(token: string, more: Partial<Asked> = {}) {
  const { url = URL } = more;
  return () =>
    authenticated("blob", { ...more, url: `${url}${url.includes("?") ? "&" : "?"}${token}` });
}

for (const version of VERSIONS) {
  test(`${version}: a token signed with a delegation key grants its blob`, () => {
    const token = tokenOf({ version, startsOn: new Date(NOON), contentType: "text/plain" });
    const { access, overrides, identity } = asking(token)();
    const user = { claims: { oid: ["object"], tid: ["tenant"] }, kind: "signer" };
    const granted = { letters: "r", policy: null, isForOne: true, user };
    assert.deepEqual(access, { kind: "service-sas", ...granted });
    assert.deepEqual(overrides, ["Content-Type", "text/plain"]);
    assert.equal(identity, null);
    assertRefused("AuthenticationFailed", asking(token, { url: `${URL}x` }));
  });

  test(`${version}: every field is signed`, () => {
    const agents =
      version < "2020-02-10" ? {} : { preauthorizedAgentObjectId: "agent", correlationId: "id" };
    const token = tokenOf({ version, startsOn: new Date(NOON), ...agents });
    asking(token)();
    for (const part of token.split("&")) {
      if (part.startsWith("sig=")) continue;
      const [name] = part.split("=");
      for (const changed of [token.replace(part, ""), token.replace(part, `${name}=zz`)]) {
        assertRefused("AuthenticationFailed", asking(changed), changed);
      }
    }
  });
}

test("headers and parameters that a token is bound to must be sent as signed", () => {
  const token = tokenOf({
    requestHeaders: { "x-ms-foo": "bar", Range: "bytes=0-1" },
    requestQueryParameters: { timeout: "30" },
  });
  const headers = { "x-ms-foo": "bar", range: "bytes=0-1" };
  const url = `${URL}?timeout=30`;
  asking(token, { url, headers })();
  assertRefused("AuthenticationFailed", asking(token, { url }));
  assertRefused("AuthenticationFailed", asking(token, { headers }));
  const other = { ...headers, "x-ms-foo": "baz" };
  assertRefused("AuthenticationFailed", asking(token, { url, headers: other }));
});

test("a token is valid only as long as its key", () => {
  const late = keyFor("b", NOON + 1_000, NOON + HOUR_MS);
  const over = keyFor("b", NOON - HOUR_MS, NOON);
  assert.match(assertRefused("AuthenticationFailed", asking(tokenOf({}, late))), /time frame/);
  assert.match(assertRefused("AuthenticationFailed", asking(tokenOf({}, over))), /time frame/);
});

test("the terms of a key cannot be changed", () => {
  const token = tokenOf();
  for (const [from, to] of [
    ["skoid=object", "skoid=another"],
    ["sktid=tenant", "sktid=another"],
    ["ske=2030", "ske=2031"],
    ["skt=2030", "skt=2029"],
    ["skv=2026", "skv=2027"],
    ["sks=b", "sks=q"],
  ] as const) {
    assert.ok(token.includes(from));
    assertRefused("AuthenticationFailed", asking(token.replace(from, to)), to);
  }
});

test("a key for one service is refused by another", () => {
  const attempt = asking(tokenOf({}, keyFor("q")));
  assert.match(assertRefused("AuthenticationFailed", attempt), /another service/);
});

test("restrictions that are not enforced are refused", () => {
  const bound = tokenOf({ delegatedUserObjectId: "user" });
  assert.match(assertRefused("AuthenticationFailed", asking(bound)), /\(sduoid\)/);
  const attempt = asking(`${tokenOf()}&si=x`);
  assert.match(assertRefused("AuthenticationFailed", attempt), /\(si\)/);
});

test("a token says who acts: its signer, an authorized user, or one that ACLs decide on", () => {
  const userOf = (values: Partial<Values>) => {
    const { access } = asking(tokenOf({ version: "2020-02-10", ...values }))();
    return access.kind === "service-sas" ? access.user : null;
  };
  const signer = { oid: ["object"], tid: ["tenant"] };
  assert.deepEqual(userOf({}), { claims: signer, kind: "signer" });
  const saoid = { preauthorizedAgentObjectId: "agent", correlationId: "id" };
  assert.deepEqual(userOf(saoid), { claims: { oid: ["agent"] }, kind: "authorized" });
});

function handMade(service: "queue" | "file", path: string): string {
  const key = keyFor(service === "queue" ? "q" : "f");
  const [skt, ske] = ["2030-01-01T11:00:00Z", "2030-01-01T13:00:00Z"];
  const terms = ["object", "tenant", skt, ske, key.service, key.version];
  const lines = ["r", "", ske, `/${service}/${ACCOUNT_NAME}${path}`, ...terms, "", ""];
  lines.push("", "", "2025-07-05");
  if (service === "file") lines.push("", "", "", "", "");
  const query = `sp=r&se=${ske}&skoid=object&sktid=tenant&skt=${skt}&ske=${ske}&sks=${key.service}`;
  const sig = encodeURIComponent(sign(lines.join("\n"), key.value.toString("base64")));
  return `${query}&skv=${key.version}&sv=2025-07-05&sig=${sig}`;
}

test("queues and files accept delegation tokens since 2025-07-05, tables do not", () => {
  const at = (path: string, token: string, service: ServiceName) => () =>
    authenticated(service, { url: `http://127.0.0.1/${ACCOUNT_NAME}${path}?${token}` });
  const queue = handMade("queue", "/q1");
  at("/q1/messages", queue, "queue")();
  assertRefused("AuthenticationFailed", at("/q2/messages", queue, "queue"));
  const old = queue.replace("sv=2025-07-05", "sv=2020-12-06");
  assert.match(
    assertRefused("AuthenticationFailed", at("/q1", old, "queue")),
    /2025-07-05 or later/,
  );
  at("/s1/f", `${handMade("file", "/s1/f")}&sr=f`, "file")();
  assertRefused("AuthenticationFailed", at("/t1", queue, "table"));
});
