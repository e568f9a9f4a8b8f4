import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "../front/outcome.ts";
import { STATUS } from "../front/smb/nt-status.ts";
import { isLogged } from "./logged-outcomes.ts";

function smb(operation: string, status: number, code: string | null = null): boolean {
  return isLogged({ service: "smb", operation, status, code } as Outcome);
}

test("every REST request is logged", () => {
  for (const status of [200, 304, 404]) {
    assert.equal(isLogged({ service: "blob", status, code: null } as Outcome), true);
  }
});

test("of SMB, log-ons, shares, opens and refusals are logged, and no traffic", () => {
  const begins = ["Negotiate", "SessionSetup", "Logoff", "TreeConnect", "TreeDisconnect", "Create"];
  for (const operation of begins) assert.equal(smb(operation, STATUS.SUCCESS), true, operation);
  for (const operation of ["Read", "Write", "Close", "QueryInfo", "QueryDirectory", "Lock"]) {
    assert.equal(smb(operation, STATUS.SUCCESS), false, operation);
  }
  assert.equal(smb("Lock", STATUS.LOCK_NOT_GRANTED, "STATUS_LOCK_NOT_GRANTED"), true);
  assert.equal(smb("Write", STATUS.ACCESS_DENIED, "STATUS_ACCESS_DENIED"), true);
  assert.equal(smb("SessionSetup", STATUS.MORE_PROCESSING_REQUIRED), false);
  assert.equal(smb("QueryDirectory", STATUS.NO_MORE_FILES), false);
  assert.equal(smb("Read", STATUS.END_OF_FILE, "STATUS_END_OF_FILE"), false);
  assert.equal(smb("ChangeNotify", STATUS.CANCELLED, "STATUS_CANCELLED"), false);
});
