import assert from "node:assert/strict";
import { test } from "node:test";
import { OWNER } from "../../../rules/access.ts";
import { ROLES, type Role } from "../../../rules/roles.ts";
import { type Account, accountsOf } from "./account.ts";
import {
  accessByRoles,
  accessOfToken,
  accessTo,
  callerClaims,
  hasAccountAccess,
  signerClaims,
} from "./token-access.ts";

const [role] = ROLES as [Role];
const ASSIGNMENT = { principal: { oid: "me" }, role, container: null };
const RESOURCE = { service: "dfs", container: "box", name: "blob" } as const;

function account(roles: (typeof ASSIGNMENT)[]): Account {
  return accountsOf([{ name: "shop", keys: ["YQ=="], roles }]).byName.get("shop") as Account;
}

test("the claims that roles name are taken from a token, and nothing else", () => {
  const claims = {
    oid: "ID",
    tid: "TENANT",
    sub: "Subject",
    iss: "https://Issuer",
    appid: "app",
    azp: "Party",
    groups: ["A", "b"],
    roles: "Admin",
    aud: "storage",
    name: "Me",
  };
  assert.deepEqual(callerClaims(claims), {
    oid: ["id"],
    tid: ["tenant"],
    sub: ["Subject"],
    iss: ["https://Issuer"],
    appid: ["app", "Party"],
    groups: ["A", "b"],
    roles: ["Admin"],
  });
});

test("claims of another type, and empty ones, name nobody", () => {
  const odd = { oid: 1, sub: "", groups: [null, {}, "", ["a"]], roles: { admin: true } };
  assert.deepEqual(callerClaims(odd as never), {});
});

test("the signer of a SAS is known as the key names it: in a directory, or at an issuer", () => {
  const inDirectory = signerClaims({ objectId: "ID", tenantId: "TENANT" });
  assert.deepEqual(inDirectory, { oid: ["id"], tid: ["tenant"] });
  const atIssuer = signerClaims({ objectId: "Me", tenantId: "https://Issuer" });
  assert.deepEqual(atIssuer, { sub: ["Me"], iss: ["https://Issuer"] });
});

test("a token is an owner in an account without roles, and else has the access of its roles", () => {
  const claims = { oid: ["me"] };
  assert.deepEqual(accessOfToken(account([]), claims, RESOURCE), { kind: "owner", claims });
  assert.equal(accessByRoles(account([]), {}, RESOURCE), null);
  const access = accessOfToken(account([ASSIGNMENT]), claims, RESOURCE);
  const expected = { kind: "token", claims, assignments: [ASSIGNMENT], container: "box" };
  assert.deepEqual(access, { ...expected, service: "blob" });
  const elsewhere = { ...expected, service: "file", container: "share" };
  assert.deepEqual(accessTo(access, "file", "share"), elsewhere);
  assert.equal(accessTo(OWNER, "file", "share"), OWNER);
  assert.equal(hasAccountAccess(access), true);
  assert.equal(hasAccountAccess({ kind: "service-sas", letters: "r", policy: null }), false);
});
