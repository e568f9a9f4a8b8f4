import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Access } from "../../rules/access.ts";
import { setControl, user } from "./access-control.fixture.ts";
import { bodyWith, refused } from "./blobs.fixture.ts";
import { getBlob } from "./get-blob.ts";
import { Paths } from "./paths.fixture.ts";

const REFUSED = "AuthorizationPermissionMismatch";

/** Rights of a path as the test decides them: of its owner, of a user, of a group and of others. */
interface Rights {
  readonly owner: string;
  readonly ofOwner: string;
  readonly ofUser: string;
  readonly ofGroup: string;
  readonly mask: string;
  readonly ofOther: string;
  readonly isSticky: boolean;
}

const SOME = fc.constantFrom("---", "--x", "-wx", "r-x", "rw-", "rwx", "rwx");
const RIGHTS: fc.Arbitrary<Rights> = fc.record({
  owner: fc.constantFrom("ann", "bob"),
  ofOwner: SOME,
  ofUser: SOME,
  ofGroup: SOME,
  mask: SOME,
  ofOther: SOME,
  isSticky: fc.boolean(),
});
const PATHS = ["", "a", "a/b", "a/b/file"] as const;

const CALLERS: Readonly<Record<string, Access>> = {
  ann: user("ann"),
  bob: user("bob", ["team"]),
  cid: user("cid", ["team"]),
  dan: user("dan"),
};

/** What a caller may do with a path, in the plain words of the documentation. `bob` is named. */
function may(rights: Rights, caller: string, letter: string): boolean {
  const masked = rights.mask.includes(letter);
  if (caller === rights.owner) return rights.ofOwner.includes(letter);
  if (caller === "bob") return rights.ofUser.includes(letter) && masked;
  if (caller === "cid") return rights.ofGroup.includes(letter) && masked;
  return rights.ofOther.includes(letter);
}

type Tree = readonly [root: Rights, a: Rights, b: Rights, file: Rights];

interface Operation {
  expect(tree: Tree, caller: string): boolean;
  run(paths: Paths, access: Access): Promise<unknown>;
}

const traverses = ([root, a, b]: Tree, caller: string) =>
  [root, a, b].every((directory) => may(directory, caller, "x"));
const writes = (tree: Tree, caller: string) => traverses(tree, caller) && may(tree[2], caller, "w");
const replaces = (tree: Tree, caller: string) =>
  writes(tree, caller) &&
  (!tree[2].isSticky || tree[2].owner === caller || tree[3].owner === caller);

const OPERATIONS: Readonly<Record<string, Operation>> = {
  read: {
    expect: (tree, caller) => traverses(tree, caller) && may(tree[3], caller, "r"),
    run: async ({ blobs }, access) => {
      const asked = { ...blobs.use("a/b/file"), access, range: null, digests: null };
      (await getBlob(blobs.context, asked)).reading.close();
    },
  },
  append: {
    expect: (tree, caller) =>
      traverses(tree, caller) && may(tree[3], caller, "r") && may(tree[3], caller, "w"),
    run: (paths, access) => paths.append("a/b/file", 0, "x", { access }),
  },
  list: {
    expect: (tree, caller) => traverses(tree, caller) && may(tree[2], caller, "r"),
    run: (paths, access) => paths.list({ directory: "a/b", access }),
  },
  create: {
    expect: writes,
    run: (paths, access) => paths.create("file", "a/b/new", { access }),
  },
  replace: {
    expect: replaces,
    run: (paths, access) => paths.create("file", "a/b/file", { access }),
  },
  delete: {
    expect: replaces,
    run: (paths, access) => paths.delete("a/b/file", { access }),
  },
  own: {
    expect: (tree, caller) => traverses(tree, caller) && tree[3].owner === caller,
    run: ({ blobs }, access) => setControl(blobs, "a/b/file", { permissions: "0600" }, { access }),
  },
};

async function treeOf(tree: Tree): Promise<Paths> {
  const paths = await Paths.openHierarchical();
  await paths.create("file", "a/b/file");
  for (const [depth, path] of PATHS.entries()) {
    const { owner, ofOwner, ofUser, ofGroup, mask, ofOther, isSticky } = tree[depth] as Rights;
    const named = `user:bob:${ofUser},group:team:${ofGroup},mask::${mask}`;
    if (isSticky) await setControl(paths.blobs, path, { permissions: "1777" });
    const acl = `user::${ofOwner},${named},group::---,other::${ofOther}`;
    await setControl(paths.blobs, path, { acl, owner });
  }
  return paths;
}

test("in any tree, every operation of every caller is decided as the documentation says", async () => {
  const trees = fc.tuple(RIGHTS, RIGHTS, RIGHTS, RIGHTS);
  const asked = fc.tuple(
    fc.constantFrom(...Object.keys(OPERATIONS)),
    fc.constantFrom(...Object.keys(CALLERS)),
  );
  await fc.assert(
    fc.asyncProperty(trees, asked, async (tree, [name, caller]) => {
      const paths = await treeOf(tree);
      const operation = OPERATIONS[name] as Operation;
      const done = operation.run(paths, CALLERS[caller] as Access);
      if (operation.expect(tree, caller)) await done;
      else await assert.rejects(done, refused(REFUSED), `${name} by ${caller}`);
    }),
    { numRuns: 400 },
  );
});

test("a right that is taken away while a body arrives is missing when it is written", async () => {
  const paths = await Paths.openHierarchical();
  const { blobs } = paths;
  const open = { acl: "user::rwx,user:me:-wx,group::---,other::---" };
  const closed = { acl: "user::rwx,user:me:--x,group::---,other::---" };
  await paths.create("directory", "dir");
  for (const path of ["", "dir"]) await setControl(blobs, path, open);
  const body = bodyWith(Buffer.alloc(100_000), () => setControl(blobs, "dir", closed));
  await assert.rejects(blobs.put("dir/file", body, { access: user("me") }), refused(REFUSED));
  assert.deepEqual(await paths.list({ directory: "dir" }), []);
  await setControl(blobs, "dir", open);
  await blobs.put("dir/file", "bytes", { access: user("me") });
});
