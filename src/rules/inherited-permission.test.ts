import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSddl, writeSddl } from "../base/sddl.ts";
import type { SecurityDescriptor } from "../base/security-descriptor.ts";
import { inheritedPermission } from "./inherited-permission.ts";

function inherited(sddl: string, isDirectory: boolean): string {
  const { descriptor } = parseSddl(sddl);
  return writeSddl(inheritedPermission(descriptor as SecurityDescriptor, isDirectory));
}

const PARENT = "O:SYG:BAD:(A;OICI;FA;;;SY)(A;CI;FR;;;BA)(A;OI;FW;;;AU)(A;;FX;;;WD)";

test("a file inherits the object entries, and passes nothing on", () => {
  assert.equal(inherited(PARENT, false), "O:SYG:BAD:AI(A;ID;FA;;;SY)(A;ID;FW;;;AU)");
});

test("a directory inherits the container entries, and passes on the object entries", () => {
  assert.equal(
    inherited(PARENT, true),
    "O:SYG:BAD:AI(A;OICIID;FA;;;SY)(A;CIID;FR;;;BA)(A;OIIOID;FW;;;AU)",
  );
});

test("entries that do not propagate end with the first level", () => {
  const parent = "O:SYG:BAD:(A;OICINP;FA;;;SY)(A;OINP;FW;;;AU)";
  assert.equal(inherited(parent, true), "O:SYG:BAD:AI(A;ID;FA;;;SY)");
  assert.equal(inherited(parent, false), "O:SYG:BAD:AI(A;ID;FA;;;SY)(A;ID;FW;;;AU)");
});

test("the creator's rights become the owner's, and are passed on as the creator's", () => {
  const parent = "O:SYG:BAD:(A;OICI;FA;;;CO)";
  assert.equal(inherited(parent, false), "O:SYG:BAD:AI(A;ID;FA;;;SY)");
  assert.equal(inherited(parent, true), "O:SYG:BAD:AI(A;ID;FA;;;SY)(A;OICIIOID;FA;;;CO)");
});
