import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { stampOfIso } from "../../../base/stamp.ts";
import { parseQuery } from "../http/query.ts";
import { requireCurrentRevision, revisionOf } from "./blob-revision.ts";

const ID = "2026-11-16T00:17:23.1234567Z";

function refused(name: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof Fault &&
    error.code === "InvalidQueryParameterValue" &&
    error.detail.QueryParameterName === name;
}

test("a query names a snapshot or a version by its id, or the current blob", () => {
  const stamp = stampOfIso(ID);
  assert.deepEqual(revisionOf(parseQuery(`snapshot=${ID}`)), { kind: "snapshot", stamp });
  assert.deepEqual(revisionOf(parseQuery(`versionid=${ID}`)), { kind: "version", stamp });
  assert.equal(revisionOf(parseQuery("comp=metadata")), null);
});

test("an invalid id, or both ids at once, are refused by name", () => {
  for (const name of ["snapshot", "versionid"]) {
    for (const value of ["", "yesterday", "2026-11-16T00:17:23Z", "2026-02-30T00:00:00.0000000Z"]) {
      assert.throws(() => revisionOf(parseQuery(`${name}=${value}`)), refused(name), value);
    }
  }
  assert.throws(() => revisionOf(parseQuery(`snapshot=${ID}&versionid=${ID}`)), {
    code: "MutuallyExclusiveQueryParameters",
  });
});

test("operations on the current blob take no id", () => {
  for (const name of ["snapshot", "versionid"]) {
    assert.throws(() => requireCurrentRevision(parseQuery(`${name}=${ID}`)), refused(name));
  }
  requireCurrentRevision(parseQuery("comp=metadata"));
});
