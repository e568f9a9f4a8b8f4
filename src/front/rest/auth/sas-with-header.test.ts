import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobSASPermissions,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { rfc1123 } from "../../../base/time-text.ts";
import {
  ACCOUNT,
  ACCOUNT_NAME,
  type Asked,
  assertRefused,
  assertRefusedLater,
  authenticated,
  authenticating,
  KEY,
  NOON,
  sign,
} from "./request.fixture.ts";
import { makeUserDelegationKey } from "./user-delegation-key.ts";

const HOUR_MS = 3_600_000;
const DATE = rfc1123(NOON);
const TENANT = "22222222-2222-4222-8222-222222222222";
const OTHER_TENANT = "33333333-3333-4333-8333-333333333333";
const URL = `https://127.0.0.1:10000/${ACCOUNT_NAME}/c/b`;
const CREDENTIAL = new StorageSharedKeyCredential(ACCOUNT_NAME, KEY);
const BASIC = { mode: "basic" } as const;
const VERSION = "2026-04-06";

const TERMS = {
  containerName: "c",
  blobName: "b",
  permissions: BlobSASPermissions.parse("r"),
  expiresOn: new Date(NOON + HOUR_MS),
};

const serviceSas = (more: Partial<typeof TERMS> = {}) =>
  generateBlobSASQueryParameters({ ...TERMS, ...more }, CREDENTIAL).toString();

const accountSas = (expiresOn: Date) =>
  generateAccountSASQueryParameters(
    {
      services: AccountSASServices.parse("b").toString(),
      resourceTypes: AccountSASResourceTypes.parse("o").toString(),
      permissions: AccountSASPermissions.parse("r"),
      expiresOn,
    },
    CREDENTIAL,
  ).toString();

/** A SAS bound to one user, made by the official client. */
function boundSas(more: object = {}, delegatedTenantId = ""): string {
  const identity = { objectId: "owner", tenantId: TENANT };
  const [from, until] = [NOON - HOUR_MS, NOON + HOUR_MS];
  const secret = ACCOUNT.delegationSecret;
  const key = makeUserDelegationKey(
    secret,
    identity,
    from,
    until,
    "b",
    "2026-04-06",
    delegatedTenantId,
  );
  return generateBlobSASQueryParameters(
    { ...TERMS, delegatedUserObjectId: "user", ...more },
    {
      signedObjectId: key.objectId,
      signedTenantId: key.tenantId,
      signedStartsOn: new Date(from),
      signedExpiresOn: new Date(until),
      signedService: "b",
      signedVersion: key.version,
      value: key.value.toString("base64"),
      ...(delegatedTenantId === "" ? {} : { signedDelegatedUserTenantId: delegatedTenantId }),
    },
    ACCOUNT_NAME,
  ).toString();
}

function bearer(oid: string, tid = TENANT, exp = NOON / 1000 + 3_600): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iss = `https://sts.windows.net/${TENANT}/`;
  const claims = { iss, aud: "https://storage.azure.com", nbf: 0, exp, oid, tid };
  return `Bearer ${part({ alg: "none" })}.${part(claims)}.AAAA`;
}

const withToken = (sas: string, authorization: string, more: Partial<Asked> = {}) => {
  const headers = { "x-ms-version": "2026-04-06", authorization };
  const asked = { url: `${URL}?${sas}`, headers, ...more };
  return async () => authenticating("blob", asked, BASIC);
};

/** A request that the owner signed with the account's key, including its SAS. */
function withKey(sas: string) {
  const pairs = sas
    .split("&")
    .map((part) => part.split("="))
    .map(([name = "", value = ""]) => `\n${name.toLowerCase()}:${decodeURIComponent(value)}`)
    .sort();
  const resource = `/${ACCOUNT_NAME}/${ACCOUNT_NAME}/c/b${pairs.join("")}`;
  const text = `GET${"\n".repeat(12)}x-ms-date:${DATE}\n${resource}`;
  const headers = {
    "x-ms-date": DATE,
    authorization: `SharedKey ${ACCOUNT_NAME}:${sign(text)}`,
  };
  return () => authenticated("blob", { url: `${URL}?${sas}`, headers });
}

const SAS_ACCESS = { kind: "service-sas", letters: "r", policy: null, isForOne: true };

test("a SAS with a key or a token limits the request, and hides the identity", async () => {
  assert.deepEqual(withKey(serviceSas())().access, SAS_ACCESS);
  const { access, identity } = await withToken(serviceSas(), bearer("user"))();
  assert.deepEqual([access, identity], [SAS_ACCESS, null]);
});

test("an expired or wrong SAS is refused even with a valid key or token", async () => {
  const over = new Date(NOON);
  for (const sas of [
    serviceSas({ expiresOn: over }),
    serviceSas().replace(/sig=[^&]*/, "sig=AAAA"),
    serviceSas({ blobName: "other" }),
    accountSas(over),
    boundSas({ expiresOn: over }),
    "sig=x",
  ]) {
    assertRefused("AuthenticationFailed", withKey(sas), sas);
    await assertRefusedLater("AuthenticationFailed", withToken(sas, bearer("user")), sas);
  }
});

test("a valid SAS does not make up for an invalid header", async () => {
  const headers = { "x-ms-date": DATE, authorization: `SharedKey ${ACCOUNT_NAME}:${sign("x")}` };
  const asked = { url: `${URL}?${serviceSas()}`, headers };
  assertRefused("AuthenticationFailed", () => authenticated("blob", asked));
  const over = bearer("user", TENANT, 1);
  await assertRefusedLater("InvalidBearerToken", withToken(serviceSas(), over));
});

test("a SAS for one user is valid only with that user's token", async () => {
  const { access, identity } = await withToken(boundSas(), bearer("user"))();
  const user = { claims: { oid: ["owner"], tid: [TENANT] }, kind: "signer" };
  assert.deepEqual([access, identity], [{ ...SAS_ACCESS, user }, null]);
  for (const [sas, token] of [
    [boundSas(), bearer("other")],
    [boundSas(), bearer("user", OTHER_TENANT)],
    [boundSas({}, OTHER_TENANT), bearer("user", TENANT)],
  ] as const) {
    const attempt = withToken(sas, token);
    const detail = await assertRefusedLater("AuthenticationFailed", attempt);
    assert.match(detail, /bound to another user/);
  }
  await withToken(boundSas({}, OTHER_TENANT), bearer("user", OTHER_TENANT))();
  const alone = () => authenticated("blob", { url: `${URL}?${boundSas()}` });
  assert.match(assertRefused("AuthenticationFailed", alone), /send that user's bearer token/);
  assertRefused("AuthenticationFailed", withKey(boundSas()), "a key is no user");
});

test("the user and the tenant of a SAS are signed", async () => {
  const bound = boundSas({}, OTHER_TENANT);
  for (const changed of [
    bound.replace(/&sduoid=[^&]*/, ""),
    bound.replace("sduoid=user", "sduoid=other"),
    bound.replace(/&skdutid=[^&]*/, ""),
    bound.replace(`skdutid=${OTHER_TENANT}`, `skdutid=${TENANT}`),
  ]) {
    assert.notEqual(changed, bound);
    for (const [user, tenant] of [
      ["user", TENANT],
      ["other", TENANT],
      ["other", OTHER_TENANT],
    ] as const) {
      const attempt = withToken(changed, bearer(user, tenant));
      await assertRefusedLater("AuthenticationFailed", attempt, changed);
    }
  }
  // Versions that do not sign the field must refuse it.
  for (const version of ["2018-11-09", "2020-12-06"]) {
    const sas = `${boundSas({ version, delegatedUserObjectId: undefined })}&sduoid=user`;
    const detail = await assertRefusedLater("AuthenticationFailed", withToken(sas, bearer("user")));
    assert.match(detail, /not signed in this version/);
  }
});

test("a SAS field given twice is refused, whatever its case and place", () => {
  const sas = serviceSas();
  for (const part of sas.split("&")) {
    const [name = ""] = part.split("=");
    for (const twice of [
      `${sas}&${part}`,
      `${part}&${sas}`,
      `${sas}&${name.toUpperCase()}=x`,
      `${sas}&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=x`,
      `${name}&${sas}`,
    ]) {
      const detail = assertRefused(
        "AuthenticationFailed",
        () => authenticated("blob", { url: `${URL}?${twice}` }),
        twice,
      );
      assert.match(detail, new RegExp(`^${name} is given more than once`), twice);
    }
  }
  // Other parameters may repeat.
  authenticated("blob", { url: `${URL}?${sas}&other=1&other=2` });
});

test("queues and tables accept no other resource type than their own", () => {
  const terms = ["r", "", "2030-01-01T13:00:00Z", `/queue/${ACCOUNT_NAME}/q1`, "", "", "", VERSION];
  const sig = encodeURIComponent(sign(terms.join("\n")));
  const query = `sv=${VERSION}&sp=r&se=${encodeURIComponent("2030-01-01T13:00:00Z")}&sig=${sig}`;
  const at = (kind: string) => () =>
    authenticated("queue", {
      url: `https://127.0.0.1:10001/${ACCOUNT_NAME}/q1/messages?${query}${kind}`,
    });
  for (const kind of ["", "&sr=q"]) at(kind)();
  for (const kind of ["&sr=c", "&sr=t", "&sr=qq"])
    assertRefused("AuthenticationFailed", at(kind), kind);
});
