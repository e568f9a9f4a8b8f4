import assert from "node:assert/strict";
import { test } from "node:test";
import type { Access } from "../../rules/access.ts";
import { controlAt, setControl, user } from "./access-control.fixture.ts";
import { refused } from "./blobs.fixture.ts";
import { Paths } from "./paths.fixture.ts";
import {
  type SetAccessControlRecursive,
  setAccessControlRecursive,
} from "./set-access-control-recursive.ts";

const PLAIN = "user::rwx,group::r-x,other::---";

/** Directories a, a/b and a/b/c with two files each, beside a file z. */
async function tree(): Promise<Paths> {
  const paths = await Paths.openHierarchical();
  for (const name of ["a/1", "a/2", "a/b/1", "a/b/2", "a/b/c/1", "a/b/c/2", "z"]) {
    await paths.create("file", name);
  }
  return paths;
}

const ALL = ["a", "a/1", "a/2", "a/b", "a/b/1", "a/b/2", "a/b/c", "a/b/c/1", "a/b/c/2"];

function change(
  { blobs }: Paths,
  path: string,
  mode: SetAccessControlRecursive["mode"],
  acl: string,
  more: Partial<SetAccessControlRecursive> = {},
) {
  const { at, access } = blobs.use(path);
  const asked = { at, access, mode, acl, pathsMax: 2_000, after: null, goesOn: false, ...more };
  return setAccessControlRecursive(blobs.context, asked);
}

/** The ACLs of all paths in the tree that differ from those of a new one. */
async function changed({ blobs }: Paths): Promise<string[]> {
  const found: string[] = [];
  for (const path of ["", ...ALL, "z"]) {
    const acl = (await controlAt(blobs, path)).split(" ")[3] ?? "";
    if (acl.includes("user:me:")) found.push(path);
  }
  return found;
}

test("set, modify and remove change a directory and everything in it, and nothing else", async () => {
  const paths = await tree();
  const count = { directories: 3, files: 6, failures: [], next: null };
  assert.deepEqual(await change(paths, "a", "set", `${PLAIN},user:me:r-x`), count);
  assert.deepEqual(await changed(paths), ALL);
  assert.match(
    await controlAt(paths.blobs, "a/b/1"),
    / user::rwx,user:me:r-x,group::r-x,mask::r-x/,
  );
  assert.deepEqual(await change(paths, "a", "modify", "user:you:rwx,default:user:me:rwx"), count);
  assert.match(await controlAt(paths.blobs, "a/b/1"), /user:me:r-x,user:you:rwx,[^d]*$/);
  assert.match(await controlAt(paths.blobs, "a/b"), /user:you:rwx,.*default:user:me:rwx/);
  const names = "mask,default:user,default:group,user:me,user:you,default:user:me,default:group:x";
  assert.deepEqual(await change(paths, "a", "remove", names), count);
  assert.deepEqual(await changed(paths), []);
});

test("the root and a single file can be changed, too", async () => {
  const paths = await tree();
  const file = await change(paths, "a/1", "modify", "user:me:r-x");
  assert.deepEqual(file, { directories: 0, files: 1, failures: [], next: null });
  assert.deepEqual(await changed(paths), ["a/1"]);
  const root = await change(paths, "", "modify", "user:me:r-x");
  assert.deepEqual(root, { directories: 4, files: 7, failures: [], next: null });
  assert.deepEqual(await changed(paths), ["", ...ALL, "z"]);
});

test("a large tree is changed in parts of any size, each path once", async () => {
  for (const pathsMax of [1, 2, 3, 5, 10]) {
    for (const top of ["", "a"]) {
      const paths = await tree();
      const order: string[] = [];
      let after: string | null = null;
      do {
        const before: string[] = await changed(paths);
        const part: Awaited<ReturnType<typeof change>> = await change(
          paths,
          top,
          "modify",
          "user:me:r-x",
          { pathsMax, after },
        );
        assert.ok(part.directories + part.files <= pathsMax);
        order.push(...(await changed(paths)).filter((path) => !before.includes(path)));
        after = part.next;
      } while (after !== null);
      assert.deepEqual(order, top === "" ? ["", ...ALL, "z"] : ALL, `${pathsMax} ${top}`);
    }
  }
});

test("more paths than one transaction changes", async () => {
  const paths = await Paths.openHierarchical();
  for (let at = 0; at < 250; at++) await paths.create("file", `d/${at % 3}/${at}`);
  const done = await change(paths, "d", "modify", "user:me:r-x");
  assert.deepEqual(done, { directories: 4, files: 250, failures: [], next: null });
  const some = await change(paths, "d", "modify", "user:me:r-x", { pathsMax: 205 });
  assert.equal(some.directories + some.files, 205);
  const rest = await change(paths, "d", "modify", "user:me:r-x", { after: some.next });
  assert.equal(rest.directories + rest.files, 49);
});

const DENIED = "AuthorizationPermissionMismatch";

/** The tree, in which `me` owns all but `a/2` and the directory a/b, and may pass all. */
async function shared(): Promise<Paths> {
  const paths = await tree();
  for (const path of ["", ...ALL]) {
    const owner = path === "a/2" || path === "a/b" || path === "" ? "you" : "me";
    await setControl(paths.blobs, path, { owner, permissions: "0711" });
  }
  return paths;
}

test("a failure ends the request, unless it goes on", async () => {
  const paths = await shared();
  const access = user("me");
  const first = await change(paths, "a", "modify", "user:me:r-x", { access });
  const failure = { name: "a/2", kind: "file", code: DENIED };
  assert.deepEqual(first, { directories: 1, files: 1, failures: [failure], next: null });
  assert.deepEqual(await changed(paths), ["a", "a/1"]);
  const all = await change(paths, "a", "modify", "user:me:r-x", { access, goesOn: true });
  const failures = [failure, { name: "a/b", kind: "directory", code: DENIED }];
  assert.deepEqual(all, { directories: 2, files: 5, failures, next: null });
  assert.deepEqual(
    await changed(paths),
    ALL.filter((path) => path !== "a/2" && path !== "a/b"),
  );
});

test("failures count as paths, and come with a place to go on", async () => {
  const paths = await shared();
  const access = user("me");
  let [handled, failed] = [0, 0];
  let after: string | null = null;
  do {
    const more = { access, goesOn: true, pathsMax: 2, after };
    const part: Awaited<ReturnType<typeof change>> = await change(
      paths,
      "a",
      "modify",
      "user:me:r-x",
      more,
    );
    handled += part.directories + part.files;
    failed += part.failures.length;
    after = part.next;
  } while (after !== null);
  assert.deepEqual([handled, failed], [7, 2]);
});

test("a directory that the caller may change but not pass is a failure, too", async () => {
  const paths = await shared();
  await setControl(paths.blobs, "a/b/c", { permissions: "0000" });
  const access = user("me");
  const done = await change(paths, "a/b", "modify", "user:me:r-x", { access, goesOn: true });
  const failures = ["a/b", "a/b/c"].map((name) => ({ name, kind: "directory", code: DENIED }));
  assert.deepEqual(done, { directories: 1, files: 2, failures, next: null });
  assert.deepEqual(await changed(paths), ["a/b/1", "a/b/2", "a/b/c"]);
  await setControl(paths.blobs, "a/b/c", { permissions: "0000" });
  const top = await change(paths, "a/b/c", "modify", "user:me:r-x", { access });
  assert.deepEqual(top, { directories: 1, files: 0, failures: failures.slice(1), next: null });
});

test("a directory that the caller may not pass is not entered", async () => {
  for (const pathsMax of [2_000, 1, 2]) {
    const paths = await shared();
    await setControl(paths.blobs, "a/b", { permissions: "0700" });
    const access = user("me");
    let handled = 0;
    let after: string | null = null;
    do {
      const more = { access, goesOn: true, pathsMax, after };
      const part: Awaited<ReturnType<typeof change>> = await change(
        paths,
        "a",
        "modify",
        "user:me:r-x",
        more,
      );
      handled += part.directories + part.files;
      after = part.next;
    } while (after !== null);
    assert.equal(handled, 2);
    assert.deepEqual(await changed(paths), ["a", "a/1"]);
  }
});

test("an ACL that would get too long is a failure of its path", async () => {
  const paths = await tree();
  const users = Array.from({ length: 28 }, (_, at) => `user:u${at}:r--`).join(",");
  await setControl(paths.blobs, "a/1", { acl: `${PLAIN},${users}` });
  const done = await change(paths, "a", "modify", "user:me:r-x", { goesOn: true });
  const failures = [{ name: "a/1", kind: "file", code: "InvalidAccessControlList" }];
  assert.deepEqual(done, { directories: 3, files: 5, failures, next: null });
});

test("what could be done to no path is refused, and nothing is changed", async () => {
  const paths = await tree();
  const wrong: [SetAccessControlRecursive["mode"], string][] = [
    ["set", "user::rwz"],
    ["set", ""],
    ["modify", "user:me"],
    ["modify", "user:me:rwx,user:me:r--"],
    ["remove", "user::"],
    ["remove", "other"],
    ["remove", "nobody:me"],
  ];
  for (const [mode, acl] of wrong) {
    const code = refused("InvalidAccessControlList");
    await assert.rejects(change(paths, "a", mode, acl), code, `${mode} ${acl}`);
  }
  await assert.rejects(
    change(paths, "a", "modify", "user:me:r-x", { after: "/elsewhere" }),
    refused("InvalidQueryParameterValue"),
  );
  await assert.rejects(change(paths, "none", "modify", "user:me:r-x"), refused("BlobNotFound"));
  assert.deepEqual(await changed(paths), []);
});

test("a caller who may not reach the path is refused", async () => {
  const paths = await tree();
  const accesses: Access[] = [
    user("me"),
    { kind: "service-sas", letters: "racwdlmeo", policy: null },
  ];
  for (const access of accesses) {
    await assert.rejects(change(paths, "a", "modify", "user:me:r-x", { access }), refused(DENIED));
  }
  const flat = await Paths.open();
  await flat.create("file", "a/1");
  await assert.rejects(
    change(flat, "a", "modify", "user:me:r-x"),
    refused("HierarchicalNamespaceNotEnabled"),
  );
});
