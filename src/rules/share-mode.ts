import type { FaultCode } from "../base/fault.ts";
import { type Intrusion, NEEDS_HANDLES, READS, WRITES } from "./caching.ts";

/** What an open may do to a file. A share mode consists of the same bits. */
export const READ = 1;
export const WRITE = 2;
export const DELETE = 4;
const ALL = READ | WRITE | DELETE;

/** An open of a file: its access, and the access it permits to others meanwhile. */
export interface Open {
  /** 0 for opens that only look at attributes, which conflict with nothing. */
  readonly access: number;
  readonly share: number;
}

export function judgeOpen(
  others: readonly Open[],
  wanted: Open,
  deletePending: boolean,
): FaultCode | null {
  if (deletePending) return "DeletePending";
  for (const other of others) if (excludes(other, wanted)) return "SharingViolation";
  return null;
}

/** One REST operation: an open that ends with its transaction. */
export interface MomentaryOpen extends Open {
  /** Whether no other handle may be open, whatever it shares. */
  readonly isAlone?: boolean;
  /** How it affects client caches; null if it does not. */
  readonly intrusion: Intrusion | null;
}

/**
 * The open that each REST operation on a file stands for. They deny nothing to others, except a
 * lease.
 */
export const REST_OPENS = {
  getFile: { access: READ, share: ALL, intrusion: READS },
  listRanges: { access: READ, share: ALL, intrusion: READS },
  getFileProperties: { access: 0, share: ALL, intrusion: READS },
  getFileMetadata: { access: 0, share: ALL, intrusion: READS },
  putRange: { access: WRITE, share: ALL, intrusion: WRITES },
  setFileProperties: { access: WRITE, share: ALL, intrusion: WRITES },
  setFileMetadata: { access: WRITE, share: ALL, intrusion: WRITES },
  /** Where the file already exists. */
  createFile: { access: WRITE | DELETE, share: ALL, intrusion: WRITES },
  copyFile: { access: WRITE | DELETE, share: ALL, intrusion: WRITES },
  abortCopyFile: { access: WRITE, share: ALL, intrusion: WRITES },
  renameFile: { access: DELETE, share: ALL, intrusion: NEEDS_HANDLES },
  renameDirectory: { access: DELETE, share: ALL, intrusion: NEEDS_HANDLES },
  /** The file that a rename replaces. */
  replaceFile: { access: DELETE, share: ALL, isAlone: true, intrusion: null },
  deleteFile: { access: DELETE, share: ALL, isAlone: true, intrusion: null },
  /** A lease excludes handles that write or delete, or that deny anything to others. */
  acquireFileLease: { access: ALL, share: READ, intrusion: READS },
  /** Changing, releasing or breaking a lease does not touch the file. */
  leaseFile: { access: 0, share: ALL, intrusion: null },
  breakFileLease: { access: 0, share: ALL, intrusion: null },
} as const satisfies Record<string, MomentaryOpen>;

/** The open that a rename over SMB stands for in its target directory. */
export const RENAME_INTO: Open = { access: WRITE, share: READ | WRITE };

export function judgeMomentaryOpen(
  handles: readonly Open[],
  wanted: MomentaryOpen,
  deletePending: boolean,
): FaultCode | null {
  if (wanted.isAlone && !deletePending && handles.length > 0) return "SharingViolation";
  return judgeOpen(handles, wanted, deletePending);
}

/** A leased file can be opened for reading only. */
export function judgeOpenByLease(isLeased: boolean, wanted: Open): FaultCode | null {
  return isLeased && (wanted.access & (WRITE | DELETE)) !== 0 ? "SharingViolation" : null;
}

/** A directory is deleted only if it has no open handles. */
export function judgeDirectoryDelete(handles: number, deletePending: boolean): FaultCode | null {
  if (deletePending) return "DeletePending";
  return handles > 0 ? "CannotDeleteFileOrDirectory" : null;
}

function excludes(one: Open, other: Open): boolean {
  if (one.access === 0 || other.access === 0) return false;
  return (one.access & ~other.share) !== 0 || (other.access & ~one.share) !== 0;
}
