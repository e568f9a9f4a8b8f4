import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DELETE,
  judgeDirectoryDelete,
  judgeMomentaryOpen,
  judgeOpen,
  judgeOpenByLease,
  type Open,
  READ,
  REST_OPENS,
  WRITE,
} from "./share-mode.ts";

const BITS = [0, 1, 2, 3, 4, 5, 6, 7];
const EVERY_OPEN: readonly Open[] = BITS.flatMap((access) =>
  BITS.map((share) => ({ access, share })),
);
/** In the order of the columns below. */
const SHARES = [0, READ, WRITE, DELETE, READ | WRITE, READ | DELETE, WRITE | DELETE, 7];
const SHARE_NAMES = ["none", "R", "W", "D", "RW", "RD", "WD", "RWD"];

test("two opens are compatible if each shares what the other does, tried on all 4,096 pairs", () => {
  for (const one of EVERY_OPEN) {
    for (const other of EVERY_OPEN) {
      const together = [READ, WRITE, DELETE].every(
        (bit) =>
          ((one.access & bit) === 0 || (other.share & bit) !== 0) &&
          ((other.access & bit) === 0 || (one.share & bit) !== 0),
      );
      const looksOnly = one.access === 0 || other.access === 0;
      const expected = together || looksOnly ? null : "SharingViolation";
      assert.equal(judgeOpen([other], one, false), expected);
    }
  }
});

test("one open among many that does not share is enough to refuse", () => {
  const shares = { access: READ, share: 7 };
  const wanted = { access: WRITE, share: 7 };
  assert.equal(judgeOpen([], wanted, false), null);
  assert.equal(judgeOpen([shares, shares], wanted, false), null);
  const denies = { access: READ, share: READ };
  assert.equal(judgeOpen([shares, denies, shares], wanted, false), "SharingViolation");
});

test("an item pending deletion cannot be opened", () => {
  for (const wanted of EVERY_OPEN) assert.equal(judgeOpen([], wanted, true), "DeletePending");
  for (const use of Object.values(REST_OPENS)) {
    assert.equal(judgeMomentaryOpen([{ access: READ, share: 7 }], use, true), "DeletePending");
  }
});

/** 1 where an open for reading with this share mode conflicts. */
const TABLE: Record<keyof typeof REST_OPENS, string> = {
  getFile: "1 0 1 1 0 0 1 0",
  listRanges: "1 0 1 1 0 0 1 0",
  putRange: "1 1 0 1 0 1 0 0",
  setFileProperties: "1 1 0 1 0 1 0 0",
  setFileMetadata: "1 1 0 1 0 1 0 0",
  abortCopyFile: "1 1 0 1 0 1 0 0",
  createFile: "1 1 1 1 1 1 0 0",
  copyFile: "1 1 1 1 1 1 0 0",
  renameFile: "1 1 1 0 1 0 0 0",
  renameDirectory: "1 1 1 0 1 0 0 0",
  replaceFile: "1 1 1 1 1 1 1 1",
  deleteFile: "1 1 1 1 1 1 1 1",
  acquireFileLease: "1 1 1 1 1 1 1 0",
  leaseFile: "0 0 0 0 0 0 0 0",
  breakFileLease: "0 0 0 0 0 0 0 0",
  getFileProperties: "0 0 0 0 0 0 0 0",
  getFileMetadata: "0 0 0 0 0 0 0 0",
};

for (const [operation, row] of Object.entries(TABLE)) {
  const use = REST_OPENS[operation as keyof typeof REST_OPENS];
  row.split(" ").forEach((cell, column) => {
    const verb = cell === "1" ? "stops at" : "passes";
    test(`${operation} ${verb} an open that shares ${SHARE_NAMES[column]}`, () => {
      const handle = { access: READ, share: SHARES[column] as number };
      const expected = cell === "1" ? "SharingViolation" : null;
      assert.equal(judgeMomentaryOpen([handle], use, false), expected);
      assert.equal(judgeMomentaryOpen([], use, false), null);
    });
  });
}

test("a lease is refused while a handle may write or delete, even if it shares everything", () => {
  for (const access of BITS) {
    const expected = (access & (WRITE | DELETE)) === 0 ? null : "SharingViolation";
    const handles = [{ access, share: 7 }];
    assert.equal(judgeMomentaryOpen(handles, REST_OPENS.acquireFileLease, false), expected);
  }
});

test("a handle that only looks at attributes prevents only the deletion of a file", () => {
  for (const [operation, use] of Object.entries(REST_OPENS)) {
    const refused = judgeMomentaryOpen([{ access: 0, share: 0 }], use, false);
    const isAlone = operation === "deleteFile" || operation === "replaceFile";
    assert.equal(refused, isAlone ? "SharingViolation" : null, operation);
  }
});

test("a leased file can be opened for reading, but not for writing or deleting", () => {
  for (const wanted of EVERY_OPEN) {
    const changes = (wanted.access & (WRITE | DELETE)) !== 0;
    assert.equal(judgeOpenByLease(true, wanted), changes ? "SharingViolation" : null);
    assert.equal(judgeOpenByLease(false, wanted), null);
  }
});

test("a directory that a client has open is not deleted", () => {
  assert.equal(judgeDirectoryDelete(0, false), null);
  assert.equal(judgeDirectoryDelete(1, false), "CannotDeleteFileOrDirectory");
  assert.equal(judgeDirectoryDelete(1, true), "DeletePending");
});
