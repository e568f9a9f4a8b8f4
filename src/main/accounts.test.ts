import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkAccounts,
  DEVELOPMENT_ACCOUNT,
  splitAccountList,
  usesWellKnownKey,
  weakKeys,
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
    "shop:sup*rsecret:*",
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

test("keys that are short or not canonical Base64 are weak, and the sentence repeats no key", () => {
  const long = Buffer.alloc(16, "k").toString("base64");
  assert.deepEqual(weakKeys(splitAccountList(`shop:${long}`)), []);
  const weak = weakKeys(splitAccountList(`shop:${long}:c2VjcmV0;a:sup*rsecret;b:${long}=`));
  assert.deepEqual(weak, [
    'a key of the account "shop" is shorter than 16 bytes and can be guessed',
    'a key of the account "a" is not canonical Base64, which some clients refuse',
    'a key of the account "b" is not canonical Base64, which some clients refuse',
  ]);
});

test("the development account has the key that SDKs use for UseDevelopmentStorage=true", () => {
  assert.equal(DEVELOPMENT_ACCOUNT.name, "devstoreaccount1");
  assert.equal(checkAccounts("the default", [DEVELOPMENT_ACCOUNT]).byName.size, 1);
  assert.equal(usesWellKnownKey([DEVELOPMENT_ACCOUNT]), true);
  assert.equal(usesWellKnownKey(splitAccountList("devstoreaccount1:c2VjcmV0")), false);
});
