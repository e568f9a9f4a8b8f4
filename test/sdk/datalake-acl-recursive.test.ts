import assert from "node:assert/strict";
import { test } from "node:test";
import type { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { startDataLake } from "./datalake-server.ts";
import { ANN, BOB, itemsOf, ownFilesystem, rootOf, textOf, userOf } from "./datalake-users.ts";
import { refused } from "./refused.ts";
import { HAS_ROLES } from "./role-users.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startDataLake(HAS_ROLES));
const flat = await forThisFile(startDataLake({ hierarchicalNamespace: false }));

const PLAIN = "user::rwx,group::r-x,other::---";
const FILES = ["a/1", "a/2", "a/b/1", "a/b/2"];
const PATHS = ["a", "a/1", "a/2", "a/b", "a/b/1", "a/b/2"];

async function filled(): Promise<DataLakeFileSystemClient> {
  const filesystem = await ownFilesystem(server);
  for (const path of [...FILES, "z"]) await filesystem.getFileClient(path).create();
  return filesystem;
}

async function aclOf(filesystem: DataLakeFileSystemClient, path: string): Promise<string> {
  const { acl } = await filesystem.getDirectoryClient(path).getAccessControl();
  return textOf(acl);
}

const NO_FAILURES = { failedChangesCount: 0 };

test("ACLs of a directory and all below are set, changed and removed", async () => {
  const filesystem = await filled();
  const top = filesystem.getDirectoryClient("a");
  const counts = { changedDirectoriesCount: 2, changedFilesCount: 4, ...NO_FAILURES };
  const set = await top.setAccessControlRecursive(itemsOf(`${PLAIN},user:${ANN}:r-x`));
  assert.deepEqual(set.counters, counts);
  const updated = await top.updateAccessControlRecursive(
    itemsOf(`user:${BOB}:rw-,default:user:${BOB}:r-x`),
  );
  assert.deepEqual(updated.counters, counts);
  const named = `user::rwx,user:${ANN}:r-x,user:${BOB}:rw-,group::r-x,mask::rwx,other::---`;
  for (const path of PATHS) {
    const acl = await aclOf(filesystem, path);
    assert.equal(acl.split(",default:")[0], named, path);
    assert.equal(acl.includes(`default:user:${BOB}:r-x`), !FILES.includes(path), path);
  }
  const removed = await top.removeAccessControlRecursive([
    { accessControlType: "mask", defaultScope: false },
    { accessControlType: "user", defaultScope: true },
    { accessControlType: "group", defaultScope: true },
    { accessControlType: "user", entityId: ANN, defaultScope: false },
    { accessControlType: "user", entityId: BOB, defaultScope: false },
    { accessControlType: "user", entityId: BOB, defaultScope: true },
  ]);
  assert.deepEqual(removed.counters, counts);
  for (const path of PATHS) assert.match(await aclOf(filesystem, path), new RegExp(`^${PLAIN}`));
  assert.equal(await aclOf(filesystem, "z"), "user::rw-,group::r--,other::---");
});

test("a change is made in batches, and resumed where it was left", async () => {
  const filesystem = await filled();
  const batches: number[] = [];
  await rootOf(filesystem).updateAccessControlRecursive(itemsOf(`user:${ANN}:r-x`), {
    batchSize: 3,
    onProgress: ({ batchCounters }) => {
      const { changedDirectoriesCount, changedFilesCount } = batchCounters;
      batches.push(changedDirectoriesCount + changedFilesCount);
    },
  });
  assert.deepEqual(batches, [3, 3, 2]);
  const directory = filesystem.getDirectoryClient("a");
  const first = await directory.updateAccessControlRecursive(itemsOf(`user:${BOB}:r-x`), {
    batchSize: 2,
    maxBatches: 1,
  });
  assert.deepEqual(first.counters, {
    changedDirectoriesCount: 1,
    changedFilesCount: 1,
    ...NO_FAILURES,
  });
  const rest = await directory.updateAccessControlRecursive(itemsOf(`user:${BOB}:r-x`), {
    continuationToken: first.continuationToken ?? assert.fail(),
  });
  assert.deepEqual(rest.counters, {
    changedDirectoriesCount: 1,
    changedFilesCount: 3,
    ...NO_FAILURES,
  });
  assert.equal(rest.continuationToken, undefined);
});

test("a user changes what is the user's, and is told what is not", async () => {
  const filesystem = await filled();
  for (const path of ["", ...PATHS]) {
    const client = path === "" ? rootOf(filesystem) : filesystem.getDirectoryClient(path);
    const owner = path === "a/2" || path === "" ? BOB : ANN;
    await client.setAccessControl(itemsOf("user::rwx,group::--x,other::--x"), { owner });
  }
  const top = userOf(server, filesystem.name, ANN).filesystem.getDirectoryClient("a");
  const failed = await top.updateAccessControlRecursive(itemsOf(`user:${ANN}:r-x`));
  assert.equal(failed.counters.failedChangesCount, 1);
  assert.equal(failed.counters.changedFilesCount, 1);
  const failures: unknown[] = [];
  const done = await top.updateAccessControlRecursive(itemsOf(`user:${ANN}:r-x`), {
    continueOnFailure: true,
    onProgress: ({ batchFailures }) => failures.push(...batchFailures),
  });
  assert.deepEqual(done.counters, {
    changedDirectoriesCount: 2,
    changedFilesCount: 3,
    failedChangesCount: 1,
  });
  assert.deepEqual(failures, [
    {
      name: "a/2",
      isDirectory: false,
      message: "This request is not authorized to perform this operation using this permission.",
    },
  ]);
});

test("a flat file system has no ACLs to change", async () => {
  const filesystem = await flat.makeFilesystem();
  await filesystem.getFileClient("a/1").create();
  const change = filesystem
    .getDirectoryClient("a")
    .updateAccessControlRecursive(itemsOf("user:a:r-x"));
  await refused(
    change.catch(({ innerError }) => Promise.reject(innerError)),
    400,
    "HierarchicalNamespaceNotEnabled",
  );
});
