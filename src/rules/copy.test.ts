import assert from "node:assert/strict";
import { test } from "node:test";
import { type CopyState, refuseAbortOfCopy, refuseByPendingCopy } from "./copy.ts";

const ended: CopyState[] = (["success", "aborted", "failed"] as const).map((status) => ({
  id: "a",
  status,
}));
const pending: CopyState = { id: "a", status: "pending" };

test("a copy that is under way keeps others from writing, one that has ended does not", () => {
  assert.equal(refuseByPendingCopy(pending), "PendingCopyOperation");
  for (const copy of [null, ...ended]) assert.equal(refuseByPendingCopy(copy), null);
});

test("a copy is ended by its id while it is under way", () => {
  assert.equal(refuseAbortOfCopy(pending, "a"), null);
  assert.equal(refuseAbortOfCopy(pending, "b"), "CopyIdMismatch");
  for (const copy of [null, ...ended]) {
    assert.equal(refuseAbortOfCopy(copy, "a"), "NoPendingCopyOperation");
  }
});
