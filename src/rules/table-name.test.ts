import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeTableName } from "./table-name.ts";

test("a table's name is a letter and then letters and digits, 3 to 63 in all", () => {
  for (const good of ["abc", "A12", `a${"x".repeat(62)}`]) assert.equal(judgeTableName(good), null);
  for (const bad of ["1ab", "a-b", "a_b", "äbc", "a b", "ab'"]) {
    assert.equal(judgeTableName(bad), "InvalidResourceName", bad);
  }
  for (const bad of ["", "ab", `a${"x".repeat(63)}`]) {
    assert.equal(judgeTableName(bad), "ResourceNameLength", bad);
  }
});

test("the name of the list of tables is reserved", () => {
  for (const name of ["tables", "Tables", "TABLES"]) {
    assert.equal(judgeTableName(name), "InvalidResourceName");
  }
});
