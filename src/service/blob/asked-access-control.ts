import { Fault, refuse } from "../../base/fault.ts";
import { type Access, callerByAcls, judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import {
  type AccessControl,
  type AclEntry,
  changedAcl,
  judgeNewOwners,
  type Mode,
  type NewOwners,
  newAccessControl,
  withMode,
} from "../../rules/posix-acl.ts";
import {
  isPrincipalId,
  parseAcl,
  parseMode,
  parseUmask,
  principalId,
} from "../../rules/posix-acl-text.ts";
import type { View } from "../../store/store.ts";
import type { Way } from "./find-path.ts";
import type { Container } from "./records.ts";

/** What a request says about access control, as its headers say it. Null where they do not. */
export interface AskedControl {
  readonly owner: string | null;
  readonly group: string | null;
  /** Not together with `acl`, which has the same rights. */
  readonly permissions: string | null;
  readonly acl: string | null;
}

/** What a request says about the access control of what it creates. */
export interface AskedNewControl extends AskedControl {
  readonly umask: string | null;
}

export const NO_CONTROL: AskedNewControl = {
  owner: null,
  group: null,
  permissions: null,
  acl: null,
  umask: null,
};

/** Whether a request says nothing about access control. */
export function isEmptyControl(asked: AskedControl): boolean {
  return Object.values(asked).every((value) => value === null);
}

/** A change of access control, parsed from the texts of a request. */
export interface ControlChange extends NewOwners {
  readonly mode: Mode | null;
  readonly entries: readonly AclEntry[] | null;
}

/** Refuses what cannot be parsed. */
export function parseControl(asked: AskedControl): ControlChange {
  const { permissions, acl } = asked;
  if (permissions !== null && acl !== null) {
    throw new Fault("InvalidInput", { Reason: "Send x-ms-permissions or x-ms-acl, not both." });
  }
  return {
    owner: parsedId("x-ms-owner", asked.owner),
    group: parsedId("x-ms-group", asked.group),
    mode: permissions === null ? null : parsed("x-ms-permissions", permissions, parseMode),
    entries: acl === null ? null : parsedEntries(acl),
  };
}

function parsedEntries(acl: string): readonly AclEntry[] {
  const { value, reason } = parseAcl(acl);
  if (value === null) throw invalidAcl(reason);
  return value;
}

export function invalidAcl(reason: string): Fault {
  return new Fault("InvalidAccessControlList", { Reason: reason });
}

function parsedId(header: string, text: string | null): string | null {
  if (text === null) return null;
  return parsed(header, text, (id) => (isPrincipalId(id) ? principalId(id) : null));
}

function parsed<T>(header: string, text: string, parse: (text: string) => T | null): T {
  const value = parse(text);
  if (value !== null) return value;
  throw new Fault("InvalidHeaderValue", { HeaderName: header, HeaderValue: text });
}

/** The access control of a path with what a request changes in it. */
export function changedControl(
  old: AccessControl,
  { owner, group, mode, entries }: ControlChange,
  isDirectory: boolean,
): AccessControl {
  const owned = { ...old, owner: owner ?? old.owner, group: group ?? old.group };
  const control = mode === null ? owned : withMode(owned, mode);
  if (entries === null) return control;
  if (!isDirectory && entries.some((entry) => entry.isDefault)) {
    throw invalidAcl("A file has no default ACL.");
  }
  const { value, reason } = changedAcl(control, { mode: "set", entries }, isDirectory);
  if (value === null) throw invalidAcl(reason);
  return value;
}

/** The access control of a path that a request creates, and for which it may name owners. */
export function newControl(
  view: View,
  container: Container,
  access: Access,
  { control: parent, visitor }: Pick<Way, "control" | "visitor">,
  asked: AskedNewControl,
  isDirectory: boolean,
): AccessControl {
  const change = parseControl(asked);
  const umask = asked.umask === null ? null : parsed("x-ms-umask", asked.umask, parseUmask);
  const base = { isDirectory, owner: null, group: null, mode: change.mode, umask };
  const plain = newAccessControl(parent, visitor.creator, base);
  requireNewOwners(view, container, access, plain, change);
  // The mode is a part of what is new already, so that a default ACL limits it.
  return changedControl(plain, { ...change, mode: null }, isDirectory);
}

/** Checks that the caller may give a path to new owners, if the request names any. */
export function requireNewOwners(
  view: View,
  container: Container,
  access: Access,
  control: AccessControl,
  change: NewOwners,
): void {
  if (change.owner === null && change.group === null) return;
  refuse(judgeByAccess(access, BLOB_NEEDS.setPathOwner, container, view.now(), true));
  const caller = callerByAcls(access, BLOB_NEEDS.setPathOwner);
  if (caller !== null) refuse(judgeNewOwners(control, change, caller));
}
