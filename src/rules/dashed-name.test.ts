import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeDashedName } from "./dashed-name.ts";

test("a name with dashes has 3 to 63 lower-case letters, digits and single dashes between them", () => {
  for (const name of ["abc", "a-b", "0-9", "a1b2c3", "a".repeat(63), "my-long-name-1"]) {
    assert.equal(judgeDashedName(name), null, name);
  }
  for (const name of ["Abc", "a--b", "-abc", "abc-", "a_b", "a.b", "äbc", "a b", "$root", "ab/"]) {
    assert.equal(judgeDashedName(name), "InvalidResourceName", name);
  }
});

test("a name of the wrong length is out of range", () => {
  for (const name of ["", "a", "ab", "a".repeat(64), "-".repeat(10_000)]) {
    assert.equal(judgeDashedName(name), "ResourceNameLength", name);
  }
});
