import { count, type Field, flag, listOf, orNull, struct, text } from "../../base/fields.ts";
import type { AccessControl, Acl } from "../../rules/posix-acl.ts";

const namedRights = listOf(struct({ id: text, rights: count }));

const acl: Field<Acl> = struct({
  user: count,
  group: count,
  other: count,
  mask: orNull(count),
  users: namedRights,
  groups: namedRights,
});

/** Owner, group and ACLs in the record of a file, a directory or a container's root. */
export const storedAccessControl: Field<AccessControl> = struct({
  owner: text,
  group: text,
  isSticky: flag,
  access: acl,
  defaults: orNull(acl),
});
