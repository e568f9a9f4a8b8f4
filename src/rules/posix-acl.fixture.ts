import assert from "node:assert/strict";
import fc from "fast-check";
import { type AccessControl, changedAcl, SUPER_USER } from "./posix-acl.ts";
import { parseAcl } from "./posix-acl-text.ts";

/** The access control that a text describes. */
export function controlOf(
  text: string,
  more: Partial<Pick<AccessControl, "owner" | "group" | "isSticky">> = {},
): AccessControl {
  const nothing = { user: 0, group: 0, other: 0, mask: null, users: [], groups: [] };
  const empty: AccessControl = {
    owner: SUPER_USER,
    group: SUPER_USER,
    isSticky: false,
    access: nothing,
    defaults: null,
    ...more,
  };
  const entries = parseAcl(text);
  assert.ok(entries.value !== null, `${text}: ${entries.reason}`);
  const { value, reason } = changedAcl(empty, { mode: "set", entries: entries.value }, true);
  assert.ok(value !== null, `${text}: ${reason}`);
  return value;
}

const RIGHTS = fc
  .integer({ min: 0, max: 7 })
  .map((rights) => ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"][rights] ?? "");

/** Texts of ACLs with named users and groups out of a few, in any order. */
export function aclTexts(ids: readonly string[], scope = ""): fc.Arbitrary<string> {
  const named = fc.uniqueArray(
    fc.tuple(fc.constantFrom("user", "group"), fc.constantFrom(...ids), RIGHTS),
    { selector: ([type, id]) => `${type}:${id}`, maxLength: 6 },
  );
  return fc
    .tuple(RIGHTS, RIGHTS, RIGHTS, fc.option(RIGHTS), named)
    .chain(([user, group, other, mask, all]) =>
      fc.shuffledSubarray(
        [
          `user::${user}`,
          `group::${group}`,
          `other::${other}`,
          ...(mask === null ? [] : [`mask::${mask}`]),
          ...all.map(([type, id, rights]) => `${type}:${id}:${rights}`),
        ],
        { minLength: 3 + (mask === null ? 0 : 1) + all.length },
      ),
    )
    .map((entries) => entries.map((entry) => scope + entry).join(","));
}
