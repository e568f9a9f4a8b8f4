import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseContainerName, refuseNewContainerName } from "./container-name.ts";

test("the service's own containers have names that nobody else may choose", () => {
  for (const name of ["$root", "$web", "$logs", "$blobchangefeed"]) {
    assert.equal(refuseContainerName(name), null, name);
    const refused = name === "$blobchangefeed" ? "InvalidResourceName" : null;
    assert.equal(refuseNewContainerName(name), refused, name);
  }
  for (const name of ["abc", "my-long-container-1"]) assert.equal(refuseContainerName(name), null);
  for (const name of ["$roots", "Abc", "a_b"]) {
    assert.equal(refuseContainerName(name), "InvalidResourceName", name);
    assert.equal(refuseNewContainerName(name), "InvalidResourceName", name);
  }
  assert.equal(refuseContainerName("$r"), "ResourceNameLength");
});
