import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { startDataLake } from "./datalake-server.ts";
import {
  ANN,
  BOB,
  granting,
  itemsOf,
  ownBlobs,
  ownFilesystem,
  rootOf,
  TEAM,
  textOf,
  userOf,
} from "./datalake-users.ts";
import { refused } from "./refused.ts";
import { attempt, HAS_ROLES, MISMATCH, PERMITTED } from "./role-users.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startDataLake(HAS_ROLES));
const flat = await forThisFile(startDataLake({ hierarchicalNamespace: false }));

const PLAIN = "user::rwx,group::r-x,other::---";

async function upload(filesystem: DataLakeFileSystemClient, path: string, text = "bytes") {
  await filesystem.getFileClient(path).upload(Buffer.from(text));
}

/** A file system with `dir/sub/file`, in which Ann has these rights of root, dir, sub and file. */
async function tree(root: string, dir: string, sub: string, file: string) {
  const filesystem = await ownFilesystem(server);
  await upload(filesystem, "dir/sub/file");
  await filesystem.getFileClient("dir/sub/file").setAccessControl(granting(ANN, file));
  await filesystem.getDirectoryClient("dir/sub").setAccessControl(granting(ANN, sub));
  await filesystem.getDirectoryClient("dir").setAccessControl(granting(ANN, dir));
  await rootOf(filesystem).setAccessControl(granting(ANN, root));
  return { filesystem, ann: userOf(server, filesystem.name, ANN) };
}

test("the ACL of a file, a directory and the root is set and read back", async () => {
  const filesystem = await ownFilesystem(server);
  await upload(filesystem, "dir/file");
  const acl = `user::rwx,user:${ANN}:r-x,group::r-x,group:${TEAM}:r--,mask::r-x,other::---`;
  const defaults = "default:user::rwx,default:group::r-x,default:other::---";
  for (const [path, text] of [
    [filesystem.getFileClient("dir/file"), acl],
    [filesystem.getDirectoryClient("dir"), `${acl},${defaults}`],
    [rootOf(filesystem), `${acl},${defaults}`],
  ] as const) {
    const { etag } = await path.setAccessControl(itemsOf(text));
    const found = await path.getAccessControl();
    assert.equal(textOf(found.acl), text);
    assert.equal(found.etag, etag);
    assert.equal(found.owner, "$superuser");
    assert.equal(found.group, "$superuser");
    const permissions = found.permissions ?? assert.fail();
    assert.equal(permissions.extendedAcls, true);
    assert.deepEqual(permissions.group, { read: true, write: false, execute: true });
  }
});

test("permissions with a sticky bit are set as the client got them", async () => {
  const { filesystem } = await tree("--x", "--x", "rwx", "r--");
  const directory = filesystem.getDirectoryClient("dir/sub");
  const { permissions = assert.fail() } = await directory.getAccessControl();
  await directory.setPermissions({ ...permissions, stickyBit: true });
  const found = (await directory.getAccessControl()).permissions ?? assert.fail();
  assert.deepEqual(found, { ...permissions, stickyBit: true });
  assert.equal(found.extendedAcls, true);
});

test("owner and group are set, and shown with properties and in lists", async () => {
  const filesystem = await ownFilesystem(server);
  await upload(filesystem, "dir/file");
  const file = filesystem.getFileClient("dir/file");
  await file.setAccessControl(itemsOf(PLAIN), { owner: ANN, group: TEAM });
  const { owner, group } = await file.getAccessControl();
  assert.deepEqual([owner, group], [ANN, TEAM]);
  const status = await file.getSystemProperties();
  assert.deepEqual([status.owner, status.group], [ANN, TEAM]);
  const { headers } = (await ownBlobs(server, filesystem).getBlobClient("dir/file").getProperties())
    ._response;
  const shown = ["x-ms-owner", "x-ms-group", "x-ms-permissions", "x-ms-acl"];
  assert.deepEqual(
    shown.map((name) => headers.get(name)),
    [ANN, TEAM, "rwxr-x---", PLAIN],
  );
  const paths = filesystem.listPaths({ path: "dir" });
  const listed = (await paths.next()).value ?? assert.fail();
  assert.deepEqual([listed.owner, listed.group], [ANN, TEAM]);
  assert.equal(listed.permissions?.owner.execute, true);
});

test("an ACL of one user leaves the rights of the owner, the group and others", async () => {
  const filesystem = await ownFilesystem(server);
  await rootOf(filesystem).setAccessControl(itemsOf(`user:${ANN}:rwx`));
  const { acl } = await rootOf(filesystem).getAccessControl();
  assert.equal(textOf(acl), `user::rwx,user:${ANN}:rwx,group::r-x,mask::rwx,other::---`);
  const ann = userOf(server, filesystem.name, ANN);
  assert.equal(await attempt(() => ann.filesystem.getFileClient("file").create()), PERMITTED);
});

test("an owner is set without an ACL", async () => {
  const filesystem = await ownFilesystem(server);
  await upload(filesystem, "file");
  const file = filesystem.getFileClient("file");
  const before = await file.getAccessControl();
  await file.setAccessControl([], { owner: ANN });
  const { owner, acl } = await file.getAccessControl();
  assert.equal(owner, ANN);
  assert.deepEqual(acl, before.acl);
});

test("a user without a role reads what ACLs grant, through both doors", async () => {
  const enough = ["--x", "--x", "--x", "r--"] as const;
  for (const without of [null, 0, 1, 2, 3]) {
    const rights = [...enough] as [string, string, string, string];
    if (without !== null) rights[without] = without === 3 ? "-wx" : "rw-";
    const { ann } = await tree(...rights);
    const expected = without === null ? PERMITTED : MISMATCH;
    const file = ann.filesystem.getFileClient("dir/sub/file");
    const blob = ann.blobs.getBlobClient("dir/sub/file");
    assert.equal(await attempt(() => file.readToBuffer()), expected, rights.join());
    assert.equal(await attempt(() => blob.downloadToBuffer()), expected, rights.join());
    assert.equal(await attempt(() => blob.getProperties()), expected, rights.join());
  }
});

test("a user writes and deletes with w and x of the directory, through both doors", async () => {
  for (const [rights, expected] of [
    ["-wx", PERMITTED],
    ["r-x", MISMATCH],
    ["rw-", MISMATCH],
  ] as const) {
    const { ann } = await tree("--x", "--x", rights, "rw-");
    const file = ann.filesystem.getFileClient("dir/sub/new");
    const blob = ann.blobs.getBlockBlobClient("dir/sub/put");
    assert.equal(await attempt(() => file.upload(Buffer.from("x"))), expected, rights);
    assert.equal(await attempt(() => blob.upload("x", 1)), expected, rights);
    const old = ann.filesystem.getFileClient("dir/sub/file");
    assert.equal(await attempt(() => old.delete()), expected, rights);
    if (expected === MISMATCH) continue;
    assert.equal(await attempt(() => blob.delete()), PERMITTED);
    const { owner, group } = await file.getAccessControl();
    assert.deepEqual([owner, group], [ANN, "$superuser"]);
  }
});

test("appending takes r and w of the file", async () => {
  for (const [rights, expected] of [
    ["rw-", PERMITTED],
    ["-wx", MISMATCH],
    ["r-x", MISMATCH],
  ] as const) {
    const { ann } = await tree("--x", "--x", "--x", rights);
    const file = ann.filesystem.getFileClient("dir/sub/file");
    assert.equal(await attempt(() => file.append("more", 5, 4)), expected, rights);
    assert.equal(await attempt(() => file.flush(9)), expected, rights);
  }
});

test("a group of the token counts, and a stranger has the rights of others", async () => {
  const { filesystem } = await tree("--x", "--x", "--x", "---");
  const everybody = itemsOf("user::rwx,group::---,other::--x");
  await rootOf(filesystem).setAccessControl(everybody);
  await filesystem.getDirectoryClient("dir").setAccessControl(everybody);
  await filesystem.getDirectoryClient("dir/sub").setAccessControl(everybody);
  const file = filesystem.getFileClient("dir/sub/file");
  await file.setAccessControl(itemsOf(`user::rwx,group::---,group:${TEAM}:r--,other::---`));
  const reads = (groups: string[]) => {
    const bob = userOf(server, filesystem.name, BOB, groups);
    return attempt(() => bob.filesystem.getFileClient("dir/sub/file").readToBuffer());
  };
  assert.equal(await reads([TEAM]), PERMITTED);
  assert.equal(await reads([TEAM.toUpperCase()]), PERMITTED);
  assert.equal(await reads([]), MISMATCH);
  await file.setAccessControl(itemsOf("user::rwx,group::---,other::r--"));
  assert.equal(await reads([]), PERMITTED);
});

test("owners set permissions and ACLs of what is theirs, and nothing else", async () => {
  const { filesystem, ann } = await tree("--x", "--x", "-wx", "rwx");
  await upload(ann.filesystem, "dir/sub/mine");
  const mine = ann.filesystem.getFileClient("dir/sub/mine");
  await mine.setAccessControl(granting(BOB, "r--"));
  const theirs = ann.filesystem.getFileClient("dir/sub/file");
  assert.equal(await attempt(() => theirs.setAccessControl(granting(ANN, "rwx"))), MISMATCH);
  const given = () => mine.setAccessControl(itemsOf(PLAIN), { owner: BOB });
  assert.equal(await attempt(given), MISMATCH);
  await filesystem.getFileClient("dir/sub/mine").setAccessControl(itemsOf(PLAIN), { owner: BOB });
  assert.equal(await attempt(() => mine.setAccessControl(itemsOf(PLAIN))), MISMATCH);
});

test("children take the default ACL of their directory, through both doors", async () => {
  const filesystem = await ownFilesystem(server);
  const directory = filesystem.getDirectoryClient("dir");
  await directory.create();
  const defaults = `default:user::rwx,default:user:${ANN}:rwx,default:group::r-x,default:mask::rwx,default:other::---`;
  await directory.setAccessControl(itemsOf(`${PLAIN},${defaults}`));
  await directory.getSubdirectoryClient("sub").create();
  await directory.getFileClient("lake").create({ umask: "0777" });
  await ownBlobs(server, filesystem).getBlockBlobClient("dir/blob").upload("x", 1);
  const aclOf = async (path: string) =>
    textOf((await filesystem.getDirectoryClient(path).getAccessControl()).acl);
  const access = `user::rwx,user:${ANN}:rwx,group::r-x,mask::rwx,other::---`;
  assert.equal(await aclOf("dir/sub"), `${access},${defaults}`);
  const file = `user::rw-,user:${ANN}:rwx,group::r-x,mask::rw-,other::---`;
  assert.equal(await aclOf("dir/lake"), file);
  assert.equal(await aclOf("dir/blob"), file);
  await filesystem.getFileClient("dir/lake").move("moved");
  assert.equal(await aclOf("moved"), file);
});

test("a path is created with permissions, umask, ACL, owner and group", async () => {
  const filesystem = await ownFilesystem(server);
  const file = filesystem.getFileClient("file");
  await file.create({ permissions: "rwxrwxrwx", umask: "0057", owner: ANN, group: TEAM });
  const found = await file.getAccessControl();
  assert.equal(textOf(found.acl), "user::rwx,group::-w-,other::---");
  assert.deepEqual([found.owner, found.group], [ANN, TEAM]);
  const directory = filesystem.getDirectoryClient("dir");
  const acl = `user::rwx,group::r-x,other::--x,default:user::rwx,default:group::---,default:other::---`;
  await directory.create({ acl: itemsOf(acl) });
  assert.equal(textOf((await directory.getAccessControl()).acl), acl);
});

test("renaming takes w and x of both directories", async () => {
  const { filesystem, ann } = await tree("--x", "--x", "-wx", "---");
  await filesystem.getDirectoryClient("to").create();
  const move = () => ann.filesystem.getFileClient("dir/sub/file").move("to/file");
  await filesystem.getDirectoryClient("to").setAccessControl(granting(ANN, "r-x"));
  assert.equal(await attempt(move), MISMATCH);
  await filesystem.getDirectoryClient("to").setAccessControl(granting(ANN, "-wx"));
  assert.equal(await attempt(move), PERMITTED);
  const { acl } = await filesystem.getFileClient("to/file").getAccessControl();
  assert.equal(textOf(acl), textOf(granting(ANN, "---")));
});

test("a user lists what ACLs grant, through both doors", async () => {
  const { filesystem, ann } = await tree("--x", "r-x", "r-x", "---");
  const listed = async (path: string, recursive = false) => {
    const paths: string[] = [];
    for await (const { name } of ann.filesystem.listPaths({ path, recursive })) {
      paths.push(name ?? "");
    }
    return paths;
  };
  assert.deepEqual(await listed("dir"), ["dir/sub"]);
  assert.deepEqual(await listed("dir", true), ["dir/sub", "dir/sub/file"]);
  assert.equal(await attempt(() => listed("")), MISMATCH);
  const blobs = async (prefix: string) => {
    const names: string[] = [];
    for await (const { name } of ann.blobs.listBlobsFlat({ prefix })) names.push(name);
    return names;
  };
  assert.deepEqual(await blobs("dir/"), ["dir/sub", "dir/sub/file"]);
  assert.equal(await attempt(() => blobs("")), MISMATCH);
  await filesystem.getDirectoryClient("dir/sub").setAccessControl(granting(ANN, "--x"));
  assert.deepEqual(await listed("dir"), ["dir/sub"]);
  assert.equal(await attempt(() => listed("dir", true)), MISMATCH);
  assert.equal(await attempt(() => blobs("dir/")), MISMATCH);
});

test("deleting a directory with all in it takes all rights below", async () => {
  for (const [sub, expected] of [
    ["r-x", MISMATCH],
    ["rwx", PERMITTED],
  ] as const) {
    const { ann } = await tree("-wx", "rwx", sub, "---");
    const remove = () => ann.filesystem.getDirectoryClient("dir").delete(true);
    assert.equal(await attempt(remove), expected, sub);
  }
});

test("setting an ACL respects conditions and leases, and gives a new ETag", async () => {
  const filesystem = await ownFilesystem(server);
  await upload(filesystem, "dir/file");
  for (const path of [filesystem.getFileClient("dir/file"), filesystem.getDirectoryClient("dir")]) {
    const { etag: before = assert.fail() } = await path.getProperties();
    const conditions = { ifMatch: before };
    const { etag } = await path.setAccessControl(itemsOf(PLAIN), { conditions });
    assert.notEqual(etag, before);
    assert.equal((await path.getProperties()).etag, etag);
    const late = path.setAccessControl(itemsOf(PLAIN), { conditions });
    await refused(late, 412, "ConditionNotMet");
    const lease = path.getDataLakeLeaseClient();
    const { leaseId = assert.fail() } = await lease.acquireLease(-1);
    await refused(path.setAccessControl(itemsOf(PLAIN)), 412, "LeaseIdMissing");
    await path.setAccessControl(itemsOf(PLAIN), { conditions: { leaseId } });
    await lease.releaseLease();
  }
});

test("in a flat file system there is no access control", async () => {
  const filesystem = await flat.makeFilesystem();
  await upload(filesystem, "dir/file");
  const file = filesystem.getFileClient("dir/file");
  await refused(file.getAccessControl(), 400, "HierarchicalNamespaceNotEnabled");
  await refused(file.setAccessControl(itemsOf(PLAIN)), 400, "HierarchicalNamespaceNotEnabled");
  await refused(rootOf(filesystem).getAccessControl(), 400, "HierarchicalNamespaceNotEnabled");
});
