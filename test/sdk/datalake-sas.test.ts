import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import {
  type DataLakeFileSystemClient,
  DataLakeServiceClient,
  DirectorySASPermissions,
  generateDataLakeSASQueryParameters,
  type UserDelegationKey,
} from "@azure/storage-file-datalake";
import { DATALAKE_CREDENTIAL, startDataLake } from "./datalake-server.ts";
import { ANN, BOB, granting, itemsOf, ownFilesystem, rootOf } from "./datalake-users.ts";
import { attempt, HAS_ROLES, MISMATCH, OPTIONS, PERMITTED, userWith } from "./role-users.ts";
import { ACCOUNT, forThisFile } from "./server.ts";

const HOUR_MS = 3_600_000;
const server = await forThisFile(startDataLake(HAS_ROLES));
const NOT_SIGNED = "403 AuthenticationFailed";

type Values = Parameters<typeof generateDataLakeSASQueryParameters>[0];

function valuesFor(filesystem: DataLakeFileSystemClient, letters: string, more: Partial<Values>) {
  return {
    fileSystemName: filesystem.name,
    pathName: "dir/sub",
    isDirectory: true,
    directoryDepth: 2,
    permissions: DirectorySASPermissions.parse(letters),
    expiresOn: new Date(Date.now() + HOUR_MS),
    ...more,
  };
}

/** Clients of both doors that have nothing but a token. */
function clientsWith(filesystem: DataLakeFileSystemClient, token: string) {
  const { name } = filesystem;
  const service = new DataLakeServiceClient(`${server.url}?${token}`, undefined, OPTIONS);
  const blobs = new BlobServiceClient(`${server.url}?${token}`, undefined, OPTIONS);
  return { lake: service.getFileSystemClient(name), blobs: blobs.getContainerClient(name) };
}

async function filled(): Promise<DataLakeFileSystemClient> {
  const filesystem = await ownFilesystem(server);
  for (const path of ["dir/sub/file", "dir/sub/deep/file", "dir/other", "dir/submarine"]) {
    await filesystem.getFileClient(path).upload(Buffer.from("bytes"));
  }
  return filesystem;
}

test("a SAS of a directory permits its letters there and below, and nothing beside it", async () => {
  const filesystem = await filled();
  const clients = (letters: string) => {
    const values = valuesFor(filesystem, letters, {});
    return clientsWith(
      filesystem,
      generateDataLakeSASQueryParameters(values, DATALAKE_CREDENTIAL).toString(),
    );
  };
  const { lake, blobs } = clients("racwdlmeop");
  const reads = (path: string) => attempt(() => lake.getFileClient(path).readToBuffer());
  assert.equal(await reads("dir/sub/file"), PERMITTED);
  assert.equal(await reads("dir/sub/deep/file"), PERMITTED);
  for (const path of ["dir/other", "dir/submarine", "dir/sub.", "other"]) {
    assert.equal(await reads(path), NOT_SIGNED, path);
  }
  assert.equal(await attempt(() => blobs.getBlobClient("dir/sub/file").download()), PERMITTED);
  assert.equal(await attempt(() => blobs.getBlobClient("dir/other").download()), NOT_SIGNED);

  const works: Readonly<Record<string, (lake: DataLakeFileSystemClient) => Promise<unknown>>> = {
    r: (one) => one.getFileClient("dir/sub/file").readToBuffer(),
    c: (one) => one.getFileClient(`dir/sub/new-${Math.random()}`).create(),
    l: (one) => one.listPaths({ path: "dir/sub" }).next(),
    m: (one) => one.getFileClient("dir/sub/deep/file").move("dir/sub/deep/file"),
    e: (one) => one.getDirectoryClient("dir/sub").getAccessControl(),
    p: (one) =>
      one
        .getFileClient("dir/sub/file")
        .setAccessControl(itemsOf("user::rwx,group::r-x,other::---")),
    d: (one) => one.getFileClient("dir/sub/deep/file").delete(),
  };
  for (const [letter, work] of Object.entries(works)) {
    const others = [..."racwdlmeop"].filter(
      (one) => one !== letter && !(letter === "c" && one === "w"),
    );
    assert.equal(await attempt(() => work(clients(others.join("")).lake)), MISMATCH, letter);
    const letters = letter === "m" ? "mcw" : letter;
    assert.equal(await attempt(() => work(clients(letters).lake)), PERMITTED, letter);
  }
  assert.equal(await attempt(() => lake.listPaths({ path: "dir" }).next()), NOT_SIGNED);
  assert.equal(await attempt(() => lake.listPaths().next()), NOT_SIGNED);
});

/** A key of a user with a role. */
async function keyOf(role: "blob-contributor" | "blob-delegator"): Promise<UserDelegationKey> {
  const service = new DataLakeServiceClient(server.url, userWith(role), OPTIONS);
  const now = Date.now();
  return service.getUserDelegationKey(new Date(now - HOUR_MS), new Date(now + HOUR_MS));
}

test("a SAS for a user whom ACLs decide on (suoid) permits what the SAS and ACLs permit", async () => {
  const filesystem = await filled();
  const key = await keyOf("blob-contributor");
  const reads = (more: Partial<Values>, path = "dir/sub/file") => {
    const values = valuesFor(filesystem, "racwdl", more);
    const token = generateDataLakeSASQueryParameters(values, key, ACCOUNT).toString();
    const { lake, blobs } = clientsWith(filesystem, token);
    return Promise.all([
      attempt(() => lake.getFileClient(path).readToBuffer()),
      attempt(() => blobs.getBlobClient(path).downloadToBuffer()),
    ]);
  };
  assert.deepEqual(await reads({}), [PERMITTED, PERMITTED]);
  assert.deepEqual(await reads({ agentObjectId: ANN }), [MISMATCH, MISMATCH]);
  for (const path of ["dir", "dir/sub"]) {
    await filesystem.getDirectoryClient(path).setAccessControl(granting(ANN, "--x"));
  }
  await rootOf(filesystem).setAccessControl(granting(ANN, "--x"));
  await filesystem.getFileClient("dir/sub/file").setAccessControl(granting(ANN, "r--"));
  assert.deepEqual(await reads({ agentObjectId: ANN }), [PERMITTED, PERMITTED]);
  assert.deepEqual(await reads({ agentObjectId: BOB }), [MISMATCH, MISMATCH]);
  assert.deepEqual(await reads({ preauthorizedAgentObjectId: BOB }), [PERMITTED, PERMITTED]);
});

test("what a SAS creates belongs to the user it names, or to its signer", async () => {
  const filesystem = await filled();
  const key = await keyOf("blob-contributor");
  const ownerOf = async (more: Partial<Values>) => {
    const values = valuesFor(filesystem, "racwdl", more);
    const token = generateDataLakeSASQueryParameters(values, key, ACCOUNT).toString();
    const path = `dir/sub/new-${Math.random()}`;
    await clientsWith(filesystem, token).lake.getFileClient(path).create();
    return (await filesystem.getFileClient(path).getAccessControl()).owner;
  };
  assert.equal(await ownerOf({}), key.signedObjectId);
  assert.equal(await ownerOf({ preauthorizedAgentObjectId: BOB }), BOB);
});

test("a signer without a role for data signs for what ACLs grant the signer", async () => {
  const filesystem = await filled();
  const key = await keyOf("blob-delegator");
  const reads = () => {
    const values = valuesFor(filesystem, "racwdl", {});
    const token = generateDataLakeSASQueryParameters(values, key, ACCOUNT).toString();
    const file = clientsWith(filesystem, token).lake.getFileClient("dir/sub/file");
    return attempt(() => file.readToBuffer());
  };
  assert.equal(await reads(), MISMATCH);
  const signer = key.signedObjectId ?? assert.fail();
  for (const path of ["dir", "dir/sub"]) {
    await filesystem.getDirectoryClient(path).setAccessControl(granting(signer, "--x"));
  }
  await rootOf(filesystem).setAccessControl(granting(signer, "--x"));
  await filesystem.getFileClient("dir/sub/file").setAccessControl(granting(signer, "r--"));
  assert.equal(await reads(), PERMITTED);
});
