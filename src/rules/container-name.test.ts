import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeContainerName, judgeNewContainerName } from "./container-name.ts";

test("the names of the service's own containers are reserved", () => {
  for (const name of ["$root", "$web", "$logs", "$blobchangefeed"]) {
    assert.equal(judgeContainerName(name), null, name);
    const refused = name === "$blobchangefeed" ? "InvalidResourceName" : null;
    assert.equal(judgeNewContainerName(name), refused, name);
  }
  for (const name of ["abc", "my-long-container-1"]) assert.equal(judgeContainerName(name), null);
  for (const name of ["$roots", "Abc", "a_b"]) {
    assert.equal(judgeContainerName(name), "InvalidResourceName", name);
    assert.equal(judgeNewContainerName(name), "InvalidResourceName", name);
  }
  assert.equal(judgeContainerName("$r"), "ResourceNameLength");
});
