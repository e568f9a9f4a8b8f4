import type { FaultCode } from "../base/fault.ts";

/** The last copy to a blob or file, as far as other writes depend on it. */
export interface CopyState {
  readonly id: string;
  readonly status: "pending" | "success" | "aborted" | "failed";
}

/** Copies to blobs may be incremental, from snapshot to snapshot. */
export interface BlobCopyState extends CopyState {
  readonly isIncremental: boolean;
}

/** A pending copy blocks other writes. */
export function judgeByPendingCopy(copy: CopyState | null): FaultCode | null {
  return copy?.status === "pending" ? "PendingCopyOperation" : null;
}

/** The target of incremental copies is read by its snapshots, and changed by the next copy only. */
export function judgeOnIncrementalCopy(copy: BlobCopyState | null): FaultCode | null {
  return copy?.isIncremental === true ? "OperationNotAllowedOnIncrementalCopyBlob" : null;
}

/** Aborting a pending copy needs its id. */
export function judgeAbortOfCopy(copy: CopyState | null, id: string): FaultCode | null {
  if (copy?.status !== "pending") return "NoPendingCopyOperation";
  return copy.id === id ? null : "CopyIdMismatch";
}
