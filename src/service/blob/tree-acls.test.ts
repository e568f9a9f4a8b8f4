import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { controlAt, granting, setControl, treeGranting, user } from "./access-control.fixture.ts";
import { type AskedNewControl, NO_CONTROL } from "./asked-access-control.ts";
import { refused } from "./blobs.fixture.ts";
import { listBlobs } from "./list-blobs.ts";
import type { ListBlobs } from "./listed-blob.ts";
import { CURRENT_ONLY } from "./listed-revisions.ts";
import { Paths } from "./paths.fixture.ts";

const REFUSED = refused("AuthorizationPermissionMismatch");
const ME = user("me", ["ours"]);

/** Rights of root, a and b for a user, and an empty directory `a/b/c` that grants everything. */
async function directories(root: string, a: string, b: string): Promise<Paths> {
  const paths = new Paths(await treeGranting(root, a, b, "rwx"));
  await paths.create("directory", "a/b/c");
  await setControl(paths.blobs, "a/b/c", granting("rwx"));
  return paths;
}

test("listing takes r and x of the directory, and x above", async () => {
  const list = (paths: Paths, directory: string) => paths.list({ directory, access: ME });
  assert.deepEqual(await list(await directories("--x", "--x", "r-x"), "a/b"), [
    "a/b/c/",
    "a/b/file",
  ]);
  assert.deepEqual(await list(await directories("r-x", "---", "---"), ""), ["a/"]);
  for (const [root, a, b] of [
    ["rw-", "rwx", "rwx"],
    ["rwx", "rw-", "rwx"],
    ["rwx", "rwx", "-wx"],
    ["rwx", "rwx", "rw-"],
  ] as const) {
    await assert.rejects(list(await directories(root, a, b), "a/b"), REFUSED, `${root} ${a} ${b}`);
  }
});

test("a recursive list takes r and x of every directory that it enters", async () => {
  const list = (paths: Paths, more: object = {}) =>
    paths.list({ isRecursive: true, access: ME, ...more });
  const all = ["a/", "a/b/", "a/b/c/", "a/b/file"];
  const paths = await directories("r-x", "r-x", "r-x");
  assert.deepEqual(await list(paths), all);
  await setControl(paths.blobs, "a/b", granting("--x"));
  await assert.rejects(list(paths), REFUSED);
  await assert.rejects(list(paths, { after: "a/b/c" }), REFUSED);
  assert.deepEqual(await paths.list({ access: ME }), ["a/"]);
  assert.deepEqual(await list(paths, { access: user("me", [], "blob-reader") }), all);
});

test("the Blob endpoint lists what ACLs grant", async () => {
  const names = async ({ blobs }: Paths, more: Partial<ListBlobs>) => {
    const { at, access } = { ...blobs.use(""), access: ME };
    const found: string[] = [];
    for await (const page of listBlobs(blobs.context, { ...ALL_BLOBS, at, access, ...more })) {
      found.push(...page.items.map(({ name }) => name));
    }
    return found;
  };
  const paths = await directories("--x", "r-x", "r-x");
  assert.deepEqual(await names(paths, { prefix: "a/", delimiter: "/" }), ["a/b/"]);
  assert.deepEqual(await names(paths, { prefix: "a/" }), ["a/b", "a/b/c", "a/b/file"]);
  await assert.rejects(names(paths, { delimiter: "/" }), REFUSED);
  await assert.rejects(names(paths, {}), REFUSED);
});

const ALL_BLOBS = {
  prefix: "",
  delimiter: "",
  startFrom: "",
  endBefore: "",
  after: null,
  resultsMax: 100,
  kinds: CURRENT_ONLY,
  tags: false,
};

test("deleting a directory with all in it takes all rights of each directory below", async () => {
  const remove = (paths: Paths, path: string) =>
    paths.delete(path, { isRecursive: true, access: ME });
  await remove(await directories("--x", "-wx", "rwx"), "a/b");
  await remove(await directories("-wx", "rwx", "rwx"), "a");
  for (const [root, a, b] of [
    ["r-x", "rwx", "rwx"],
    ["-wx", "-wx", "rwx"],
    ["-wx", "rwx", "-wx"],
  ] as const) {
    const paths = await directories(root, a, b);
    await assert.rejects(remove(paths, "a"), REFUSED, `${root} ${a} ${b}`);
    assert.equal(await paths.blobs.text("a/b/file"), "bytes");
  }
  const deep = await directories("-wx", "rwx", "rwx");
  await setControl(deep.blobs, "a/b/c", granting("r-x"));
  await assert.rejects(remove(deep, "a"), REFUSED);
  await deep.delete("a", { isRecursive: true, access: user("me", [], "blob-contributor") });
});

test("many directories are checked before they are deleted", async () => {
  const paths = await directories("-wx", "rwx", "rwx");
  for (let at = 0; at < 600; at++) {
    await paths.create("directory", `a/b/d${at}`, { access: ME });
  }
  await setControl(paths.blobs, "a/b/d555", granting("rw-"));
  await setControl(paths.blobs, "a/b/d555", { owner: "you" });
  const remove = () => paths.delete("a", { isRecursive: true, access: ME });
  await assert.rejects(remove(), REFUSED);
  await setControl(paths.blobs, "a/b/d555", { owner: "me" });
  await remove();
});

test("renaming takes w and x of both parents, and no right of what is renamed", async () => {
  const rename = async (a: string, b: string, from: string, to: string) => {
    const paths = await directories("--x", a, b);
    await setControl(paths.blobs, "a/b/c", granting("---"));
    await paths.create("directory", "a/d");
    await setControl(paths.blobs, "a/d", granting("-wx"));
    const { at, access, leaseId } = { ...paths.blobs.use(from), access: ME };
    const source = { at, access, leaseId, conditions: NO_CONDITIONS };
    await paths.rename(from, to, { access: ME, source });
    return paths;
  };
  const moved = await rename("--x", "-wx", "a/b/c", "a/d/c");
  assert.match(await controlAt(moved.blobs, "a/d/c"), /user:me:---/);
  await rename("--x", "-wx", "a/b/file", "a/d/file");
  await assert.rejects(rename("--x", "r-x", "a/b/c", "a/d/c"), REFUSED);
  await assert.rejects(rename("--x", "-wx", "a/b/c", "a/c"), REFUSED);
});

test("a renamed path retains its ACL, whatever default ACL its new parent has", async () => {
  const paths = await directories("rwx", "rwx", "rwx");
  await setControl(paths.blobs, "a", { acl: "user::rwx,group::---,other::---,default:user:x:rwx" });
  const before = await controlAt(paths.blobs, "a/b/file");
  await paths.rename("a/b/file", "a/file");
  assert.equal(await controlAt(paths.blobs, "a/file"), before);
});

test("a path is created with permissions, umask, ACL, owner and group", async () => {
  const paths = await Paths.openHierarchical();
  const create = async (path: string, control: Partial<AskedNewControl>, kind = "file") => {
    await paths.create(kind as "file", path, { control: { ...NO_CONTROL, ...control } });
    return controlAt(paths.blobs, path);
  };
  const plain = (mode: string) => new RegExp(`^\\$superuser \\$superuser ${mode} `);
  assert.match(await create("1", {}), plain("rw-r-----"));
  assert.match(await create("2", {}, "directory"), plain("rwxr-x---"));
  assert.match(await create("3", { permissions: "0777", umask: "0057" }), plain("rwx-w----"));
  assert.match(await create("4", { permissions: "rwxrwxrwt", umask: "0000" }), plain("rwxrwxrwt"));
  assert.match(await create("5", { umask: "0000" }, "directory"), plain("rwxrwxrwx"));
  assert.match(await create("6", { owner: "ann", group: "team" }), /^ann team rw-r----- /);
  const acl = "user::rwx,user:me:r-x,group::---,mask::r-x,other::---";
  assert.match(await create("7", { acl }), new RegExp(` ${acl}$`));
  const defaults = "default:user::rwx,default:group::r-x,default:other::---";
  assert.match(
    await create("8", { acl: `${acl},${defaults}` }, "directory"),
    /,default:other::---$/,
  );
  for (const [control, code] of [
    [{ permissions: "777" }, "InvalidHeaderValue"],
    [{ umask: "027" }, "InvalidHeaderValue"],
    [{ permissions: "0777", acl }, "InvalidInput"],
    [{ acl: "user::rwz" }, "InvalidAccessControlList"],
    [{ acl: `${acl},${defaults}` }, "InvalidAccessControlList"],
    [{ owner: "" }, "InvalidHeaderValue"],
  ] as const) {
    await assert.rejects(create("x/wrong", control), refused(code), JSON.stringify(control));
  }
  assert.deepEqual(await paths.list(), ["1", "2/", "3", "4", "5/", "6", "7", "8/"]);
});

test("a user creates paths for nobody else, and for own groups", async () => {
  const { blobs } = await directories("--x", "-wx", "rwx");
  const paths = new Paths(blobs);
  const create = (control: Partial<AskedNewControl>, access = ME) =>
    paths.create("file", "a/new", { control: { ...NO_CONTROL, ...control }, access });
  await assert.rejects(create({ owner: "you" }), REFUSED);
  await assert.rejects(create({ group: "theirs" }), REFUSED);
  await create({ owner: "me", group: "ours", permissions: "0600" });
  assert.match(await controlAt(blobs, "a/new"), /^me ours rw------- /);
  await assert.rejects(create({ owner: "you" }, user("me", [], "blob-contributor")), REFUSED);
  await create({ owner: "you" }, user("me", [], "blob-owner"));
});

test("a file that is created again is another one; a directory retains its access control", async () => {
  const { blobs } = await directories("--x", "-wx", "-wx");
  const paths = new Paths(blobs);
  const control = { ...NO_CONTROL, permissions: "0777", umask: "0000" };
  const before = await controlAt(blobs, "a/b/c");
  await paths.create("directory", "a/b/c", { control, access: ME });
  assert.equal(await controlAt(blobs, "a/b/c"), before);
  await paths.create("file", "a/b/file", { control, access: ME });
  assert.match(await controlAt(blobs, "a/b/file"), /^me \$superuser rwxrwxrwx /);
});

test("in a flat container a path is created without access control only", async () => {
  const paths = await Paths.open();
  await paths.create("file", "a", { control: NO_CONTROL });
  for (const name of ["owner", "group", "permissions", "acl", "umask"]) {
    const control = { ...NO_CONTROL, [name]: "x" };
    await assert.rejects(
      paths.create("file", "b", { control }),
      refused("HierarchicalNamespaceNotEnabled"),
    );
  }
});
