import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aclTexts, controlOf } from "./posix-acl.fixture.ts";
import {
  type AccessControl,
  type AclNeed,
  type Caller,
  changedAcl,
  judgeByAcl,
  judgeDeleteBelow,
  judgeList,
  judgeNewOwners,
  judgeTraverse,
  type NewItem,
  newAccessControl,
  rightsOf,
  rootAccessControl,
  withMode,
} from "./posix-acl.ts";
import { formatAcl, formatMode, parseAcl, parseAclNames } from "./posix-acl-text.ts";

const REFUSED = "AuthorizationPermissionMismatch";

/** Whether an ACL grants a right, in the words of the service's documentation. */
function grants(acl: string, owner: string, group: string, caller: Caller, right: string): boolean {
  const entries = acl.split(",").map((entry) => {
    const [type = "", id = "", rights = ""] = entry.split(":");
    return { type, id, grants: rights.includes(right) };
  });
  const mask = entries.find((entry) => entry.type === "mask")?.grants ?? true;

  if (caller.id === owner) {
    return entries.some((entry) => entry.type === "user" && entry.id === "" && entry.grants);
  }
  for (const entry of entries) {
    if (entry.type === "user" && entry.id === caller.id) return entry.grants && mask;
  }
  let isMember = false;
  let isGranted = false;
  for (const entry of entries) {
    if (entry.type !== "group") continue;
    if (!caller.groups.includes(entry.id === "" ? group : entry.id)) continue;
    isMember = true;
    if (entry.grants) isGranted = true;
  }
  if (isMember) return isGranted && mask;
  return entries.some((entry) => entry.type === "other" && entry.grants);
}

function assertRights(acl: string, caller: Caller): void {
  const rights = rightsOf(controlOf(acl, { owner: "owner", group: "owners" }), caller);
  for (const [letter, bit] of [["r", 4] as const, ["w", 2] as const, ["x", 1] as const]) {
    const expected = grants(acl, "owner", "owners", caller, letter);
    assert.equal((rights & bit) !== 0, expected, `${letter} of ${acl} for ${caller.id}`);
  }
}

/** Every caller: an owner, a named user or a stranger, in each subset of three groups. */
function everyCaller(): Caller[] {
  const groups = subsets(["owners", "one", "two"]);
  return ["owner", "named", "stranger"].flatMap((id) => groups.map((all) => ({ id, groups: all })));
}

function subsets(all: readonly string[]): string[][] {
  const [first, ...rest] = all;
  if (first === undefined) return [[]];
  const without = subsets(rest);
  return [...without, ...without.map((some) => [first, ...some])];
}

function combinations(lists: readonly (readonly string[])[]): string[][] {
  const [first, ...rest] = lists;
  if (first === undefined) return [[]];
  const tails = combinations(rest);
  return first.flatMap((one) => tails.map((tail) => [one, ...tail]));
}

test("every caller has the rights of the documentation, whatever each entry grants", () => {
  // Each right is independent of the others, so all three are tried at once.
  const rights = ["---", "rwx"];
  const optional = (name: string) => ["", ...rights.map((some) => `${name}:${some}`)];
  const acls = combinations([
    rights.map((some) => `user::${some}`),
    rights.map((some) => `group::${some}`),
    rights.map((some) => `other::${some}`),
    optional("user:named"),
    optional("group:one"),
    optional("group:two"),
    optional("mask:"),
  ]).map((entries) => entries.filter((entry) => entry !== ""));
  for (const entries of acls) {
    const isNamed = entries.some((entry) => /^(user|group):[^:]/.test(entry));
    // Without a mask, one is calculated, which a test below checks.
    if (isNamed && !entries.some((entry) => entry.startsWith("mask"))) continue;
    for (const caller of everyCaller()) assertRights(entries.join(","), caller);
  }
});

test("every combination of rights counts as its single rights do", () => {
  const all = ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"];
  for (const [one = "", two = "", mask = ""] of combinations([all, all, all])) {
    for (const caller of everyCaller()) {
      const named = `user::${one},user:named:${one},group:one:${one},group:two:${two}`;
      assertRights(`${named},group::${two},mask::${mask},other::${one}`, caller);
    }
  }
});

test("any ACL grants what the documentation says", () => {
  const callers = fc.record({
    id: fc.constantFrom("owner", "a", "b", "c"),
    groups: fc.subarray(["owners", "a", "b", "c"]),
  });
  fc.assert(
    fc.property(aclTexts(["a", "b", "c", "owner", "owners"]), callers, (text, caller) => {
      const shown = formatAcl(controlOf(text));
      assertRights(shown, caller);
    }),
    { numRuns: 2_000 },
  );
});

/** What each need asks for, in letters: of the parent, of the item, and whether sticky counts. */
const NEEDS: Readonly<Record<AclNeed, readonly [parent: string, item: string, sticky: boolean]>> = {
  traverse: ["", "", false],
  read: ["", "r", false],
  write: ["", "w", false],
  execute: ["", "x", false],
  append: ["", "rw", false],
  list: ["", "rx", false],
  create: ["wx", "", true],
  delete: ["wx", "", true],
  own: ["", "", false],
};

test("each operation needs its rights of parent and item, and no others", () => {
  const caller = { id: "me", groups: [] };
  const letters = ["", "r", "w", "x", "rw", "rx", "wx", "rwx"];
  for (const need of Object.keys(NEEDS) as AclNeed[]) {
    const [ofParent, ofItem, sticky] = NEEDS[need];
    for (const parentRights of letters) {
      for (const itemRights of letters) {
        for (const isSticky of [false, true]) {
          for (const [parentOwner, itemOwner] of [
            ["me", "me"],
            ["me", "you"],
            ["you", "me"],
            ["you", "you"],
          ] as const) {
            const parent = granting(parentRights, parentOwner, isSticky);
            const item = granting(itemRights, itemOwner, false);
            const isOwner = parentOwner === "me" || itemOwner === "me";
            const expected =
              includes(parentRights, ofParent) &&
              includes(itemRights, ofItem) &&
              (!sticky || !isSticky || isOwner) &&
              (need !== "own" || itemOwner === "me");
            const told = judgeByAcl(parent, item, caller, need);
            const name = [need, parentRights, itemRights, isSticky, parentOwner, itemOwner].join();
            assert.equal(told, expected ? null : REFUSED, name);
            const free = judgeByAcl(parent, null, caller, need);
            assert.equal(free, includes(parentRights, ofParent) ? null : REFUSED, name);
          }
        }
      }
    }
  }
});

test("directories on the way need x, listed ones r and x, those below a deleted one all", () => {
  const caller = { id: "me", groups: [] };
  for (const letters of ["", "r", "w", "x", "rw", "rx", "wx", "rwx"]) {
    const directory = granting(letters, "you", false);
    const lists = letters.includes("r") && letters.includes("x");
    assert.equal(judgeList(directory, caller), lists ? null : REFUSED);
    assert.equal(judgeTraverse(directory, caller), letters.includes("x") ? null : REFUSED);
    assert.equal(judgeDeleteBelow(directory, caller), letters === "rwx" ? null : REFUSED);
  }
});

/** Grants the same to everybody. */
function granting(letters: string, owner: string, isSticky: boolean): AccessControl {
  const rights = [..."rwx"].map((one) => (letters.includes(one) ? one : "-")).join("");
  return controlOf(`user::${rights},group::${rights},other::${rights}`, { owner, isSticky });
}

function includes(letters: string, wanted: string): boolean {
  return [...wanted].every((letter) => letters.includes(letter));
}

test("for an authorized caller only the sticky bit counts", () => {
  const caller = { id: "me", groups: [], isAuthorized: true };
  for (const need of Object.keys(NEEDS) as AclNeed[]) {
    for (const isSticky of [false, true]) {
      for (const [parentOwner, itemOwner] of [
        ["me", "you"],
        ["you", "me"],
        ["you", "you"],
      ] as const) {
        const parent = granting("", parentOwner, isSticky);
        const item = granting("", itemOwner, false);
        const isOwner = parentOwner === "me" || itemOwner === "me";
        const permits = !NEEDS[need][2] || !isSticky || isOwner;
        assert.equal(judgeByAcl(parent, item, caller, need), permits ? null : REFUSED, need);
      }
    }
  }
  const nobody = granting("", "you", false);
  for (const judge of [judgeTraverse, judgeList, judgeDeleteBelow]) {
    assert.equal(judge(nobody, caller), null);
  }
  assert.equal(judgeNewOwners(nobody, { owner: "me", group: "ours" }, caller), null);
});

test("only super-users give an item away; its owner gives it to own groups", () => {
  const control = { owner: "me", group: "ours" };
  const judge = (owner: string | null, group: string | null, id = "me", groups = ["mine"]) =>
    judgeNewOwners(control, { owner, group }, { id, groups });
  assert.equal(judge(null, null), null);
  assert.equal(judge("me", "ours"), null);
  assert.equal(judge("you", null), REFUSED);
  assert.equal(judge(null, "mine"), null);
  assert.equal(judge(null, "theirs"), REFUSED);
  assert.equal(judge("you", "mine"), REFUSED);
  assert.equal(judge(null, "mine", "you", ["mine"]), REFUSED);
  assert.equal(judge(null, "ours", "you", []), null);
  assert.equal(judge("you", null, "you", []), REFUSED);
});

const NEW: NewItem = { isDirectory: true, owner: null, group: null, mode: null, umask: null };

test("the root belongs to its creator, without an identity to the super-user, and has 0750", () => {
  const root = rootAccessControl(null);
  assert.equal(formatAcl(root), "user::rwx,group::r-x,other::---");
  assert.deepEqual([root.owner, root.group], ["$superuser", "$superuser"]);
  const mine = rootAccessControl("me");
  assert.deepEqual([mine.owner, mine.group], ["me", "me"]);
});

test("without a default ACL above, a new item has its mode less the umask, for all of both", () => {
  const parent = controlOf("user::rwx,group::r-x,other::---", { owner: "you", group: "ours" });
  for (let mode = 0; mode <= 0o777; mode++) {
    for (const umask of [null, 0, 0o027, 0o057, 0o777, mode, 0o777 - mode]) {
      const item = newAccessControl(parent, "me", { ...NEW, mode, umask });
      const left = mode & ~(umask ?? 0o027);
      assert.deepEqual(item.access, withMode(parent, left).access);
    }
  }
  assert.equal(formatMode(newAccessControl(parent, null, NEW)), "rwxr-x---");
  assert.equal(
    formatMode(newAccessControl(parent, null, { ...NEW, isDirectory: false })),
    "rw-r-----",
  );
});

test("a new item belongs to its creator and to its parent's group, unless the request names others", () => {
  const parent = controlOf("user::rwx,group::r-x,other::---", { owner: "you", group: "ours" });
  const owners = (creator: string | null, owner: string | null, group: string | null) => {
    const made = newAccessControl(parent, creator, { ...NEW, owner, group });
    return [made.owner, made.group];
  };
  assert.deepEqual(owners("me", null, null), ["me", "ours"]);
  assert.deepEqual(owners(null, null, null), ["$superuser", "ours"]);
  assert.deepEqual(owners("me", "ann", "team"), ["ann", "team"]);
});

test("a default ACL becomes the ACL of new items, limited by their mode; umasks do not count", () => {
  const parent = controlOf(
    "user::rwx,group::---,other::---,default:user::rwx,default:user:a:rwx,default:group::r-x," +
      "default:mask::rwx,default:other::r-x",
  );
  const made = (more: Partial<NewItem>) => newAccessControl(parent, "me", { ...NEW, ...more });
  const defaults =
    "default:user::rwx,default:user:a:rwx,default:group::r-x,default:mask::rwx,default:other::r-x";
  assert.equal(
    formatAcl(made({ umask: 0o777 })),
    `user::rwx,user:a:rwx,group::r-x,mask::rwx,other::r-x,${defaults}`,
  );
  assert.equal(
    formatAcl(made({ isDirectory: false })),
    "user::rw-,user:a:rwx,group::r-x,mask::rw-,other::r--",
  );
  assert.equal(
    formatAcl(made({ mode: 0o1740 })),
    `user::rwx,user:a:rwx,group::r-x,mask::r--,other::---,${defaults}`,
  );
  assert.equal(made({ mode: 0o1740 }).isSticky, true);
  assert.equal(made({}).isSticky, false);
});

test("a default ACL that names nobody is limited in its group entry", () => {
  const parent = controlOf(
    "user::rwx,group::---,other::---,default:user::rwx,default:group::rwx,default:other::rwx",
  );
  const file = newAccessControl(parent, "me", { ...NEW, isDirectory: false });
  assert.equal(formatAcl(file), "user::rw-,group::rw-,other::rw-");
});

test("a mode changes the mask if there is one, and the group's entry otherwise", () => {
  const plain = controlOf("user::rwx,group::r-x,other::---");
  assert.equal(formatAcl(withMode(plain, 0o640)), "user::rw-,group::r--,other::---");
  const named = controlOf("user::rwx,user:a:rwx,group::r-x,other::---");
  const changed = withMode(named, 0o1700);
  assert.equal(formatAcl(changed), "user::rwx,user:a:rwx,group::r-x,mask::---,other::---");
  assert.equal(formatMode(changed), "rwx-----T+");
  assert.equal(withMode(changed, 0o700).isSticky, false);
});

const PLAIN = "user::rwx,group::r-x,other::---";

function change(
  acl: string,
  mode: "set" | "modify" | "remove",
  text: string,
  isDirectory = true,
): string {
  const parsed = mode === "remove" ? parseAclNames(text) : parseAcl(text);
  assert.ok(parsed.value !== null, `${parsed.reason}`);
  const asked = { mode, entries: parsed.value } as Parameters<typeof changedAcl>[1];
  const { value, reason } = changedAcl(controlOf(acl), asked, isDirectory);
  return value === null ? reason : formatAcl(value);
}

test("set replaces both ACLs", () => {
  const old = `${PLAIN},user:a:rwx,default:user:a:rwx`;
  assert.equal(
    change(old, "set", "other::r--,group::-w-,user::--x"),
    "user::--x,group::-w-,other::r--",
  );
  assert.equal(
    change(PLAIN, "set", `${PLAIN},default:user:b:r--`),
    `${PLAIN},default:user::rwx,default:user:b:r--,default:group::r-x,default:mask::r-x,default:other::---`,
  );
});

const REQUIRED = "An ACL must have the entries user::, group:: and other::.";

test("set leaves those of the three entries that it does not name", () => {
  const old = `${PLAIN},user:a:rwx`;
  assert.equal(change(old, "set", "user::--x,other::r--"), "user::--x,group::r-x,other::r--");
  assert.equal(change(old, "set", "group::-w-"), "user::rwx,group::-w-,other::---");
  assert.equal(
    change(old, "set", "user:b:-w-"),
    "user::rwx,user:b:-w-,group::r-x,mask::rwx,other::---",
  );
});

test("none of the three entries can be removed", () => {
  for (const entry of PLAIN.split(",")) {
    assert.equal(change(PLAIN, "remove", entry), REQUIRED);
  }
});

test("a mask is calculated where one is needed and none is given", () => {
  assert.equal(
    change(PLAIN, "set", `${PLAIN},user:a:-w-,group:b:--x`),
    "user::rwx,user:a:-w-,group::r-x,group:b:--x,mask::rwx,other::---",
  );
  assert.equal(
    change(PLAIN, "set", `${PLAIN},mask::r--`),
    "user::rwx,group::r-x,mask::r--,other::---",
  );
});

test("modify replaces and adds single entries", () => {
  assert.equal(
    change(`${PLAIN},user:a:rwx`, "modify", "user:a:r--,group:b:-w-,other::--x"),
    "user::rwx,user:a:r--,group::r-x,group:b:-w-,mask::rwx,other::--x",
  );
});

test("modify calculates the mask again only if an entry changes that the mask limits", () => {
  const old = "user::rwx,user:a:rwx,group::r-x,mask::---,other::---";
  assert.equal(
    change(old, "modify", "user::r--,other::r--"),
    old.replace("rwx", "r--").replace(/---$/, "r--"),
  );
  for (const entry of ["user:a:rwx", "group::r-x", "user:b:r--", "group:b:r--"]) {
    assert.match(change(old, "modify", entry), /mask::rwx/);
    assert.match(change(old, "modify", `${entry},mask::-w-`), /mask::-w-/);
  }
  assert.match(change(old, "modify", "default:user:b:rwx"), /,mask::---,/);
});

test("a default ACL that modify begins takes what it lacks from the access ACL", () => {
  assert.equal(
    change(PLAIN, "modify", "default:user:a:rw-"),
    `${PLAIN},default:user::rwx,default:user:a:rw-,default:group::r-x,default:mask::rwx,default:other::---`,
  );
});

test("remove takes entries away and does not mind those that are missing", () => {
  const old = "user::rwx,user:a:rwx,user:b:r--,group::r-x,mask::rwx,other::---";
  assert.equal(
    change(old, "remove", "user:a,group:c,default:user:d,default:mask"),
    "user::rwx,user:b:r--,group::r-x,mask::r-x,other::---",
  );
  assert.equal(change(old, "remove", "user:a,user:b"), PLAIN);
  assert.equal(change(old, "remove", "user:a,user:b,mask"), PLAIN);
  assert.equal(change(old, "remove", "mask"), old);
  assert.match(change(old.replace("mask::rwx", "mask::r--"), "remove", "user:c"), /mask::r--/);
  assert.equal(
    change(PLAIN, "remove", "mask,default:user,default:group,user:a,default:user:a"),
    PLAIN,
  );
});

test("a default ACL goes with its last entry, and is completed as long as one is left", () => {
  const old = `${PLAIN},default:user::rwx,default:user:a:rwx,default:group::-w-,default:mask::rwx,default:other::---`;
  assert.equal(
    change(old, "remove", "default:user,default:user:a,default:group,default:other"),
    PLAIN,
  );
  assert.equal(
    change(old, "remove", "default:user:a,default:group"),
    `${PLAIN},default:user::rwx,default:group::r-x,default:other::---`,
  );
});

test("default entries do not change files", () => {
  assert.equal(change(PLAIN, "set", `${PLAIN},default:user:b:r--`, false), PLAIN);
  assert.equal(change(PLAIN, "modify", "default:user:b:r--", false), PLAIN);
  assert.equal(change(PLAIN, "remove", "default:user:b", false), PLAIN);
});

test("each of the two ACLs has at most 32 entries, the required ones and the mask among them", () => {
  const users = (count: number, scope = "") =>
    Array.from({ length: count }, (_, at) => `${scope}user:u${at}:r--`).join(",");
  const refused = "An ACL can have 32 entries, and a default ACL as many.";
  const full = `${PLAIN},${users(28)},${users(28, "default:")}`;
  assert.equal(change(PLAIN, "set", full).split(",").length, 64);
  assert.equal(change(PLAIN, "set", `${PLAIN},${users(29)}`), refused);
  assert.equal(change(PLAIN, "set", `${PLAIN},${users(29, "default:")}`), refused);
  assert.equal(change(full, "modify", "user:more:r--"), refused);
  assert.equal(change(full, "modify", "default:group:more:r--"), refused);
  assert.equal(change(full, "modify", "user:u0:rwx").split(",").length, 64);
});

test("changes do what they do to a plain list of entries", () => {
  const ids = ["a", "b", "c"];
  const masked = aclTexts(ids).filter((text) => text.includes("mask"));
  fc.assert(
    fc.property(masked, masked, fc.constantFrom("set", "modify", "remove"), (old, asked, mode) => {
      const rights = new Map(old.split(",").map(splitEntry));
      if (mode === "set") rights.clear();
      const required = ["user:", "group:", "other:"];
      const changes = asked.split(",").map(splitEntry);
      const named = changes.filter(([name]) => mode !== "remove" || !required.includes(name));
      for (const [name, some] of named) {
        if (mode === "remove") rights.delete(name);
        else rights.set(name, some);
      }
      const text = named.map(([name, some]) => `${name}:${some}`).join(",");
      const found = new Map(
        change(old, mode as "set", text)
          .split(",")
          .map(splitEntry),
      );
      // Where remove takes the mask away, another is calculated if one is needed.
      for (const all of mode === "remove" ? [rights, found] : []) all.delete("mask:");
      assert.deepEqual([...found].sort(), [...rights].sort());
    }),
  );
});

function splitEntry(entry: string): [name: string, rights: string] {
  return [entry.slice(0, -4), entry.slice(-3)];
}
