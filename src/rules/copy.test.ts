import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type BlobCopyState,
  judgeAbortOfCopy,
  judgeByPendingCopy,
  judgeOnIncrementalCopy,
} from "./copy.ts";

const ended: BlobCopyState[] = (["success", "aborted", "failed"] as const).map((status) => ({
  id: "a",
  status,
  isIncremental: false,
}));
const pending: BlobCopyState = { id: "a", status: "pending", isIncremental: false };

test("a pending copy blocks other writes, one that has ended does not", () => {
  assert.equal(judgeByPendingCopy(pending), "PendingCopyOperation");
  for (const copy of [null, ...ended]) assert.equal(judgeByPendingCopy(copy), null);
});

test("a pending copy is aborted by its id", () => {
  assert.equal(judgeAbortOfCopy(pending, "a"), null);
  assert.equal(judgeAbortOfCopy(pending, "b"), "CopyIdMismatch");
  for (const copy of [null, ...ended]) {
    assert.equal(judgeAbortOfCopy(copy, "a"), "NoPendingCopyOperation");
  }
});

test("writes to the target of an incremental copy are refused, to others not", () => {
  const incremental: BlobCopyState = { id: "a", status: "success", isIncremental: true };
  assert.equal(judgeOnIncrementalCopy(incremental), "OperationNotAllowedOnIncrementalCopyBlob");
  for (const copy of [null, pending, ...ended]) assert.equal(judgeOnIncrementalCopy(copy), null);
});
