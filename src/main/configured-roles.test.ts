import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config-file.ts";
import { UsageError } from "./start-error.ts";

const OID = "11111111-2222-4333-8444-555555555555";
const ACCOUNTS = [
  { name: "shop", keys: ["YQ=="] },
  { name: "store", keys: ["YQ=="] },
];

/** The roles of both accounts, as `role name, principal, container`. */
function rolesOf(...given: unknown[]) {
  const { roles } = readConfig("lazuli.json", JSON.stringify({ roles: given }));
  return roles
    ?.of(ACCOUNTS)
    .map(({ roles: own = [] }) =>
      own.map(({ role, principal, container }) => [role.name, principal, container]),
    );
}

test("a role covers all accounts, one account, or one container of it", () => {
  const principal = { oid: OID };
  const role = "blob-reader";
  const everywhere = ["blob-reader", principal, null];
  assert.deepEqual(rolesOf(), [[], []]);
  assert.deepEqual(rolesOf({ principal, role }), [[everywhere], [everywhere]]);
  assert.deepEqual(rolesOf({ principal, role, scope: "store" }), [[], [everywhere]]);
  const inBox = ["blob-reader", principal, "$web"];
  assert.deepEqual(rolesOf({ principal, role, scope: "shop/$web" }), [[inBox], []]);
  const inTable = ["table-reader", principal, "people"];
  const people = { principal, role: "table-reader", scope: "shop/People" };
  assert.deepEqual(rolesOf(people), [[inTable], []]);
});

test("a role has a short name, and the name that Azure gives it", () => {
  const principal = { sub: "me" };
  const title = "Storage Queue Data Message Processor";
  const read = ["queue-processor", principal, null];
  assert.deepEqual(rolesOf({ principal, role: "queue-processor", scope: "shop" })?.[0], [read]);
  assert.deepEqual(rolesOf({ principal, role: title, scope: "shop" })?.[0], [read]);
});

test("a principal has one claim or several, and its GUIDs are in lower case", () => {
  const upper = { oid: OID.toUpperCase().replace("5", "A"), tid: OID };
  const claims = { ...upper, sub: "Me", iss: "https://x", appid: "app", groups: "G", roles: "R" };
  const read = rolesOf({ principal: claims, role: "blob-reader" })?.[0]?.[0];
  assert.deepEqual(read?.[1], { ...claims, oid: upper.oid.toLowerCase() });
});

test("a mistake in a role is refused in one line that names it", () => {
  const principal = { oid: OID };
  const role = "blob-reader";
  const wrong: [RegExp, unknown][] = [
    [/^lazuli\.json:1:11: "roles\[0\]" must be an object\.$/, "blob-reader"],
    [/"roles\[0\]\.principal" is missing/, { role }],
    [/"roles\[0\]\.principal" must be an object/, { principal: OID, role }],
    [/"roles\[0\]\.principal" must name at least one claim: oid, tid/, { principal: {}, role }],
    [/"roles\[0\]\.principal\.email" is not known/, { principal: { email: "a@b" }, role }],
    [/"roles\[0\]\.principal\.oid" must be a GUID/, { principal: { oid: "a@b.example" }, role }],
    [/"roles\[0\]\.principal\.tid" must be a GUID/, { principal: { tid: `{${OID}}` }, role }],
    [/"roles\[0\]\.principal\.groups" has blanks/, { principal: { groups: " a" }, role }],
    [/"roles\[0\]\.principal\.sub" has blanks/, { principal: { sub: "a\n" }, role }],
    [/"roles\[0\]\.principal\.sub" must be a text/, { principal: { sub: "" }, role }],
    [/"roles\[0\]\.role" is missing/, { principal }],
    [
      /"roles\[0\]\.role" is not a role\. There is: account-contributor, /,
      { principal, role: "x" },
    ],
    [/"roles\[0\]\.scope" names the account "shops"\. There is: shop, store\.$/, scoped("shops")],
    [/"roles\[0\]\.scope" must be "account" or "account\/container"/, scoped("shop/a/b")],
    [/"roles\[0\]\.scope" must be "account" or/, scoped("shop/")],
    [/"roles\[0\]\.scope" must be "account" or/, scoped("/box")],
    [/"roles\[0\]\.scope": The name of a container/, scoped("shop/Box")],
    [/"roles\[0\]\.scope": The name of a table/, scoped("shop/a-b", "table-reader")],
    [
      /"roles\[0\]\.scope" must be an account: blob-delegator/,
      scoped("shop/box", "blob-delegator"),
    ],
    [/"roles\[0\]\.scopes" is not known here/, { principal, role, scopes: "shop" }],
  ];
  for (const [message, given] of wrong) {
    assert.throws(
      () => rolesOf(given),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  }

  function scoped(scope: string, name = role) {
    return { principal, role: name, scope };
  }
});
