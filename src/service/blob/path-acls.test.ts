import assert from "node:assert/strict";
import { test } from "node:test";
import type { Access } from "../../rules/access.ts";
import { controlAt, granting, setControl, treeGranting, user } from "./access-control.fixture.ts";
import { Blobs, bytesOf, refused, untouchable } from "./blobs.fixture.ts";
import { getBlob } from "./get-blob.ts";
import { setBlobMetadata } from "./set-blob-metadata.ts";

const REFUSED = refused("AuthorizationPermissionMismatch");
const ME = user("me", ["ours"]);

async function read(blobs: Blobs, path: string, access: Access): Promise<string> {
  const asked = { ...blobs.use(path), access, range: null, digests: null };
  return (await bytesOf(await getBlob(blobs.context, asked))).toString();
}

test("reading a file takes x of every directory and r of the file", async () => {
  const enough = ["--x", "--x", "--x", "r--"] as const;
  assert.equal(await read(await treeGranting(...enough), "a/b/file", ME), "bytes");
  for (const without of enough.keys()) {
    const rights = [...enough] as [string, string, string, string];
    rights[without] = without === 3 ? "-wx" : "rw-";
    const blobs = await treeGranting(...rights);
    await assert.rejects(read(blobs, "a/b/file", ME), REFUSED, rights.join());
  }
});

test("a caller who may not pass a directory does not learn what is below it", async () => {
  const blobs = await treeGranting("--x", "rw-", "rwx", "rwx");
  for (const path of ["a/b/file", "a/b/none", "a/none/none", "a/b/file/below"]) {
    await assert.rejects(read(blobs, path, ME), REFUSED, path);
  }
  await assert.rejects(read(blobs, "none/none", ME), refused("BlobNotFound"));
});

test("writing a file takes w and x of its directory, and x above, before the body is read", async () => {
  const put = (blobs: Blobs, path: string) => blobs.put(path, "new", { access: ME });
  const enough = await treeGranting("--x", "--x", "-wx", "---");
  await put(enough, "a/b/new");
  await put(enough, "a/b/file");
  for (const rights of ["--x", "r-x", "rw-", "---"]) {
    const blobs = await treeGranting("--x", "--x", rights, "rwx");
    for (const path of ["a/b/new", "a/b/file", "a/b/c/d"]) {
      await assert.rejects(blobs.put(path, untouchable(), { access: ME }), REFUSED, rights);
    }
  }
});

test("missing directories are made in the innermost one that exists, which takes w and x", async () => {
  const blobs = await treeGranting("--x", "-wx", "--x", "---");
  await blobs.put("a/new/below/file", "bytes", { access: ME });
  assert.equal(await read(blobs, "a/new/below/file", ME), "bytes");
  await assert.rejects(blobs.put("other/file", untouchable(), { access: ME }), REFUSED);
});

test("deleting takes w and x of the directory, and nothing of the file", async () => {
  const blobs = await treeGranting("--x", "--x", "-wx", "---");
  await blobs.delete("a/b/file", { access: ME });
  const other = await treeGranting("rwx", "rwx", "r-x", "rwx");
  await assert.rejects(other.delete("a/b/file", { access: ME }), REFUSED);
});

test("in a sticky directory, only owners of it or of the file delete and replace", async () => {
  const blobs = await treeGranting("--x", "--x", "-wx", "rwx");
  await setControl(blobs, "a/b", { permissions: "rwxrwx--T" });
  await assert.rejects(blobs.delete("a/b/file", { access: ME }), REFUSED);
  await assert.rejects(blobs.put("a/b/file", untouchable(), { access: ME }), REFUSED);
  await blobs.put("a/b/mine", "bytes", { access: ME });
  await blobs.delete("a/b/mine", { access: ME });
  await setControl(blobs, "a/b/file", { owner: "me" });
  await blobs.delete("a/b/file", { access: ME });
});

test("setting metadata takes w of the file", async () => {
  const set = async (rights: string) => {
    const blobs = await treeGranting("--x", "--x", "--x", rights);
    await setBlobMetadata(blobs.context, { ...blobs.use("a/b/file"), access: ME, metadata: [] });
  };
  await set("-w-");
  await assert.rejects(set("r-x"), REFUSED);
});

test("a snapshot is judged by its own ACL and by that of the file", async () => {
  const blobs = await treeGranting("--x", "--x", "--x", "---");
  const closed = await blobs.snapshot("a/b/file");
  await setControl(blobs, "a/b/file", granting("r--"));
  const open = await blobs.snapshot("a/b/file");
  const get = (revision: typeof open) => {
    const asked = { ...blobs.use("a/b/file", revision), access: ME, range: null, digests: null };
    return getBlob(blobs.context, asked);
  };
  await bytesOf(await get(open));
  await assert.rejects(get(closed), REFUSED);
});

test("a role that permits the operation is enough, whatever ACLs say", async () => {
  const blobs = await treeGranting("---", "---", "---", "---");
  assert.equal(await read(blobs, "a/b/file", user("me", [], "blob-reader")), "bytes");
  await assert.rejects(
    blobs.put("a/b/file", untouchable(), { access: user("me", [], "blob-reader") }),
    REFUSED,
  );
  await blobs.put("a/b/file", "new", { access: user("me", [], "blob-contributor") });
});

test("groups of the token count, and owners by their own entry", async () => {
  const blobs = await treeGranting("--x", "--x", "--x", "---");
  const file = "a/b/file";
  await setControl(blobs, file, { acl: "user::---,group::---,group:ours:r--,other::---" });
  assert.equal(await read(blobs, file, ME), "bytes");
  await assert.rejects(read(blobs, file, user("me", ["theirs"])), REFUSED);
  await setControl(blobs, file, { owner: "me" });
  await assert.rejects(read(blobs, file, ME), REFUSED);
});

test("what a user creates is the user's, in the group of its directory", async () => {
  const blobs = await treeGranting("--x", "-wx", "--x", "---");
  await setControl(blobs, "a", { group: "team" });
  await blobs.put("a/new/file", "bytes", { access: ME });
  assert.equal(
    await controlAt(blobs, "a/new"),
    "me team rwxr-x--- user::rwx,group::r-x,other::---",
  );
  assert.equal(
    await controlAt(blobs, "a/new/file"),
    "me team rw-r----- user::rw-,group::r--,other::---",
  );
  await blobs.put("b/file", "bytes");
  assert.match(await controlAt(blobs, "b/file"), /^\$superuser \$superuser rw-r----- /);
});

test("a default ACL becomes the ACL of new files, and of directories that are made on the way", async () => {
  const blobs = await Blobs.openHierarchical();
  const defaults =
    "default:user::rwx,default:user:me:r-x,default:group::---,default:mask::r-x,default:other::---";
  await setControl(blobs, "", { acl: `user::rwx,group::r-x,other::---,${defaults}` });
  await blobs.put("a/file", "bytes");
  assert.equal(
    await controlAt(blobs, "a"),
    `$superuser $superuser rwxr-x---+ user::rwx,user:me:r-x,group::---,mask::r-x,other::---,${defaults}`,
  );
  assert.equal(
    await controlAt(blobs, "a/file"),
    "$superuser $superuser rw-r-----+ user::rw-,user:me:r-x,group::---,mask::r--,other::---",
  );
});

test("a file that is written again retains its owner and its ACL", async () => {
  const blobs = await treeGranting("--x", "--x", "-wx", "r--");
  const before = await controlAt(blobs, "a/b/file");
  await blobs.put("a/b/file", "new", { access: ME });
  await blobs.stage("a/b/file", "AAAA", "newer");
  await blobs.commit("a/b/file", ["AAAA"]);
  assert.equal(await controlAt(blobs, "a/b/file"), before);
  assert.match(before, /^\$superuser .*user:me:r--/);
});

test("in a flat container no ACL adds to roles", async () => {
  const blobs = await Blobs.open();
  await blobs.put("a/b", "bytes");
  await assert.rejects(read(blobs, "a/b", ME), REFUSED);
  await assert.rejects(controlAt(blobs, "a/b"), refused("HierarchicalNamespaceNotEnabled"));
  await assert.rejects(
    setControl(blobs, "a/b", { owner: "me" }),
    refused("HierarchicalNamespaceNotEnabled"),
  );
});
