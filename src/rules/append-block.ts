import type { FaultCode } from "../base/fault.ts";
import { COMMITTED_BLOCKS_MAX } from "../base/limits.ts";

/** The fields of an append blob that decide on an append. */
export interface Appendable {
  readonly bytes: number;
  readonly blocks: number;
  readonly isSealed: boolean;
}

/** The conditions of an append; null sets none. */
export interface AppendConditions {
  /** The block must begin here. */
  readonly position: number | null;
  /** The blob must not be larger than this with the block. */
  readonly bytesMax: number | null;
}

export function judgeByPosition(found: Appendable, position: number | null): FaultCode | null {
  return position === null || position === found.bytes ? null : "AppendPositionConditionNotMet";
}

export function judgeAppend(
  found: Appendable,
  blockBytes: number,
  { position, bytesMax }: AppendConditions,
): FaultCode | null {
  if (found.isSealed) return "BlobIsSealed";
  const misplaced = judgeByPosition(found, position);
  if (misplaced !== null) return misplaced;
  if (bytesMax !== null && found.bytes + blockBytes > bytesMax) return "MaxBlobSizeConditionNotMet";
  return found.blocks < COMMITTED_BLOCKS_MAX ? null : "BlockCountExceedsLimit";
}
