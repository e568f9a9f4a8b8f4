import type { FaultCode } from "../base/fault.ts";

/** The last copy to a blob or file, as far as others have to wait for it. */
export interface CopyState {
  readonly id: string;
  readonly status: "pending" | "success" | "aborted" | "failed";
}

/** Those to blobs may go on from snapshot to snapshot. */
export interface BlobCopyState extends CopyState {
  readonly isIncremental: boolean;
}

/** Where a copy is under way, nobody else writes. */
export function judgeByPendingCopy(copy: CopyState | null): FaultCode | null {
  return copy?.status === "pending" ? "PendingCopyOperation" : null;
}

/** Such a copy is read by its snapshots, and changed by the next one only. */
export function judgeOnIncrementalCopy(copy: BlobCopyState | null): FaultCode | null {
  return copy?.isIncremental === true ? "OperationNotAllowedOnIncrementalCopyBlob" : null;
}

/** Only who knows the id of a copy that is under way can end it. */
export function judgeAbortOfCopy(copy: CopyState | null, id: string): FaultCode | null {
  if (copy?.status !== "pending") return "NoPendingCopyOperation";
  return copy.id === id ? null : "CopyIdMismatch";
}
