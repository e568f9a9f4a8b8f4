import type { Bytes } from "../../../base/bytes.ts";
import { parseSddl, writeSddl } from "../../../base/sddl.ts";
import {
  decodeSecurityDescriptor,
  encodeSecurityDescriptor,
  type SecurityDescriptor,
} from "../../../base/security-descriptor.ts";
import type { DescriptorParts } from "../../../service/file/set-open-permission.ts";
import { STATUS, StatusError } from "../nt-status.ts";

const PART = { owner: 1, group: 2, dacl: 4, sacl: 8 } as const;

/** The parts of a descriptor that the bits of a request select. */
export function partsOf(bits: number): DescriptorParts {
  return {
    owner: (bits & PART.owner) !== 0,
    group: (bits & PART.group) !== 0,
    dacl: (bits & PART.dacl) !== 0,
    sacl: (bits & PART.sacl) !== 0,
  };
}

/** Encodes the selected parts of a permission that is stored as text. */
export function writeSecurityInfo(sddl: string, parts: DescriptorParts): Bytes {
  const { descriptor } = parseSddl(sddl);
  if (descriptor === null) throw new Error(`"${sddl}" is stored, and cannot be read`);
  const bytes = encodeSecurityDescriptor({
    owner: parts.owner ? descriptor.owner : null,
    group: parts.group ? descriptor.group : null,
    control: descriptor.control,
    dacl: parts.dacl ? descriptor.dacl : null,
    sacl: parts.sacl ? descriptor.sacl : null,
  });
  if (bytes === null) throw new Error(`"${sddl}" is stored, and too long to be sent`);
  return bytes;
}

export function readSecurityInfo(bytes: Bytes): SecurityDescriptor {
  const descriptor = decodeSecurityDescriptor(bytes);
  if (descriptor === null) throw new StatusError(STATUS.INVALID_SECURITY_DESCR);
  return descriptor;
}

/** The text form in which a permission is stored. */
export function sddlOf(bytes: Bytes): string {
  return writeSddl(readSecurityInfo(bytes));
}
