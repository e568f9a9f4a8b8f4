import type { FaultCode } from "../base/fault.ts";
import { ACL_ENTRIES_MAX } from "../base/limits.ts";

/** Rights to read (4), write (2) and execute (1): a sum of these, as in POSIX. */
export type Rights = number;

export const READ: Rights = 4;
export const WRITE: Rights = 2;
export const EXECUTE: Rights = 1;
const ALL: Rights = READ | WRITE | EXECUTE;

/** Rights of owner, group and others in nine bits (0o750), and `STICKY`. */
export type Mode = number;

export const STICKY: Mode = 0o1000;

/** The owner and group of what a caller without an identity created, as the service names them. */
export const SUPER_USER = "$superuser";

/** The rights of a user or group that an ACL names. */
export interface NamedRights {
  readonly id: string;
  readonly rights: Rights;
}

/** An access control list. What every list must have stands in a field of its own. */
export interface Acl {
  readonly user: Rights;
  readonly group: Rights;
  readonly other: Rights;
  /** Limits the owning group and all named users and groups. Null only if nobody is named. */
  readonly mask: Rights | null;
  /** Sorted by id, like `groups`. */
  readonly users: readonly NamedRights[];
  readonly groups: readonly NamedRights[];
}

/** Owners and ACLs of a file or directory in a hierarchical container. */
export interface AccessControl {
  readonly owner: string;
  readonly group: string;
  /** In such a directory, only owners may delete and rename. */
  readonly isSticky: boolean;
  readonly access: Acl;
  /** What new children get. Null for files. */
  readonly defaults: Acl | null;
}

/** A principal that ACLs decide on. Super-users are not judged by ACLs at all. */
export interface Caller {
  readonly id: string;
  readonly groups: readonly string[];
  /** Whether somebody else answers for all rights of this caller, so that only sticky bits count. */
  readonly isAuthorized?: boolean;
}

/** The rights of a caller: the first that applies of owner, named user, groups and others. */
export function rightsOf({ owner, group, access }: AccessControl, caller: Caller): Rights {
  if (caller.id === owner) return access.user;
  const mask = access.mask ?? ALL;
  const named = access.users.find(({ id }) => id === caller.id);
  if (named !== undefined) return named.rights & mask;
  // Rights of several groups add up.
  const isMember = ({ id }: NamedRights) => caller.groups.includes(id);
  const own = { id: group, rights: access.group };
  const granted = [own, ...access.groups].filter(isMember);
  if (granted.length === 0) return access.other;
  return union(granted) & mask;
}

function union(all: readonly NamedRights[]): Rights {
  return all.reduce((sum, { rights }) => sum | rights, 0);
}

/**
 * What an operation needs beside the right to traverse (x) all directories above:
 * - traverse: nothing more
 * - read, write, execute: r, w or x of the item
 * - append: r and w of the item
 * - list: r and x of the directory
 * - create, delete: w and x of the parent directory, and its sticky bit counts
 * - own: to be the item's owner
 */
export type AclNeed =
  | "traverse"
  | "read"
  | "write"
  | "execute"
  | "append"
  | "list"
  | "create"
  | "delete"
  | "own";

const REFUSED: FaultCode = "AuthorizationPermissionMismatch";

/** Judges a directory on the way to an item. */
export function judgeTraverse(directory: AccessControl, caller: Caller): FaultCode | null {
  return has(directory, caller, EXECUTE);
}

/** Judges a directory whose entries are listed. */
export function judgeList(directory: AccessControl, caller: Caller): FaultCode | null {
  return has(directory, caller, ITEM_RIGHTS.list);
}

/**
 * Judges an item under a parent that the caller may traverse. Without an item, the name is free.
 * The root directory is its own parent.
 */
export function judgeByAcl(
  parent: AccessControl,
  item: AccessControl | null,
  caller: Caller,
  need: AclNeed,
): FaultCode | null {
  switch (need) {
    case "create":
    case "delete": {
      const verdict = has(parent, caller, WRITE | EXECUTE);
      return verdict !== null || item === null ? verdict : judgeBySticky(parent, item, caller);
    }
    case "own":
      if (item === null || caller.isAuthorized === true) return null;
      return item.owner === caller.id ? null : REFUSED;
    default:
      return item === null ? null : has(item, caller, ITEM_RIGHTS[need]);
  }
}

/** The rights of the item that needs have; those that are missing are about its parent. */
export const ITEM_RIGHTS = {
  traverse: 0,
  read: READ,
  write: WRITE,
  execute: EXECUTE,
  append: READ | WRITE,
  list: READ | EXECUTE,
} as const satisfies Partial<Record<AclNeed, Rights>>;

/** Judges a directory that is deleted with everything in it. Its files need no rights. */
export function judgeDeleteBelow(directory: AccessControl, caller: Caller): FaultCode | null {
  return has(directory, caller, ALL);
}

function has(control: AccessControl, caller: Caller, wanted: Rights): FaultCode | null {
  if (caller.isAuthorized === true) return null;
  return (rightsOf(control, caller) & wanted) === wanted ? null : REFUSED;
}

function judgeBySticky(
  parent: AccessControl,
  item: AccessControl,
  caller: Caller,
): FaultCode | null {
  const isOwner = caller.id === item.owner || caller.id === parent.owner;
  return parent.isSticky && !isOwner ? REFUSED : null;
}

/** New owners of an item; null leaves them as they are. */
export interface NewOwners {
  readonly owner: string | null;
  readonly group: string | null;
}

/**
 * Judges new owners: only super-users give an item away. Its owner may give it to a group that the
 * owner is a member of.
 */
export function judgeNewOwners(
  control: Pick<AccessControl, "owner" | "group">,
  { owner, group }: NewOwners,
  caller: Caller,
): FaultCode | null {
  const keepsOwner = owner === null || owner === control.owner;
  const keepsGroup = group === null || group === control.group;
  const mayChangeGroup = caller.id === control.owner && caller.groups.includes(group ?? "");
  if (caller.isAuthorized === true) return null;
  return keepsOwner && (keepsGroup || mayChangeGroup) ? null : REFUSED;
}

/** An ACL of owner, group and others alone. */
function plainAcl(mode: Mode): Acl {
  const user = (mode >> 6) & ALL;
  const group = (mode >> 3) & ALL;
  return { user, group, other: mode & ALL, mask: null, users: [], groups: [] };
}

/** Changes the mode. The group's bits change the mask if there is one, as `chmod` does. */
export function withMode(control: AccessControl, mode: Mode): AccessControl {
  const { access } = control;
  const { user, group, other } = plainAcl(mode);
  const classes = access.mask === null ? { user, group, other } : { user, mask: group, other };
  return { ...control, isSticky: isStickyMode(mode), access: { ...access, ...classes } };
}

function isStickyMode(mode: Mode): boolean {
  return (mode & STICKY) !== 0;
}

export const DIRECTORY_MODE: Mode = 0o777;
export const FILE_MODE: Mode = 0o666;
export const DEFAULT_UMASK: Mode = 0o027;

/** What a request says about the access control of an item that it creates. */
export interface NewItem extends NewOwners {
  readonly isDirectory: boolean;
  /** Null for `DIRECTORY_MODE` or `FILE_MODE`. */
  readonly mode: Mode | null;
  /** Counts only if the parent has no default ACL. Null for `DEFAULT_UMASK`. */
  readonly umask: Mode | null;
}

/** The access control of the root directory of a new container. */
export function rootAccessControl(creator: string | null): AccessControl {
  const owner = creator ?? SUPER_USER;
  const access = plainAcl(DIRECTORY_MODE & ~DEFAULT_UMASK);
  return { owner, group: owner, isSticky: false, access, defaults: null };
}

/**
 * The access control of a new item. A default ACL of its parent becomes its ACL, limited by the
 * mode; without one the mode decides, less the umask.
 */
export function newAccessControl(
  parent: AccessControl,
  creator: string | null,
  asked: NewItem,
): AccessControl {
  const mode = asked.mode ?? (asked.isDirectory ? DIRECTORY_MODE : FILE_MODE);
  const owner = asked.owner ?? creator ?? SUPER_USER;
  const group = asked.group ?? parent.group;
  const { defaults } = parent;
  return {
    owner,
    group,
    isSticky: isStickyMode(mode),
    access:
      defaults === null
        ? plainAcl(mode & ~(asked.umask ?? DEFAULT_UMASK))
        : limited(defaults, plainAcl(mode)),
    defaults: asked.isDirectory ? defaults : null,
  };
}

function limited(acl: Acl, { user, group, other }: Acl): Acl {
  const own = { ...acl, user: acl.user & user, other: acl.other & other };
  return acl.mask === null
    ? { ...own, group: acl.group & group }
    : { ...own, mask: acl.mask & group };
}

/** One entry of an ACL. `id` is "" for the owner, the owning group, the mask and others. */
export interface AclEntry {
  readonly isDefault: boolean;
  readonly type: "user" | "group" | "mask" | "other";
  readonly id: string;
  readonly rights: Rights;
}

/** Names an entry to remove. */
export type AclEntryName = Omit<AclEntry, "rights">;

export type AclChange =
  | { readonly mode: "set" | "modify"; readonly entries: readonly AclEntry[] }
  | { readonly mode: "remove"; readonly entries: readonly AclEntryName[] };

/** A value, or the reason why there is none, as a sentence for the client. */
export type OrReason<T> =
  | { readonly value: T; readonly reason: null }
  | { readonly value: null; readonly reason: string };

/** All entries in the order in which they are shown: the default ACL comes last. */
export function entriesOf({ access, defaults }: AccessControl): AclEntry[] {
  return [
    ...entriesOfAcl(access, false),
    ...(defaults === null ? [] : entriesOfAcl(defaults, true)),
  ];
}

function entriesOfAcl(acl: Acl, isDefault: boolean): AclEntry[] {
  const entry = (type: AclEntry["type"], id: string, rights: Rights): AclEntry => ({
    isDefault,
    type,
    id,
    rights,
  });
  return [
    entry("user", "", acl.user),
    ...acl.users.map(({ id, rights }) => entry("user", id, rights)),
    entry("group", "", acl.group),
    ...acl.groups.map(({ id, rights }) => entry("group", id, rights)),
    ...(acl.mask === null ? [] : [entry("mask", "", acl.mask)]),
    entry("other", "", acl.other),
  ];
}

/**
 * Changes the ACLs of an item:
 * - set replaces both; without default entries there is no default ACL any more, but the rights of
 *   the owner, the owning group and others remain where nothing is set
 * - modify replaces or adds single entries
 * - remove takes entries away, whatever their rights; those that are missing do not count
 *
 * A file has no default ACL, so default entries change directories only. A mask that nobody set is
 * the union of what it limits, and is calculated again when one of these entries changes. A default
 * ACL takes what it lacks from the access ACL.
 */
export function changedAcl(
  control: AccessControl,
  change: AclChange,
  isDirectory: boolean,
): OrReason<AccessControl> {
  const access = changedEntries(entriesOfAcl(control.access, false), change, false);
  const built = aclOf(access, change.mode === "set" ? control.access : null);
  if (built.reason !== null) return built;
  if (!isDirectory) return done({ ...control, access: built.value });

  const old = control.defaults === null ? [] : entriesOfAcl(control.defaults, true);
  const defaults = changedEntries(old, change, true);
  // A mask alone limits nobody.
  if (defaults.every(({ type }) => type === "mask")) {
    return done({ ...control, access: built.value, defaults: null });
  }
  const builtDefaults = aclOf(defaults, built.value);
  if (builtDefaults.reason !== null) return builtDefaults;
  return done({ ...control, access: built.value, defaults: builtDefaults.value });
}

function done<T>(value: T): OrReason<T> {
  return { value, reason: null };
}

function refused(reason: string): OrReason<never> {
  return { value: null, reason };
}

/** The entries of one of the two ACLs after a change. */
function changedEntries(
  old: readonly AclEntry[],
  change: AclChange,
  isDefault: boolean,
): readonly AclEntry[] {
  const names = new Set(change.entries.filter((one) => one.isDefault === isDefault).map(nameOf));
  const given =
    change.mode === "remove" ? [] : change.entries.filter((one) => one.isDefault === isDefault);
  if (change.mode === "set") return given;
  const isNamed = (entry: AclEntry) => names.has(nameOf(entry));
  const affected = change.mode === "modify" ? given : old.filter(isNamed);
  const recalculates = affected.some(isLimited) && !names.has(MASK);
  const unchanged = old.filter((one) => !isNamed(one) && !(recalculates && nameOf(one) === MASK));
  return [...unchanged, ...given];
}

const MASK = "mask:";

function nameOf({ type, id }: AclEntryName): string {
  return `${type}:${id}`;
}

/** Whether the mask limits an entry. */
function isLimited({ type, id }: AclEntryName): boolean {
  return type === "group" || (type === "user" && id !== "");
}

/** Makes an ACL of entries with different names. What it must have can come from `base`. */
function aclOf(entries: readonly AclEntry[], base: Acl | null): OrReason<Acl> {
  const found = (wanted: AclEntry["type"]) =>
    entries.find(({ type, id }) => type === wanted && id === "")?.rights;
  const named = (wanted: AclEntry["type"]) =>
    entries
      .filter(({ type, id }) => type === wanted && id !== "")
      .map(({ id, rights }) => ({ id, rights }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  const user = found("user") ?? base?.user;
  const group = found("group") ?? base?.group;
  const other = found("other") ?? base?.other;
  if (user === undefined || group === undefined || other === undefined) {
    return refused("An ACL must have the entries user::, group:: and other::.");
  }
  const users = named("user");
  const groups = named("group");
  const isNamed = users.length + groups.length > 0;
  const limits = isNamed ? union([...users, ...groups, { id: "", rights: group }]) : null;
  const acl = { user, group, other, mask: found("mask") ?? limits, users, groups };
  if (entriesOfAcl(acl, false).length > ACL_ENTRIES_MAX) {
    return refused(`An ACL can have ${ACL_ENTRIES_MAX} entries, and a default ACL as many.`);
  }
  return done(acl);
}
