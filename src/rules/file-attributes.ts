import type { FaultCode } from "../base/fault.ts";

/** Attributes of files and directories, as SMB's bits. */
export const FILE_ATTRIBUTES = {
  ReadOnly: 0x1,
  Hidden: 0x2,
  System: 0x4,
  Directory: 0x10,
  Archive: 0x20,
  Temporary: 0x100,
  Offline: 0x1000,
  NotContentIndexed: 0x2000,
  NoScrubData: 0x2_0000,
} as const;

export function isReadOnly(attributes: number): boolean {
  return (attributes & FILE_ATTRIBUTES.ReadOnly) !== 0;
}

/** A hidden or system file is overwritten only by a request that names these attributes. */
export function judgeOverwriteByAttributes(old: number, wanted: number): FaultCode | null {
  const guarded = FILE_ATTRIBUTES.Hidden | FILE_ATTRIBUTES.System;
  return (old & guarded & ~wanted) === 0 ? null : "AuthorizationPermissionMismatch";
}
