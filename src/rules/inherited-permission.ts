import {
  ACE_FLAG,
  type Ace,
  CONTROL,
  type SecurityDescriptor,
  type Sid,
} from "../base/security-descriptor.ts";

const CREATOR_OWNER: Sid = "S-1-3-0";
const CREATOR_GROUP: Sid = "S-1-3-1";

/** The security descriptor that a new item inherits from its parent directory, as on Windows. */
export function inheritedPermission(
  parent: SecurityDescriptor,
  isDirectory: boolean,
): SecurityDescriptor {
  const { owner, group } = parent;
  const entries = (parent.dacl?.entries ?? []).flatMap((ace) =>
    isDirectory ? forDirectory(ace, owner, group) : forFile(ace, owner, group),
  );
  const dacl = parent.dacl === null || parent.dacl.entries === null ? parent.dacl : { entries };
  return { owner, group, control: CONTROL.daclAutoInherited, dacl, sacl: null };
}

function forFile(ace: Ace, owner: Sid | null, group: Sid | null): Ace[] {
  if ((ace.flags & ACE_FLAG.objectInherit) === 0) return [];
  return [{ ...ace, sid: resolved(ace.sid, owner, group), flags: ACE_FLAG.inherited }];
}

/** The entries that apply to the directory, and those that are only passed on. */
function forDirectory(ace: Ace, owner: Sid | null, group: Sid | null): Ace[] {
  const { objectInherit, containerInherit, noPropagate, inheritOnly, inherited } = ACE_FLAG;
  const passesOn = (ace.flags & noPropagate) === 0;
  const counts = (ace.flags & containerInherit) !== 0;
  const flags = passesOn ? (ace.flags & (objectInherit | containerInherit)) | inherited : inherited;
  if (!counts) {
    if ((ace.flags & objectInherit) === 0 || !passesOn) return [];
    return [{ ...ace, flags: flags | inheritOnly }];
  }
  const sid = resolved(ace.sid, owner, group);
  if (sid === ace.sid || !passesOn) return [{ ...ace, sid, flags }];
  return [
    { ...ace, sid, flags: inherited },
    { ...ace, flags: flags | inheritOnly },
  ];
}

function resolved(sid: Sid, owner: Sid | null, group: Sid | null): Sid {
  if (sid === CREATOR_OWNER) return owner ?? sid;
  return sid === CREATOR_GROUP ? (group ?? sid) : sid;
}
