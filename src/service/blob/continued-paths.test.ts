import assert from "node:assert/strict";
import { test } from "node:test";
import type { Access } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { LEASE_ID, refused } from "./blobs.fixture.ts";
import { leaseBlob } from "./lease-blob.ts";
import { Paths } from "./paths.fixture.ts";
import { setAccessControlRecursive } from "./set-access-control-recursive.ts";

const CONTINUED = { isContinued: true };

async function filled(paths: Paths): Promise<Paths> {
  for (const name of ["a/b/c", "d/e", "file", "leased"]) await paths.create("file", name);
  const { blobs } = paths;
  const lease = { action: "acquire", proposedId: LEASE_ID, isNewId: true } as const;
  const asked = { ...blobs.use("leased"), lease: { ...lease, durationSeconds: -1 } };
  await leaseBlob(blobs.context, asked);
  return paths;
}

test("a client cannot skip the checks of a rename or delete by calling it continued", async () => {
  for (const paths of [
    await filled(await Paths.open()),
    await filled(await Paths.openHierarchical()),
  ]) {
    const leased = refused("LeaseIdMissing");
    await assert.rejects(paths.delete("leased", CONTINUED), leased);
    await assert.rejects(paths.rename("leased", "new", CONTINUED), leased);
  }
  const tree = await filled(await Paths.openHierarchical());
  const itself = refused("InvalidRenameSourcePath");
  await assert.rejects(tree.rename("a", "a/b/new", CONTINUED), itself);
  await assert.rejects(tree.rename("a", "d", CONTINUED), refused("DirectoryNotEmpty"));
  await assert.rejects(tree.delete("none", CONTINUED), refused("BlobNotFound"));
  assert.deepEqual(await tree.list(), ["a/", "d/", "file", "leased"]);
});

test("a SAS for one blob does not reach what lies below a directory of that name", async () => {
  const denied = refused("AuthorizationPermissionMismatch");
  const sas = { kind: "service-sas", letters: "racwdlmeop", policy: null } as const;
  const access: Access = { ...sas, isForOne: true };
  for (const paths of [
    await filled(await Paths.open()),
    await filled(await Paths.openHierarchical()),
  ]) {
    await assert.rejects(paths.delete("a", { isRecursive: true, access }), denied);
    const { at, leaseId } = paths.blobs.use("a");
    const source = { at, access, leaseId, conditions: NO_CONDITIONS };
    await assert.rejects(paths.rename("a", "n", { access, source }), denied);
    await paths.delete("file", { isRecursive: true, access });
    await paths.delete("a", { isRecursive: true, access: sas });
  }
  const { blobs } = await filled(await Paths.openHierarchical());
  const change = (path: string) =>
    setAccessControlRecursive(blobs.context, {
      at: blobs.use(path).at,
      access,
      mode: "modify",
      acl: "user:me:rwx",
      pathsMax: 10,
      after: null,
      goesOn: true,
    });
  await assert.rejects(change("a"), denied);
  assert.equal((await change("file")).files, 1);
});
