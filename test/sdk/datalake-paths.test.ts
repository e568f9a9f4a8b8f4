import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DataLakeFileClient,
  DataLakeFileSystemClient,
  type DataLakePathClient,
  DataLakeSASPermissions,
  FileSystemSASPermissions,
} from "@azure/storage-file-datalake";
import { startDataLake } from "./datalake-server.ts";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startDataLake());

for (const [how, client] of [
  ["at an address", server.client()],
  ["by host name", server.hostClient()],
] as const) {
  const filesystem = client.getFileSystemClient(`paths-${how.replaceAll(" ", "-")}`);

  test(`${how}: files and directories have properties, metadata, leases and status`, async () => {
    await filesystem.createIfNotExists();
    const paths: [DataLakePathClient, boolean][] = [
      [filesystem.getFileClient("p/file"), false],
      [filesystem.getDirectoryClient("p/directory"), true],
    ];
    for (const [path, isDirectory] of paths) {
      await path.create(isDirectory ? "directory" : "file", { metadata: { KeyA: "a,b=c ~?" } });
      const { metadata } = await path.getProperties();
      assert.equal(metadata?.keya, "a,b=c ~?");
      assert.equal(metadata?.hdi_isfolder, isDirectory ? "true" : undefined);
      await path.setMetadata({ b: "2" });
      assert.equal((await path.getProperties()).metadata?.b, "2");
      await path.setHttpHeaders({ contentLanguage: "en", cacheControl: "no-store" });
      const found = await path.getProperties();
      assert.deepEqual([found.contentLanguage, found.cacheControl], ["en", "no-store"]);
      const lease = path.getDataLakeLeaseClient("ca761232-ed42-11ce-bacd-00aa0057b223");
      await lease.acquireLease(30);
      assert.equal((await path.getProperties()).leaseState, "leased");
      await refused(path.setMetadata({ c: "3" }), 412, "LeaseIdMissing");
      await lease.renewLease();
      await lease.changeLease("3c7e72ebb4304526bc53d8ecef03798f");
      await lease.breakLease(0);
      assert.equal((await path.getProperties()).leaseState, "broken");
      assert.equal(await path.exists(), true);
    }
  });

  test(`${how}: a file shows what it was created with, also to Blob clients`, async () => {
    await filesystem.createIfNotExists();
    const file = filesystem.getFileClient("created");
    await file.create({
      metadata: { a: "b" },
      permissions: "0777",
      umask: "0057",
      proposedLeaseId: "25180729-00c9-42b0-938b-ecabce67a007",
      leaseDuration: 20,
      expiresOn: 60_000,
      encryptionContext: "context",
      pathHttpHeaders: { contentType: "type/subtype", contentLanguage: "language" },
    });
    const found = await file.getProperties();
    assert.deepEqual(found.metadata, { a: "b" });
    assert.equal(found.encryptionContext, "context");
    assert.deepEqual([found.owner, found.group], ["$superuser", "$superuser"]);
    assert.deepEqual(found.permissions?.group, { read: false, write: true, execute: false });
    assert.equal(found.acl?.length, 3);
    assert.equal(found.expiresOn?.getTime(), (found.createdOn?.getTime() ?? 0) + 60_000);
    assert.deepEqual([found.leaseState, found.leaseDuration], ["leased", "fixed"]);
    const read = await file.read();
    assert.equal(read.encryptionContext, "context");
    const [listed] = (await filesystem.listPaths({ startFrom: "created" }).byPage().next()).value
      .pathItems;
    assert.equal(listed.encryptionContext, "context");
    await assert.rejects(file.delete(), /There is currently a lease on the resource and no lease/);
  });

  test(`${how}: dots in an encoded path are resolved`, async () => {
    await filesystem.createIfNotExists();
    const directory = filesystem.getDirectoryClient("dots");
    await directory.create();
    await directory.getFileClient("./x/../y/.././below").create();
    await directory.getFileClient("./x/../../y/.././beside").create();
    assert.equal(await filesystem.getFileClient("dots/below").exists(), true);
    assert.equal(await filesystem.getFileClient("beside").exists(), true);
  });

  test(`${how}: owners, permissions and ACLs`, async () => {
    await filesystem.createIfNotExists();
    const file = filesystem.getFileClient("acl/file");
    await file.create({ permissions: "0755", umask: "0022" });
    const first = await file.getAccessControl();
    assert.equal(first.owner, "$superuser");
    assert.deepEqual(first.permissions?.other, { read: true, write: false, execute: true });
    await file.setPermissions({
      owner: { read: true, write: false, execute: true },
      group: { read: false, write: true, execute: false },
      other: { read: true, write: true, execute: false },
      stickyBit: false,
      extendedAcls: false,
    });
    const { permissions } = await file.getAccessControl();
    assert.deepEqual(permissions?.owner, { read: true, write: false, execute: true });
    const id = "ec3595d6-2c17-4696-8caa-7e139758d24a";
    await file.setAccessControl(
      [
        {
          accessControlType: "user",
          entityId: "",
          defaultScope: false,
          permissions: { read: true, write: true, execute: true },
        },
        {
          accessControlType: "user",
          entityId: id,
          defaultScope: false,
          permissions: { read: true, write: false, execute: false },
        },
        {
          accessControlType: "group",
          entityId: "",
          defaultScope: false,
          permissions: { read: false, write: false, execute: true },
        },
        {
          accessControlType: "mask",
          entityId: "",
          defaultScope: false,
          permissions: { read: true, write: true, execute: true },
        },
        {
          accessControlType: "other",
          entityId: "",
          defaultScope: false,
          permissions: { read: false, write: false, execute: false },
        },
      ],
      { owner: id, group: id },
    );
    const changed = await file.getAccessControl();
    assert.deepEqual([changed.owner, changed.group], [id, id]);
    assert.equal(changed.acl.length, 5);
    const root = filesystem.getDirectoryClient("/");
    assert.equal((await root.getAccessControl()).owner, "$superuser");
  });

  test(`${how}: a file expires`, async () => {
    await filesystem.createIfNotExists();
    const file = filesystem.getFileClient("expiring");
    await file.create();
    await file.setExpiry("RelativeToNow", { timeToExpireInMs: 60_000 });
    const { expiresOn } = await file.getProperties();
    assert.ok(expiresOn !== undefined);
    const at = new Date(server.clock.now() + 120_000);
    await file.setExpiry("Absolute", { expiresOn: at });
    at.setMilliseconds(0);
    assert.equal((await file.getProperties()).expiresOn?.getTime(), at.getTime());
    await file.setExpiry("NeverExpire");
    assert.equal((await file.getProperties()).expiresOn, undefined);
    const directory = filesystem.getDirectoryClient("never-expires");
    await assert.rejects(
      directory.create({ expiresOn: 60_000 }),
      /Set Expiry is not supported for a directory/,
    );
    assert.equal(await directory.exists(), false);
    await file.setExpiry("RelativeToCreation", { timeToExpireInMs: 30_000 });
    server.clock.advance(31_000);
    assert.equal(await file.exists(), false);
  });

  test(`${how}: a client with a SAS alone moves files that the SAS covers`, async () => {
    await filesystem.createIfNotExists();
    const source = filesystem.getFileClient("sas/a");
    await source.upload(Buffer.from("a"));
    const within = async (permissions: string) => {
      const url = await filesystem.generateSasUrl({
        permissions: FileSystemSASPermissions.parse(permissions),
        expiresOn: new Date(Date.now() + 3_600_000),
      });
      return new DataLakeFileSystemClient(url).getFileClient("sas/a");
    };
    await refused((await within("rcw")).move("sas/b"), 403, "AuthorizationPermissionMismatch");
    await (await within("rcwdm")).move("sas/b");
    assert.equal(await source.exists(), false);
    const moved = filesystem.getFileClient("sas/b");
    assert.equal((await moved.readToBuffer()).toString(), "a");
    const url = await moved.generateSasUrl({
      permissions: DataLakeSASPermissions.parse("rcwdm"),
      expiresOn: new Date(Date.now() + 3_600_000),
    });
    // A SAS for one file does not cover the other name.
    const alone = new DataLakeFileClient(url);
    await assert.rejects(alone.move("sas/c"), { statusCode: 403 });
    assert.equal(await moved.exists(), true);
  });

  test(`${how}: moves with conditions, over files and between file systems`, async () => {
    await filesystem.createIfNotExists();
    const other = client.getFileSystemClient(`${filesystem.name}-2`);
    await other.create();
    const file = filesystem.getFileClient("m/a");
    await file.upload(Buffer.from("a"));
    const { etag = "" } = await file.getProperties();
    await refused(
      file.move("m/b", { conditions: { ifMatch: '"0x1"' } }),
      412,
      "SourceConditionNotMet",
    );
    await file.move("m/b", { conditions: { ifMatch: etag } });
    await filesystem.getFileClient("m/c").upload(Buffer.from("c"));
    await refused(
      filesystem.getFileClient("m/b").move("m/c", { destinationConditions: { ifNoneMatch: "*" } }),
      409,
      "PathAlreadyExists",
    );
    await filesystem.getFileClient("m/b").move("m/c");
    await filesystem.getDirectoryClient("m").move(other.name, "n");
    assert.equal((await other.getFileClient("n/c").readToBuffer()).toString(), "a");
    await refused(filesystem.getFileClient("m/zz").move("m/y"), 404, "SourcePathNotFound");
    await refused(other.getDirectoryClient("n").move("n/below"), 409, "InvalidRenameSourcePath");
  });
}
