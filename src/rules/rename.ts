import type { FaultCode } from "../base/fault.ts";

export type PathKind = "file" | "directory";

/** What a rename finds at its two ends. */
export interface RenameEnds {
  readonly source: PathKind;
  /** Null if nothing is there. */
  readonly target: PathKind | null;
  /** Whether the target is a directory that holds anything. */
  readonly isTargetFilled: boolean;
  /** Whether the target is the source itself, or lies below it. */
  readonly isWithin: boolean;
}

/** A rename replaces a file by a file, and an empty directory by a directory. */
export function judgeRename(ends: RenameEnds): FaultCode | null {
  if (ends.source === "directory" && ends.isWithin) return "InvalidRenameSourcePath";
  if (ends.target === null) return null;
  if (ends.source !== ends.target) return "InvalidSourceOrDestinationResourceType";
  return ends.isTargetFilled ? "DirectoryNotEmpty" : null;
}
