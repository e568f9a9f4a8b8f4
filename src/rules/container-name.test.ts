import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseContainerName } from "./container-name.ts";

test("a container name has 3 to 63 lower-case letters, digits and single dashes between them", () => {
  for (const name of ["abc", "a-b", "0-9", "a1b2c3", "a".repeat(63), "my-long-container-1"]) {
    assert.equal(refuseContainerName(name), null, name);
  }
  for (const name of ["Abc", "a--b", "-abc", "abc-", "a_b", "a.b", "äbc", "a b", "$other", "ab/"]) {
    assert.equal(refuseContainerName(name), "InvalidResourceName", name);
  }
});

test("a container name of the wrong length is out of range", () => {
  for (const name of ["", "a", "ab", "a".repeat(64), "-".repeat(10_000)]) {
    assert.equal(refuseContainerName(name), "OutOfRangeInput", name);
  }
});

test("the service's own containers have names that nobody else may choose", () => {
  for (const name of ["$root", "$web", "$logs", "$blobchangefeed"]) {
    assert.equal(refuseContainerName(name), null, name);
  }
  assert.equal(refuseContainerName("$roots"), "InvalidResourceName");
});
