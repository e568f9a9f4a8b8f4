import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../base/fault.ts";
import type { Access } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { setControl, treeGranting, user } from "./access-control.fixture.ts";
import { admitToContainer } from "./admit.ts";
import type { Blobs } from "./blobs.fixture.ts";
import { findAclRefusal } from "./find-acl-refusal.ts";
import { findPlace } from "./find-path.ts";

const ME = user("me");
const RIGHTS = fc.constantFrom("---", "--x", "-wx", "r-x", "rw-", "rwx", "rwx");
const NEED = fc.constantFrom(
  ...([
    "getBlob",
    "putBlob",
    "deleteBlob",
    "setAccessControl",
    "listPaths",
    "getPathStatus",
  ] as const),
);
const PATH = fc.constantFrom("", "a", "a/b", "a/b/file", "a/b/new", "a/none/new", "none");

type NeedName = keyof typeof BLOB_NEEDS;

function explained(blobs: Blobs, path: string, name: NeedName, access: Access = ME) {
  const { at } = blobs.use(path);
  return blobs.context.store.read((view) => findAclRefusal(view, { at, access }, BLOB_NEEDS[name]));
}

async function isRefused(blobs: Blobs, path: string, name: NeedName): Promise<boolean> {
  const asked = { at: blobs.use(path).at, access: ME };
  try {
    await blobs.context.store.read((view) => {
      const container = admitToContainer(view, asked, BLOB_NEEDS[name], true);
      findPlace(view, container, asked, BLOB_NEEDS[name]);
    });
    return false;
  } catch (error) {
    if (error instanceof Fault) return error.code === "AuthorizationPermissionMismatch";
    throw error;
  }
}

test("an ACL is named as the reason if, and only if, it makes the service refuse", async () => {
  const tree = fc.tuple(RIGHTS, RIGHTS, RIGHTS, RIGHTS);
  await fc.assert(
    fc.asyncProperty(tree, PATH, NEED, async (rights, path, name) => {
      const blobs = await treeGranting(...rights);
      const found = await explained(blobs, path, name);
      assert.equal(found !== null, await isRefused(blobs, path, name));
    }),
    { numRuns: 60 },
  );
});

test("the outermost directory that cannot be passed is the reason, then the item, or its parent", async () => {
  const blobs = await treeGranting("--x", "---", "---", "---");
  const first = await explained(blobs, "a/b/file", "getBlob");
  assert.deepEqual([first?.path, first?.lacks], ["a", "pass"]);
  await setControl(blobs, "a", { acl: "user::rwx,group::---,other::--x" });
  await setControl(blobs, "a/b", { acl: "user::rwx,group::---,other::--x" });
  const item = await explained(blobs, "a/b/file", "getBlob");
  assert.deepEqual([item?.path, item?.lacks], ["a/b/file", "read"]);
  const parent = await explained(blobs, "a/b/new", "putBlob");
  assert.deepEqual([parent?.path, parent?.lacks], ["a/b", "create"]);
  assert.equal(await explained(blobs, "a/b/file", "getBlob", { kind: "owner" }), null);
});
