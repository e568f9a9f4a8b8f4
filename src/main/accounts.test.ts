import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkAccounts,
  DEVELOPMENT_ACCOUNT,
  splitAccountList,
  usesWellKnownKey,
} from "./accounts.ts";

test("an account list of one line gives each account one key or two", () => {
  assert.deepEqual(splitAccountList("shop:c2VjcmV0:b3RoZXI=; store2:dGhpcmQ=;"), [
    { name: "shop", keys: ["c2VjcmV0", "b3RoZXI="] },
    { name: "store2", keys: ["dGhpcmQ="] },
  ]);
});

test("a wrong account list is refused in one line that names the source and repeats no key", () => {
  const wrong = [
    ";",
    "shop",
    "shop:YQ==:YQ==:YQ==",
    "shop:",
    "shop:YQ==:sup*rsecret",
    "shop:sup%rsecret",
    "shop:YQ==;shop:Yg==",
    "a/b:YQ==",
    "shop-secondary:YQ==",
    ":YQ==",
  ];
  for (const text of wrong) {
    assert.throws(
      () => checkAccounts("AZURITE_ACCOUNTS", splitAccountList(text)),
      (error: Error) =>
        /^AZURITE_ACCOUNTS.*\.$/.test(error.message) && !/rsecret/.test(error.message),
      text,
    );
  }
});

test("the development account has the key that SDKs use for UseDevelopmentStorage=true", () => {
  assert.equal(DEVELOPMENT_ACCOUNT.name, "devstoreaccount1");
  assert.equal(checkAccounts("the default", [DEVELOPMENT_ACCOUNT]).byName.size, 1);
  assert.equal(usesWellKnownKey([DEVELOPMENT_ACCOUNT]), true);
  assert.equal(usesWellKnownKey(splitAccountList("devstoreaccount1:c2VjcmV0")), false);
});
