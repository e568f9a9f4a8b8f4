import assert from "node:assert/strict";
import { test } from "node:test";
import { askSecurely, bearer } from "./bearer.ts";
import { startDataLake } from "./datalake-server.ts";
import { ANN, BOB, itemsOf, ownFilesystem, rootOf, TEAM } from "./datalake-users.ts";
import { rawRequest } from "./raw-request.ts";
import { HAS_ROLES } from "./role-users.ts";
import { forThisFile } from "./server.ts";

/** Clients of Hadoop ask so before they read or write. No SDK does. */

const server = await forThisFile(startDataLake(HAS_ROLES));
const flat = await forThisFile(startDataLake({ hierarchicalNamespace: false }));
const lake = await ownFilesystem(server);
await rootOf(lake).setAccessControl(itemsOf("user::rwx,group::r-x,other::--x"));
const directory = lake.getDirectoryClient("directory");
await directory.create();
await directory.setAccessControl(itemsOf("user::rwx,group::---,other::--x"));
const file = directory.getFileClient("file");
await file.create();
await file.setAccessControl(
  itemsOf(`user::rwx,user:${ANN}:rw-,group::---,group:${TEAM}:r-x,mask::rwx,other::---`),
);
const closed = lake.getDirectoryClient("closed");
await closed.create();
await closed.setAccessControl(itemsOf("user::rwx,group::---,other::---"));
await closed.getFileClient("file").create();

const ALL = ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"];

function ask(path: string, action: string, claims: object) {
  const target = `/${lake.name}/${path}?action=checkAccess&fsAction=${action}`;
  return askSecurely(server, "HEAD", target, bearer(claims));
}

/** The rights that the answer names for a user. */
async function granted(path: string, claims: object): Promise<string[]> {
  const found: string[] = [];
  for (const action of ALL) {
    const { status, code } = await ask(path, action, claims);
    if (status === 200) found.push(action);
    else assert.deepEqual([status, code], [403, "AuthorizationPermissionMismatch"], action);
  }
  return found;
}

test("the answer names exactly the rights that the ACL of the path gives", async () => {
  assert.deepEqual(await granted("directory/file", { oid: ANN }), ["---", "-w-", "r--", "rw-"]);
  const member = { oid: BOB, groups: [TEAM] };
  assert.deepEqual(await granted("directory/file", member), ["---", "--x", "r--", "r-x"]);
  assert.deepEqual(await granted("directory/file", { oid: BOB }), ["---"]);
  assert.deepEqual(await granted("directory", { oid: BOB }), ["---", "--x"]);
  assert.deepEqual(await granted("", { oid: BOB }), ["---", "--x"]);
});

test("who may not pass a directory has no rights on anything in it, and learns nothing of it", async () => {
  assert.deepEqual(await granted("closed/file", { oid: BOB }), []);
  assert.equal((await ask("closed/nothing", "r--", { oid: BOB })).status, 403);
  assert.equal((await ask("directory/nothing", "r--", { oid: BOB })).status, 404);
});

test("a super-user has all rights, and bad questions are refused", async () => {
  const path = "/box/file";
  const rights = (text: string, at = path) => ({
    method: "HEAD",
    path: `${at}?action=checkAccess${text}`,
  });
  const tree = await forThisFile(startDataLake());
  await rawRequest(tree, { method: "PUT", path: "/box?resource=filesystem" });
  await rawRequest(tree, { method: "PUT", path: `${path}?resource=file` });
  for (const action of ALL) {
    assert.equal((await rawRequest(tree, rights(`&fsAction=${action}`))).status, 200, action);
  }
  const codes: readonly [string, string][] = [
    ["", "MissingRequiredQueryParameter"],
    ["&fsAction=", "MissingRequiredQueryParameter"],
    ["&fsAction=xwr", "InvalidQueryParameterValue"],
    ["&fsAction=rwxx", "InvalidQueryParameterValue"],
    ["&fsAction=7", "InvalidQueryParameterValue"],
  ];
  for (const [text, code] of codes) {
    const answer = await rawRequest(tree, rights(text));
    assert.deepEqual([answer.status, answer.code], [400, code], text);
  }
  const missing = await rawRequest(tree, rights("&fsAction=r--", "/box/nothing"));
  assert.deepEqual([missing.status, missing.code], [404, "PathNotFound"]);
});

test("a flat container has no rights to check", async () => {
  await rawRequest(flat, { method: "PUT", path: "/box?resource=filesystem" });
  await rawRequest(flat, { method: "PUT", path: "/box/file?resource=file" });
  const path = "/box/file?action=checkAccess&fsAction=r--";
  const answer = await rawRequest(flat, { method: "HEAD", path });
  assert.deepEqual([answer.status, answer.code], [400, "HierarchicalNamespaceNotEnabled"]);
});
