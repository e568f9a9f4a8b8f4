import { PRINCIPAL_ID_CHARS_MAX } from "../base/limits.ts";
import {
  type AccessControl,
  type AclEntry,
  type AclEntryName,
  EXECUTE,
  entriesOf,
  type Mode,
  type OrReason,
  READ,
  type Rights,
  STICKY,
  WRITE,
} from "./posix-acl.ts";

/** Parses `user::rwx,user:id:r-x,group::r-x,mask::r-x,other::---,default:user::rwx`. */
export function parseAcl(text: string): OrReason<readonly AclEntry[]> {
  return parseEntries(text, ({ isDefault, parts }) => {
    const [type = "", ...id] = parts;
    const rights = parseRights(id.pop() ?? "");
    // An id may contain colons, so it is all that stands between type and rights.
    const name = id.length === 0 ? null : nameOf(isDefault, type, id.join(":"));
    return rights === null || name === null ? null : { ...name, rights };
  });
}

/** Parses the entries to remove: `user:id,mask,default:group:id`. Rights may follow. */
export function parseAclNames(text: string): OrReason<readonly AclEntryName[]> {
  return parseEntries(text, ({ isDefault, parts }) => {
    const [type = "", ...id] = parts;
    const last = id.at(-1) ?? "";
    if (id.length > 1 && (last === "" || parseRights(last) !== null)) id.pop();
    return nameOf(isDefault, type, id.join(":"));
  });
}

/** An entry's text without its scope. */
interface Scoped {
  readonly isDefault: boolean;
  readonly parts: readonly string[];
}

function parseEntries<E extends AclEntryName>(
  text: string,
  parse: (scoped: Scoped) => E | null,
): OrReason<readonly E[]> {
  const entries: E[] = [];
  const seen = new Set<string>();
  for (const one of text.split(",")) {
    const isDefault = one.startsWith(DEFAULT);
    const parts = one.slice(isDefault ? DEFAULT.length : 0).split(":");
    const entry = parse({ isDefault, parts });
    if (entry === null) return { value: null, reason: `"${one}" is not an entry of an ACL.` };
    const name = `${entry.isDefault}:${entry.type}:${entry.id}`;
    if (seen.has(name)) return { value: null, reason: `"${one}" names an entry twice.` };
    seen.add(name);
    entries.push(entry);
  }
  return { value: entries, reason: null };
}

const DEFAULT = "default:";

function nameOf(isDefault: boolean, type: string, id: string): AclEntryName | null {
  switch (type) {
    case "user":
    case "group":
      return id === "" || isPrincipalId(id) ? { isDefault, type, id: principalId(id) } : null;
    case "mask":
    case "other":
      return id === "" ? { isDefault, type, id } : null;
    default:
      return null;
  }
}

const PRINCIPAL_ID = /^[!-+\--~]+$/;
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can name a user or group: visible ASCII characters without commas. */
export function isPrincipalId(text: string): boolean {
  return text.length <= PRINCIPAL_ID_CHARS_MAX && PRINCIPAL_ID.test(text);
}

/** The one form of an id in ACLs: GUIDs are compared without case, all other ids exactly. */
export function principalId(text: string): string {
  return GUID.test(text) ? text.toLowerCase() : text;
}

/** The ACL as `parseAcl` parses it. */
export function formatAcl(control: AccessControl): string {
  const { user, group, other, mask } = control.access;
  if (mask === null && control.defaults === null) {
    // Nearly every path has no more than this, and every answer about a path shows it.
    return `user::${formatRights(user)},group::${formatRights(group)},other::${formatRights(other)}`;
  }
  const entries = entriesOf(control).map(
    ({ isDefault, type, id, rights }) =>
      `${isDefault ? DEFAULT : ""}${type}:${id}:${formatRights(rights)}`,
  );
  return entries.join(",");
}

/** Parses `rwx`, with a dash for each right that is missing. */
export function parseRights(text: string): Rights | null {
  if (!/^[r-][w-][x-]$/.test(text)) return null;
  const [read, write, execute] = text;
  return (read === "r" ? READ : 0) | (write === "w" ? WRITE : 0) | (execute === "x" ? EXECUTE : 0);
}

/** By their number. */
const RIGHTS_TEXTS = ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"];

export function formatRights(rights: Rights): string {
  return RIGHTS_TEXTS[rights] ?? "";
}

/**
 * Parses `rwxr-x--t` or `1751`. The last letter is `t` for x and sticky, `T` for sticky alone. A
 * `+`, which says that there are more entries, is ignored: clients send back what they got.
 */
export function parseMode(text: string): Mode | null {
  if (/^[01][0-7]{3}$/.test(text)) return Number.parseInt(text, 8);
  const found = /^(...)(...)(..)([x\-tT])\+?$/.exec(text);
  if (found === null) return null;
  const [, user = "", group = "", readWrite = "", last = ""] = found;
  const other = readWrite + (last === "t" ? "x" : last === "T" ? "-" : last);
  const classes = [user, group, other].map(parseRights);
  if (classes.includes(null)) return null;
  const mode = classes.reduce<Mode>((sum, rights) => (sum << 3) | (rights ?? 0), 0);
  return mode | (last.toLowerCase() === "t" ? STICKY : 0);
}

/** Parses a umask in 4-digit octal notation. */
export function parseUmask(text: string): Mode | null {
  return /^0[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : null;
}

/** The mode as letters, in which the mask replaces the group's rights, with a `+` if the ACL has more entries than those of the mode. */
export function formatMode(control: AccessControl): string {
  const { user, group, other, mask } = control.access;
  const letters = formatRights(user) + formatRights(mask ?? group) + formatRights(other);
  const last = letters.endsWith("x") ? "t" : "T";
  const shown = control.isSticky ? letters.slice(0, -1) + last : letters;
  return mask !== null || control.defaults !== null ? `${shown}+` : shown;
}
