import assert from "node:assert/strict";
import { test } from "node:test";
import { type Access, callerByAcls, callerOf, judgeByAccess, type Need, OWNER } from "./access.ts";
import { BLOB_NEEDS } from "./blob-needs.ts";
import { type CallerClaims, ROLES, type RoleName } from "./roles.ts";

const REFUSED = "AuthorizationPermissionMismatch";
const ME: CallerClaims = { oid: ["me"], groups: ["ours"] };

function token(role: RoleName | null, claims = ME) {
  const found = ROLES.find(({ name }) => name === role);
  const assignment = { principal: { oid: "me" }, role: found ?? ROLES[0], container: null };
  return {
    kind: "token",
    service: "blob",
    container: "here",
    claims,
    assignments: found === undefined ? [] : [assignment],
  } as Extract<Access, { kind: "token" }>;
}

function sas(letters: string, more: object = {}): Access {
  return { kind: "service-sas", letters, policy: null, ...more };
}

/** What is judged before ACLs are, and whom these decide on. */
function told(access: Access, need: Need): string {
  const verdict = judgeByAccess(access, need, null, 0, true);
  return verdict ?? callerByAcls(access, need)?.id ?? "permitted";
}

test("keys, account SAS, service SAS and owners are judged by no ACL", () => {
  const all: Access[] = [
    OWNER,
    { kind: "owner", claims: ME },
    { kind: "account-sas", types: "sco", letters: "racwdlxytf" },
    sas("racwdlxyt"),
    token("blob-owner"),
  ];
  for (const access of all) {
    for (const need of Object.values(BLOB_NEEDS) as Need[]) {
      assert.equal(callerByAcls(access, need), null);
    }
  }
});

test("a role that permits an operation decides alone, and ACLs decide where none does", () => {
  for (const { name } of ROLES) {
    for (const need of Object.values(BLOB_NEEDS) as Need[]) {
      const access = token(name);
      const byRole = judgeByAccess(access, need, null, 0) ?? "permitted";
      const expected = byRole === REFUSED && need.acl !== undefined ? "me" : byRole;
      assert.equal(told(access, need), expected, `${name} ${need.actions.join()}`);
    }
  }
});

test("in a flat container, no ACL adds to roles", () => {
  assert.equal(judgeByAccess(token(null), BLOB_NEEDS.getBlob, null, 0), REFUSED);
  assert.equal(judgeByAccess(token(null), BLOB_NEEDS.getBlob, null, 0, true), null);
});

test("a SAS is judged by its letters first, then by its signer's roles, then by ACLs", () => {
  const { getBlob, putBlob } = BLOB_NEEDS;
  const reader = { signer: token("blob-reader"), user: { claims: ME, kind: "signer" } };
  assert.equal(told(sas("rw", reader), getBlob), "permitted");
  assert.equal(told(sas("rw", reader), putBlob), "me");
  assert.equal(told(sas("w", reader), getBlob), REFUSED);
});

test("of ACLs, only sticky bits count for an authorized user (saoid), unless the SAS has o", () => {
  const { getBlob, deleteBlob } = BLOB_NEEDS;
  const user = { claims: { oid: ["you"] }, kind: "authorized" };
  const caller = { id: "you", groups: [], isAuthorized: true };
  assert.deepEqual(callerByAcls(sas("rd", { user }), deleteBlob), caller);
  assert.equal(told(sas("r", { user }), deleteBlob), REFUSED);
  assert.equal(told(sas("rdo", { user }), deleteBlob), "permitted");
  assert.equal(told(sas("r", { user, signer: token(null) }), getBlob), "me");
});

test("a SAS for a checked user (suoid) needs letters, the signer's roles and ACLs", () => {
  const { getBlob, putBlob, getBlobTags } = BLOB_NEEDS;
  const user = { claims: { oid: ["you"] }, kind: "checked" };
  assert.equal(told(sas("rt", { user }), getBlob), "you");
  assert.equal(told(sas("w", { user }), getBlob), REFUSED);
  assert.equal(told(sas("rw", { user, signer: token("blob-reader") }), getBlob), "you");
  assert.equal(told(sas("rw", { user, signer: token("blob-reader") }), putBlob), REFUSED);
  assert.equal(told(sas("rt", { user }), getBlobTags), REFUSED);
  assert.equal(judgeByAccess(sas("r", { user }), getBlob, null, 0), REFUSED, "in a flat container");
});

test("what a request creates belongs to whoever is known of its caller", () => {
  const user = { claims: { oid: ["you"] }, kind: "authorized" };
  assert.equal(callerOf(OWNER), null);
  assert.deepEqual(callerOf({ kind: "owner", claims: ME }), { id: "me", groups: ["ours"] });
  assert.deepEqual(callerOf(token(null)), { id: "me", groups: ["ours"] });
  assert.deepEqual(callerOf(sas("r", { user })), { id: "you", groups: [] });
  assert.equal(callerOf(sas("r")), null);
  assert.equal(callerOf({ kind: "account-sas", types: "o", letters: "r" }), null);
  assert.equal(callerOf({ kind: "anonymous", hides: false }), null);
});

test("callers are named by object id, else by subject; GUIDs have no case", () => {
  const id = (claims: CallerClaims) => callerOf({ kind: "owner", claims })?.id;
  const guid = "0C0FFEE0-0000-4000-8000-00000000000A";
  assert.equal(id({ oid: [guid], sub: ["subject"] }), guid.toLowerCase());
  assert.equal(id({ sub: ["Subject"] }), "Subject");
  assert.deepEqual(callerOf({ kind: "owner", claims: { groups: [guid] } })?.groups, [
    guid.toLowerCase(),
  ]);
});

test("no claim makes a caller the super-user that owns what keys created", () => {
  const claims = { sub: ["$superuser"], groups: ["$superuser", "ours"] };
  assert.deepEqual(callerOf(token(null, claims)), { id: "", groups: ["ours"] });
});
