import type { FaultCode } from "../base/fault.ts";
import { type Intrusion, NEEDS_HANDLES, READS, WRITES } from "./caching.ts";

/** What an open of a file may do to it; a share mode is made of the same bits. */
export const READ = 1;
export const WRITE = 2;
export const DELETE = 4;
const ALL = READ | WRITE | DELETE;

/** An open of a file: what it may do, and what it lets others do meanwhile. */
export interface Open {
  /** 0 for opens that only look at attributes: they neither hinder others nor are hindered. */
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

/** One operation over REST: an open that ends with its transaction. */
export interface MomentaryOpen extends Open {
  /** Whether not a single handle may be open, whatever it shares. */
  readonly isAlone?: boolean;
  /** What it leaves clients to keep of the file; null if it does not touch that. */
  readonly intrusion: Intrusion | null;
}

/** What each REST operation on a file stands for. They deny nothing to others, except a lease. */
export const REST_OPENS = {
  getFile: { access: READ, share: ALL, intrusion: READS },
  listRanges: { access: READ, share: ALL, intrusion: READS },
  getFileProperties: { access: 0, share: ALL, intrusion: READS },
  getFileMetadata: { access: 0, share: ALL, intrusion: READS },
  putRange: { access: WRITE, share: ALL, intrusion: WRITES },
  setFileProperties: { access: WRITE, share: ALL, intrusion: WRITES },
  setFileMetadata: { access: WRITE, share: ALL, intrusion: WRITES },
  /** Where the file is there already. */
  createFile: { access: WRITE | DELETE, share: ALL, intrusion: WRITES },
  copyFile: { access: WRITE | DELETE, share: ALL, intrusion: WRITES },
  abortCopyFile: { access: WRITE, share: ALL, intrusion: WRITES },
  renameFile: { access: DELETE, share: ALL, intrusion: NEEDS_HANDLES },
  renameDirectory: { access: DELETE, share: ALL, intrusion: NEEDS_HANDLES },
  /** What a rename replaces. */
  replaceFile: { access: DELETE, share: ALL, isAlone: true, intrusion: null },
  deleteFile: { access: DELETE, share: ALL, isAlone: true, intrusion: null },
  /** A lease goes with nobody who writes, deletes, or keeps others from anything. */
  acquireFileLease: { access: ALL, share: READ, intrusion: READS },
  /** To change, release or break a lease leaves the file alone. */
  leaseFile: { access: 0, share: ALL, intrusion: null },
  breakFileLease: { access: 0, share: ALL, intrusion: null },
} as const satisfies Record<string, MomentaryOpen>;

/** What a rename over SMB does to the directory that it moves something into. */
export const RENAME_INTO: Open = { access: WRITE, share: READ | WRITE };

export function judgeMomentaryOpen(
  handles: readonly Open[],
  wanted: MomentaryOpen,
  deletePending: boolean,
): FaultCode | null {
  if (wanted.isAlone && !deletePending && handles.length > 0) return "SharingViolation";
  return judgeOpen(handles, wanted, deletePending);
}

/** As long as a file is leased, nobody opens it to write or delete; to read, everybody may. */
export function judgeOpenByLease(isLeased: boolean, wanted: Open): FaultCode | null {
  return isLeased && (wanted.access & (WRITE | DELETE)) !== 0 ? "SharingViolation" : null;
}

/** A directory goes only when nobody has it open. */
export function judgeDirectoryDelete(handles: number, deletePending: boolean): FaultCode | null {
  if (deletePending) return "DeletePending";
  return handles > 0 ? "CannotDeleteFileOrDirectory" : null;
}

function excludes(one: Open, other: Open): boolean {
  if (one.access === 0 || other.access === 0) return false;
  return (one.access & ~other.share) !== 0 || (other.access & ~one.share) !== 0;
}
