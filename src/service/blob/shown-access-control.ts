import type { AccessControl } from "../../rules/posix-acl.ts";
import { formatAcl, formatMode } from "../../rules/posix-acl-text.ts";

/** Owners and permissions as clients see them. */
export interface ShownPermissions {
  readonly owner: string;
  readonly group: string;
  /** `rwxr-x---`, with a `+` if the ACL says more. */
  readonly permissions: string;
}

export interface ShownAccessControl extends ShownPermissions {
  readonly acl: string;
}

export function shownPermissions(control: AccessControl): ShownPermissions {
  const { owner, group } = control;
  return { owner, group, permissions: formatMode(control) };
}

export function shownAccessControl(control: AccessControl): ShownAccessControl {
  return { ...shownPermissions(control), acl: formatAcl(control) };
}
