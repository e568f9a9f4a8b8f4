import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseShareName } from "./share-name.ts";

test("a share name has 3 to 63 lower-case letters, digits and single dashes between them", () => {
  for (const name of ["abc", "a-b", "0-9", "a1b2c3", "a".repeat(63), "my-long-share-1"]) {
    assert.equal(refuseShareName(name), null, name);
  }
  for (const name of ["Abc", "a--b", "-abc", "abc-", "a_b", "a.b", "äbc", "a b", "$root", "ab/"]) {
    assert.equal(refuseShareName(name), "InvalidResourceName", name);
  }
});

test("a share name of the wrong length is out of range", () => {
  for (const name of ["", "a", "ab", "a".repeat(64), "-".repeat(10_000)]) {
    assert.equal(refuseShareName(name), "OutOfRangeInput", name);
  }
});
