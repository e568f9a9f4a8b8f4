import type { Bytes } from "./bytes.ts";
import { NO_BYTES } from "./bytes.ts";
import { parseGuid } from "./ids.ts";

/** The permissions of a file in Windows' terms, encoded as bytes here and as text in `sddl.ts`. */
export interface SecurityDescriptor {
  readonly owner: Sid | null;
  readonly group: Sid | null;
  /** Bits of `CONTROL`, without those for the presence of the lists. */
  readonly control: number;
  readonly dacl: Acl | null;
  readonly sacl: Acl | null;
}

/** `S-1-5-18`. */
export type Sid = string;

/** An access control list. With null instead of entries, it allows everyone everything. */
export interface Acl {
  readonly entries: readonly Ace[] | null;
}

/** An access control entry. */
export interface Ace {
  readonly type: number;
  readonly flags: number;
  readonly mask: number;
  readonly sid: Sid;
  /** GUIDs of the entry types for objects, or null. */
  readonly objectType: string | null;
  readonly inheritedObjectType: string | null;
}

export const CONTROL = {
  daclAutoInheritRequested: 0x0100,
  saclAutoInheritRequested: 0x0200,
  daclAutoInherited: 0x0400,
  saclAutoInherited: 0x0800,
  daclProtected: 0x1000,
  saclProtected: 0x2000,
} as const;

export const ACE_TYPE = {
  allow: 0,
  deny: 1,
  audit: 2,
  alarm: 3,
  allowObject: 5,
  denyObject: 6,
  auditObject: 7,
  alarmObject: 8,
  mandatoryLabel: 17,
} as const;

export const ACE_FLAG = {
  objectInherit: 0x01,
  containerInherit: 0x02,
  noPropagate: 0x04,
  inheritOnly: 0x08,
  inherited: 0x10,
} as const;

export const SECURITY_DESCRIPTOR_BYTES_MAX = 64 * 1024;

const DACL_PRESENT = 0x0004;
const SACL_PRESENT = 0x0010;
const SELF_RELATIVE = 0x8000;
const STORED_CONTROL = Object.values(CONTROL).reduce((all, bit) => all | bit, 0);
const HEAD_BYTES = 20;
const ACL_HEAD_BYTES = 8;
const ACE_HEAD_BYTES = 8;
const SID_HEAD_BYTES = 8;
const SUB_AUTHORITIES_MAX = 15;
const GUID_BYTES = 16;
const HAS_OBJECT_TYPE = 1;
const HAS_INHERITED_TYPE = 2;
const ACL_REVISION = 2;
const ACL_REVISION_OBJECTS = 4;

const KNOWN_TYPES: ReadonlySet<number> = new Set(Object.values(ACE_TYPE));

/** Whether entries of this type name the kind of object that they apply to. */
export function isObjectType(type: number): boolean {
  return type >= ACE_TYPE.allowObject && type <= ACE_TYPE.alarmObject;
}

/** Encodes the self-relative form, as in SMB; null if it exceeds the 16-bit lengths. */
export function encodeSecurityDescriptor(value: SecurityDescriptor): Bytes | null {
  const owner = value.owner === null ? NO_BYTES : encodeSid(value.owner);
  const group = value.group === null ? NO_BYTES : encodeSid(value.group);
  const sacl = encodeAcl(value.sacl);
  const dacl = encodeAcl(value.dacl);
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = 1;
  let control = SELF_RELATIVE | (value.control & STORED_CONTROL);
  if (value.dacl !== null) control |= DACL_PRESENT;
  if (value.sacl !== null) control |= SACL_PRESENT;
  head.writeUInt16LE(control, 2);
  let end = HEAD_BYTES;
  for (const [at, part] of [owner, group, sacl, dacl].entries()) {
    head.writeUInt32LE(part.length === 0 ? 0 : end, 4 + at * 4);
    end += part.length;
  }
  if (end > SECURITY_DESCRIPTOR_BYTES_MAX) return null;
  return Buffer.concat([head, owner, group, sacl, dacl]);
}

/** Decodes the self-relative form; null if it is malformed or has an unknown type of entry. */
export function decodeSecurityDescriptor(bytes: Bytes): SecurityDescriptor | null {
  if (bytes.length < HEAD_BYTES || bytes.length > SECURITY_DESCRIPTOR_BYTES_MAX) return null;
  const control = bytes.readUInt16LE(2);
  if (bytes[0] !== 1 || (control & SELF_RELATIVE) === 0) return null;
  const [ownerAt, groupAt, saclAt, daclAt] = [4, 8, 12, 16].map((at) => bytes.readUInt32LE(at));
  const owner = ownerAt ? decodeSid(bytes, ownerAt) : null;
  const group = groupAt ? decodeSid(bytes, groupAt) : null;
  const sacl = decodeAcl(bytes, saclAt as number, (control & SACL_PRESENT) !== 0);
  const dacl = decodeAcl(bytes, daclAt as number, (control & DACL_PRESENT) !== 0);
  if (owner === undefined || group === undefined || sacl === undefined || dacl === undefined) {
    return null;
  }
  return { owner, group, control: control & STORED_CONTROL, dacl, sacl };
}

/** Parses a SID such as `S-1-5-18`; null if it is malformed. */
export function parseSid(text: string): { authority: number; subs: number[] } | null {
  const parts = /^S-1-(\d{1,15}|0x[0-9a-f]{1,12})((?:-\d{1,10}){1,15})$/i.exec(text);
  if (parts === null) return null;
  const authority = Number(parts[1]);
  const subs = (parts[2] as string).slice(1).split("-").map(Number);
  if (authority >= 2 ** 48 || subs.some((sub) => sub >= 2 ** 32)) return null;
  return { authority, subs };
}

export function sidText(authority: number, subs: readonly number[]): Sid {
  const first = authority < 2 ** 32 ? authority : `0x${authority.toString(16).toUpperCase()}`;
  return ["S-1", first, ...subs].join("-");
}

export function encodeSid(sid: Sid): Bytes {
  const parts = parseSid(sid);
  if (parts === null) throw new RangeError(`${sid} is no SID`);
  const bytes = Buffer.alloc(SID_HEAD_BYTES + parts.subs.length * 4);
  bytes[0] = 1;
  bytes[1] = parts.subs.length;
  bytes.writeUIntBE(parts.authority, 2, 6);
  for (const [at, sub] of parts.subs.entries()) bytes.writeUInt32LE(sub, SID_HEAD_BYTES + at * 4);
  return bytes;
}

function decodeSid(bytes: Bytes, at: number): Sid | undefined {
  if (at + SID_HEAD_BYTES > bytes.length || bytes[at] !== 1) return undefined;
  const count = bytes[at + 1] as number;
  const end = at + SID_HEAD_BYTES + count * 4;
  if (count < 1 || count > SUB_AUTHORITIES_MAX || end > bytes.length) return undefined;
  const subs: number[] = [];
  for (let sub = at + SID_HEAD_BYTES; sub < end; sub += 4) subs.push(bytes.readUInt32LE(sub));
  return sidText(bytes.readUIntBE(at + 2, 6), subs);
}

function encodeAcl(acl: Acl | null): Bytes {
  if (acl === null || acl.entries === null) return NO_BYTES;
  const entries = acl.entries.map(encodeAce);
  const size = entries.reduce((sum, entry) => sum + entry.length, ACL_HEAD_BYTES);
  const head = Buffer.alloc(ACL_HEAD_BYTES);
  const hasObjects = acl.entries.some(({ type }) => isObjectType(type));
  head[0] = hasObjects ? ACL_REVISION_OBJECTS : ACL_REVISION;
  // An overflow here means that the whole is too large, which the caller refuses.
  head.writeUInt16LE(size & 0xffff, 2);
  head.writeUInt16LE(entries.length & 0xffff, 4);
  return Buffer.concat([head, ...entries]);
}

function encodeAce(ace: Ace): Bytes {
  const head = Buffer.alloc(ACE_HEAD_BYTES);
  const objects = isObjectType(ace.type) ? encodeObjectTypes(ace) : NO_BYTES;
  const sid = encodeSid(ace.sid);
  head[0] = ace.type;
  head[1] = ace.flags;
  head.writeUInt16LE(ACE_HEAD_BYTES + objects.length + sid.length, 2);
  head.writeUInt32LE(ace.mask, 4);
  return Buffer.concat([head, objects, sid]);
}

function encodeObjectTypes({ objectType, inheritedObjectType }: Ace): Bytes {
  const flags = Buffer.alloc(4);
  if (objectType !== null) flags[0] = HAS_OBJECT_TYPE;
  if (inheritedObjectType !== null) flags[0] = (flags[0] as number) | HAS_INHERITED_TYPE;
  return Buffer.concat([flags, encodeGuid(objectType), encodeGuid(inheritedObjectType)]);
}

/** Undefined if the bytes are malformed. */
function decodeAcl(bytes: Bytes, at: number, isPresent: boolean): Acl | null | undefined {
  if (!isPresent) return null;
  if (at === 0) return { entries: null };
  if (at + ACL_HEAD_BYTES > bytes.length) return undefined;
  const end = at + bytes.readUInt16LE(at + 2);
  if (end < at + ACL_HEAD_BYTES || end > bytes.length) return undefined;
  const entries: Ace[] = [];
  let next = at + ACL_HEAD_BYTES;
  for (let left = bytes.readUInt16LE(at + 4); left > 0; left--) {
    if (next + ACE_HEAD_BYTES > end) return undefined;
    const size = bytes.readUInt16LE(next + 2);
    if (size < ACE_HEAD_BYTES || next + size > end) return undefined;
    const ace = decodeAce(bytes.subarray(next, next + size));
    if (ace === null) return undefined;
    entries.push(ace);
    next += size;
  }
  return { entries };
}

function decodeAce(bytes: Bytes): Ace | null {
  const type = bytes[0] as number;
  if (!KNOWN_TYPES.has(type)) return null;
  let at = ACE_HEAD_BYTES;
  let objectType: string | null = null;
  let inheritedObjectType: string | null = null;
  if (isObjectType(type)) {
    if (at + 4 > bytes.length) return null;
    const has = bytes.readUInt32LE(at);
    const guids = (has & HAS_OBJECT_TYPE) + ((has & HAS_INHERITED_TYPE) >> 1);
    at += 4;
    if (at + guids * GUID_BYTES > bytes.length) return null;
    if ((has & HAS_OBJECT_TYPE) !== 0) {
      objectType = decodeGuid(bytes, at);
      at += GUID_BYTES;
    }
    if ((has & HAS_INHERITED_TYPE) !== 0) {
      inheritedObjectType = decodeGuid(bytes, at);
      at += GUID_BYTES;
    }
  }
  const sid = decodeSid(bytes, at);
  if (sid === undefined) return null;
  const [flags, mask] = [bytes[1] as number, bytes.readUInt32LE(4)];
  return { type, flags, mask, sid, objectType, inheritedObjectType };
}

/** The first three groups of a GUID are little-endian numbers. */
function swapGuid(bytes: Bytes): Bytes {
  bytes.subarray(0, 4).reverse();
  bytes.subarray(4, 6).reverse();
  bytes.subarray(6, 8).reverse();
  return bytes;
}

function encodeGuid(guid: string | null): Bytes {
  return guid === null ? NO_BYTES : swapGuid(Buffer.from(guid.replaceAll("-", ""), "hex"));
}

function decodeGuid(bytes: Bytes, at: number): string {
  const swapped = swapGuid(Buffer.from(bytes.subarray(at, at + GUID_BYTES)));
  return parseGuid(swapped.toString("hex")) as string;
}
