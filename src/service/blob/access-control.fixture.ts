import type { Access } from "../../rules/access.ts";
import { ROLES, type RoleName } from "../../rules/roles.ts";
import { type AskedNewControl, NO_CONTROL } from "./asked-access-control.ts";
import { Blobs } from "./blobs.fixture.ts";
import { getAccessControl } from "./get-access-control.ts";
import { type SetAccessControl, setAccessControl } from "./set-access-control.ts";

/** A token in an account with roles: of a user without any, unless one is given. */
export function user(
  id: string,
  groups: readonly string[] = [],
  role: RoleName | null = null,
): Access {
  const found = ROLES.find(({ name }) => name === role);
  const given = found === undefined ? [] : [{ principal: {}, role: found, container: null }];
  const claims = { oid: [id], groups };
  return { kind: "token", claims, assignments: given, service: "blob", container: "container" };
}

/** Sets the access control of a path. */
export function setControl(
  blobs: Blobs,
  path: string,
  control: Partial<AskedNewControl>,
  more: Partial<SetAccessControl> = {},
) {
  const asked = { ...blobs.use(path), control: { ...NO_CONTROL, ...control }, ...more };
  return setAccessControl(blobs.context, asked);
}

/** Owner, group, permissions and ACL of a path, in one line. */
export async function controlAt(blobs: Blobs, path: string, access?: Access): Promise<string> {
  const asked = blobs.use(path);
  const found = await getAccessControl(blobs.context, { ...asked, access: access ?? asked.access });
  return [found.owner, found.group, found.permissions, found.acl].join(" ");
}

/** The ACL of a path that grants the user `me` these rights, and nobody else any. */
export function granting(rights: string): { acl: string } {
  return { acl: `user::rwx,user:me:${rights},group::---,mask::rwx,other::---` };
}

/** A tree `a/b/file` in which the user `me` has these rights of root, a, b and the file. */
export async function treeGranting(
  root: string,
  a: string,
  b: string,
  file: string,
): Promise<Blobs> {
  const blobs = await Blobs.openHierarchical();
  await blobs.put("a/b/file", "bytes");
  for (const [path, rights] of [
    ["a/b/file", file],
    ["a/b", b],
    ["a", a],
    ["", root],
  ] as const) {
    await setControl(blobs, path, granting(rights));
  }
  return blobs;
}
