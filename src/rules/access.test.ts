import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Access,
  type Guard,
  judgeByAccess,
  judgeByKeyRange,
  judgeOverwrite,
  type KeyRange,
  type Need,
  OWNER,
  type PublicAccess,
  type StoredPolicy,
} from "./access.ts";

const NOW = 1_000_000;

function need(more: Partial<Need>): Need {
  return { on: "o", account: "r", service: "r", anonymous: "never", actions: [], ...more };
}

function guarded(publicAccess: PublicAccess, policies: readonly StoredPolicy[] = []): Guard {
  return { publicAccess, policies };
}

test("the owner may do everything", () => {
  assert.equal(judgeByAccess(OWNER, need({ account: "", service: "" }), null, NOW), null);
  assert.equal(judgeOverwrite(OWNER, null, NOW), null);
});

test("anonymous callers may do what the container's public access permits, and nothing else", () => {
  const open: Record<PublicAccess, Need["anonymous"][]> = {
    none: [],
    blob: ["blob"],
    container: ["blob", "container"],
  };
  for (const level of ["none", "blob", "container"] as const) {
    for (const anonymous of ["never", "blob", "container"] as const) {
      const asked = need({ anonymous });
      const told = (hides: boolean, guard: Guard | null) =>
        judgeByAccess({ kind: "anonymous", hides }, asked, guard, NOW);
      const opens = open[level].includes(anonymous);
      assert.equal(told(false, guarded(level)), opens ? null : "NoAuthenticationInformation");
      assert.equal(told(true, guarded(level)), opens ? null : "ResourceNotFound");
      assert.equal(told(false, null), "NoAuthenticationInformation");
    }
  }
});

test("an account SAS permits by resource type, then by letter", () => {
  const access: Access = { kind: "account-sas", types: "so", letters: "rw" };
  const told = (more: Partial<Need>) => judgeByAccess(access, need(more), null, NOW);
  assert.equal(told({}), null);
  assert.equal(told({ on: "s", account: "w" }), null);
  assert.equal(told({ account: "dw" }), null);
  assert.equal(told({ on: "c" }), "AuthorizationResourceTypeMismatch");
  assert.equal(told({ account: "d" }), "AuthorizationPermissionMismatch");
  assert.equal(told({ account: "" }), "AuthorizationFailure");
  assert.equal(told({ account: "", on: "c" }), "AuthorizationFailure");
});

test("an operation that needs every letter is refused with only one", () => {
  const told = (letters: string) =>
    judgeByAccess(
      { kind: "account-sas", types: "o", letters },
      need({ account: "au", every: true }),
      null,
      NOW,
    );
  assert.equal(told("aru"), null);
  assert.equal(told("a"), "AuthorizationPermissionMismatch");
  assert.equal(told("u"), "AuthorizationPermissionMismatch");
});

test("a service SAS permits by letter", () => {
  const access: Access = { kind: "service-sas", letters: "r", policy: null };
  const told = (service: string) => judgeByAccess(access, need({ service }), null, NOW);
  assert.equal(told("r"), null);
  assert.equal(told("wr"), null);
  assert.equal(told("w"), "AuthorizationPermissionMismatch");
  assert.equal(told(""), "AuthorizationFailure");
});

/** Token and policy together, with every part in one, both, or neither. */
test("start, expiry and letters each stand in the token or in the policy, not in both", () => {
  const sides = ["token", "policy", "both", "neither"] as const;
  const of = <T>(side: (typeof sides)[number], where: "token" | "policy", value: T): T | null =>
    side === where || side === "both" ? value : null;
  for (const start of sides) {
    for (const expiry of sides) {
      for (const letters of sides) {
        const access: Access = {
          kind: "service-sas",
          letters: of(letters, "token", "r"),
          policy: {
            id: "p",
            startMs: of(start, "token", NOW - 1),
            expiryMs: of(expiry, "token", NOW + 1),
          },
        };
        const policy: StoredPolicy = {
          id: "p",
          letters: of(letters, "policy", "r"),
          startMs: of(start, "policy", NOW - 1),
          expiryMs: of(expiry, "policy", NOW + 1),
        };
        const whole = [start, expiry, letters].every((side) => side !== "both");
        const enough = expiry !== "neither" && letters !== "neither";
        assert.equal(
          judgeByAccess(access, need({}), guarded("none", [policy]), NOW),
          whole && enough ? null : "AuthenticationFailed",
          `start ${start}, expiry ${expiry}, letters ${letters}`,
        );
      }
    }
  }
});

const BY_POLICY: Access = {
  kind: "service-sas",
  letters: null,
  policy: { id: "p", startMs: null, expiryMs: null },
};

test("a policy counts while it exists and for as long as it says", () => {
  const policy: StoredPolicy = { id: "p", letters: "r", startMs: NOW, expiryMs: NOW + 10 };
  const told = (policies: readonly StoredPolicy[], now: number) =>
    judgeByAccess(BY_POLICY, need({}), guarded("none", policies), now);
  assert.equal(told([policy], NOW), null);
  assert.equal(told([policy], NOW + 9), null);
  assert.equal(told([policy], NOW - 1), "AuthenticationFailed");
  assert.equal(told([policy], NOW + 10), "AuthenticationFailed");
  assert.equal(told([], NOW), "AuthenticationFailed");
  assert.equal(told([{ ...policy, id: "P" }], NOW), "AuthenticationFailed");
  assert.equal(told([{ ...policy, letters: "w" }], NOW), "AuthorizationPermissionMismatch");
  assert.equal(judgeByAccess(BY_POLICY, need({}), null, NOW), "AuthenticationFailed");
});

test("a SAS that may only create must not overwrite", () => {
  const policies = [{ id: "p", letters: "cw", startMs: null, expiryMs: NOW + 1 }];
  const told = (access: Access) => judgeOverwrite(access, guarded("none", policies), NOW);
  const sas = (letters: string): Access => ({ kind: "service-sas", letters, policy: null });
  assert.equal(told(sas("cw")), null);
  assert.equal(told(sas("c")), "UnauthorizedBlobOverwrite");
  assert.equal(told(BY_POLICY), null);
  assert.equal(
    told({ kind: "account-sas", types: "o", letters: "rc" }),
    "UnauthorizedBlobOverwrite",
  );
  assert.equal(told({ kind: "account-sas", types: "o", letters: "w" }), null);
  assert.equal(told({ kind: "anonymous", hides: false }), "NoAuthenticationInformation");
});

test("a key range includes its ends, and its row bounds count only in their own partitions", () => {
  const range: KeyRange = {
    table: "people",
    startPartition: "b",
    startRow: "5",
    endPartition: "d",
    endRow: "5",
  };
  const inside = (partition: string, row: string, within: KeyRange | null = range) =>
    judgeByKeyRange(within, "People", partition, row) === null;
  for (const [partition, row, expected] of [
    ["a", "9", false],
    ["b", "4", false],
    ["b", "5", true],
    ["b", "9", true],
    ["c", "0", true],
    ["d", "0", true],
    ["d", "5", true],
    ["d", "6", false],
    ["e", "0", false],
  ] as const) {
    assert.equal(inside(partition, row), expected, `${partition} ${row}`);
  }
  const open = { startPartition: null, startRow: null, endPartition: null, endRow: null };
  assert.ok(inside("", "", { table: "people", ...open }));
  assert.ok(inside("d", "9", { ...range, endRow: null }));
  assert.ok(inside("b", "", { ...range, startRow: null }));
  assert.ok(inside("z", "z", null));
  assert.equal(judgeByKeyRange(range, "other", "c", "5"), "AuthorizationFailure");
});
