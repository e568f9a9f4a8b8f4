import assert from "node:assert/strict";
import { test } from "node:test";
import { etagOf } from "../../base/stamp.ts";
import type { Access } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { controlAt, setControl, user } from "./access-control.fixture.ts";
import type { AskedControl } from "./asked-access-control.ts";
import { Blobs, LEASE_ID, refused } from "./blobs.fixture.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { leaseBlob } from "./lease-blob.ts";

const PLAIN = "user::rwx,group::r-x,other::---";
const DENIED = refused("AuthorizationPermissionMismatch");

async function withFile(): Promise<Blobs> {
  const blobs = await Blobs.openHierarchical();
  await blobs.put("dir/file", "bytes");
  return blobs;
}

test("owner, group, permissions and ACL are set one by one, on files, directories and the root", async () => {
  const blobs = await withFile();
  for (const path of ["dir/file", "dir", ""]) {
    await setControl(blobs, path, { owner: "ann" });
    await setControl(blobs, path, { group: "team" });
    await setControl(blobs, path, { permissions: "1754" });
    assert.equal(
      await controlAt(blobs, path),
      "ann team rwxr-xr-T user::rwx,group::r-x,other::r--",
      path,
    );
    await setControl(blobs, path, { acl: "user::r--,group::-w-,other::--x" });
    assert.equal(
      await controlAt(blobs, path),
      "ann team r---w---t user::r--,group::-w-,other::--x",
      path,
    );
  }
});

test("an ACL replaces access and default ACL", async () => {
  const blobs = await withFile();
  await setControl(blobs, "dir", { acl: `${PLAIN},user:a:rwx,default:user:b:rwx` });
  assert.match(await controlAt(blobs, "dir"), /user:a:rwx.*default:user:b:rwx/);
  await setControl(blobs, "dir", { acl: PLAIN });
  assert.match(await controlAt(blobs, "dir"), new RegExp(`rwxr-x--- ${PLAIN}$`));
});

test("bad values are refused, and nothing is changed", async () => {
  const blobs = await withFile();
  const before = await controlAt(blobs, "dir/file");
  const wrong: [Partial<AskedControl>, RegExp][] = [
    [{ permissions: "rwx" }, /InvalidHeaderValue/],
    [{ permissions: "0999" }, /InvalidHeaderValue/],
    [{ permissions: "" }, /InvalidHeaderValue/],
    [{ owner: "" }, /InvalidHeaderValue/],
    [{ owner: "a b" }, /InvalidHeaderValue/],
    [{ group: "a,b" }, /InvalidHeaderValue/],
    [{ permissions: "0777", acl: PLAIN }, /InvalidInput/],
    [{ acl: "" }, /InvalidAccessControlList/],
    [{ acl: "user::rwz" }, /InvalidAccessControlList/],
    [{ acl: `${PLAIN},default:user::rwx` }, /InvalidAccessControlList/],
    [{ acl: PLAIN, owner: "a b" }, /InvalidHeaderValue/],
  ];
  for (const [control, code] of wrong) {
    await assert.rejects(setControl(blobs, "dir/file", control), code, JSON.stringify(control));
  }
  assert.equal(await controlAt(blobs, "dir/file"), before);
});

test("a path that does not exist has no access control", async () => {
  const blobs = await withFile();
  for (const path of ["none", "dir/none", "dir/file/below", "none/none"]) {
    await assert.rejects(controlAt(blobs, path), refused("BlobNotFound"));
    await assert.rejects(setControl(blobs, path, { owner: "me" }), refused("BlobNotFound"));
  }
});

test("conditions and leases count, and a change gives a new ETag", async () => {
  const blobs = await withFile();
  const asked = blobs.use("dir/file");
  const { blob } = await getBlobProperties(blobs.context, asked);
  const conditions = { ...NO_CONDITIONS, ifMatch: [etagOf(blob.etag)] };
  const { etag } = await setControl(blobs, "dir/file", { owner: "me" }, { conditions });
  assert.notEqual(etag, blob.etag);
  await assert.rejects(
    setControl(blobs, "dir/file", { owner: "me" }, { conditions }),
    refused("ConditionNotMet"),
  );
  const lease = { action: "acquire", proposedId: LEASE_ID, isNewId: true } as const;
  await leaseBlob(blobs.context, { ...asked, lease: { ...lease, durationSeconds: -1 } });
  await assert.rejects(setControl(blobs, "dir/file", { owner: "a" }), refused("LeaseIdMissing"));
  await setControl(blobs, "dir/file", { owner: "a" }, { leaseId: LEASE_ID });
});

/** A file that `me` owns, in a directory that everybody may pass. */
async function withOwnFile(): Promise<Blobs> {
  const blobs = await withFile();
  for (const path of ["", "dir"]) await setControl(blobs, path, { permissions: "0711" });
  await setControl(blobs, "dir/file", { owner: "me", permissions: "0000" });
  return blobs;
}

test("the owner of a path sets its permissions and ACL, others do not", async () => {
  const blobs = await withOwnFile();
  const set = (access: Access, control: Partial<AskedControl>) =>
    setControl(blobs, "dir/file", control, { access });
  await set(user("me"), { permissions: "0640" });
  await set(user("me"), { acl: `${PLAIN},user:you:rwx` });
  await assert.rejects(set(user("you"), { permissions: "0640" }), DENIED);
  await assert.rejects(set(user("you", [], "blob-contributor"), { permissions: "0640" }), DENIED);
  await set(user("you", [], "blob-owner"), { permissions: "0640" });
});

test("only super-users change the owner, and owners give a path to their own groups", async () => {
  const blobs = await withOwnFile();
  const set = (access: Access, control: Partial<AskedControl>) =>
    setControl(blobs, "dir/file", control, { access });
  await assert.rejects(set(user("me"), { owner: "you" }), DENIED);
  await assert.rejects(set(user("you"), { owner: "you" }), DENIED);
  await assert.rejects(set(user("me", ["ours"]), { group: "theirs" }), DENIED);
  await set(user("me", ["ours"]), { owner: "me", group: "ours", permissions: "0600" });
  await set(user("root", [], "blob-owner"), { owner: "you" });
  assert.match(await controlAt(blobs, "dir/file"), /^you ours rw------- /);
});

test("reading an ACL takes x of the directories above, and no right of the path", async () => {
  const blobs = await withOwnFile();
  assert.match(await controlAt(blobs, "dir/file", user("you")), /^me /);
  await setControl(blobs, "dir", { permissions: "0744" });
  await assert.rejects(controlAt(blobs, "dir/file", user("you")), DENIED);
});

test("a SAS needs p to set permissions, o to set owners, and e to read them", async () => {
  const blobs = await withFile();
  const sas = (letters: string): Access => ({ kind: "service-sas", letters, policy: null });
  const set = (letters: string, control: Partial<AskedControl>) =>
    setControl(blobs, "dir/file", control, { access: sas(letters) });
  await set("p", { permissions: "0640" });
  await set("o", { owner: "me" });
  await set("po", { owner: "me", permissions: "0640" });
  await assert.rejects(set("racwdlmeo", { permissions: "0640" }), DENIED);
  await assert.rejects(set("racwdlmep", { owner: "me" }), DENIED);
  await assert.rejects(set("p", { owner: "me", permissions: "0640" }), DENIED);
  await controlAt(blobs, "dir/file", sas("e"));
  await assert.rejects(controlAt(blobs, "dir/file", sas("racwdlmop")), DENIED);
});
