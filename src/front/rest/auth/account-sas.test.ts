import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AccountSASPermissions,
  generateAccountSASQueryParameters,
  SASProtocol,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { judgeByAccess } from "../../../rules/access.ts";
import {
  ACCOUNT_NAME,
  assertRefused,
  authenticated,
  KEY,
  NOON,
  SECOND_KEY,
  sign,
} from "./request.fixture.ts";
import type { ServiceName } from "./resource.ts";

const URL = `http://127.0.0.1:10000/${ACCOUNT_NAME}/c/b`;
type Values = Parameters<typeof generateAccountSASQueryParameters>[0];

/** A token made by the official client. */
function tokenOf(more: Partial<Values> = {}, key = KEY): string {
  return generateAccountSASQueryParameters(
    {
      permissions: AccountSASPermissions.parse("rl"),
      services: "bqtf",
      resourceTypes: "sco",
      expiresOn: new Date(NOON + 3_600_000),
      ...more,
    },
    new StorageSharedKeyCredential(ACCOUNT_NAME, key),
  ).toString();
}

function withToken(token: string, service: ServiceName = "blob") {
  return () => authenticated(service, { url: `${URL}?${token}` });
}

test("tokens of every version, signed with either key, are accepted", () => {
  for (const version of ["2015-04-05", "2018-11-09", "2020-12-06", "2026-04-06", "2031-01-01"]) {
    for (const key of [KEY, SECOND_KEY]) {
      const { access } = withToken(tokenOf({ version }, key))();
      assert.deepEqual(access, { kind: "account-sas", types: "sco", letters: "rl" });
    }
  }
});

test("every optional field is signed", () => {
  const token = tokenOf({
    startsOn: new Date(NOON),
    ipRange: { start: "10.0.0.1", end: "10.0.0.9" },
    protocol: SASProtocol.HttpsAndHttp,
    encryptionScope: "scope",
  });
  assert.equal(withToken(token)().encryptionScope, "scope");
  for (const field of ["st", "se", "sip", "spr", "ses", "sp", "ss", "srt", "sv"]) {
    const without = token.replace(new RegExp(`(?<=^|&)${field}=[^&]*&`), "");
    assert.notEqual(without, token);
    assertRefused("AuthenticationFailed", withToken(without), field);
  }
});

test("a token grants the services it names, and Data Lake with Blob", () => {
  const token = tokenOf({ services: "bt" });
  for (const service of ["blob", "dfs", "table"] as const) withToken(token, service)();
  for (const service of ["queue", "file"] as const) {
    assertRefused("AuthorizationServiceMismatch", withToken(token, service));
  }
});

test("a token grants the resource types and operations it names", () => {
  const { access } = withToken(tokenOf({ resourceTypes: "o" }))();
  const need = { on: "o", account: "r", service: "r", anonymous: "never", actions: [] } as const;
  const refusal = (more: object) => judgeByAccess(access, { ...need, ...more }, null, NOON);
  assert.equal(refusal({}), null);
  assert.equal(refusal({ on: "c" }), "AuthorizationResourceTypeMismatch");
  assert.equal(refusal({ account: "w" }), "AuthorizationPermissionMismatch");
  assert.equal(refusal({ account: "" }), "AuthorizationFailure");
});

test("account tokens before 2015-04-05 are refused", () => {
  const fields = "sp=r&ss=b&srt=o&se=2030-01-02&sv=2014-02-14";
  const text = `${ACCOUNT_NAME}\nr\nb\no\n\n2030-01-02\n\n\n2014-02-14\n`;
  const token = `${fields}&sig=${encodeURIComponent(sign(text))}`;
  assertRefused("AuthenticationFailed", withToken(token));
});

test("a token for an unknown account is refused, and the refusal says so", () => {
  const url = `http://127.0.0.1:10000/nosuchaccount/c/b?${tokenOf()}`;
  const detail = assertRefused("AuthenticationFailed", () => authenticated("blob", { url }));
  assert.match(detail, /^The account 'nosuchaccount' is unknown to this server\. /);
});
