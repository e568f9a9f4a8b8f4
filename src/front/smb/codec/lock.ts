import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, partOf } from "./wire.ts";

export interface LockRequest {
  readonly fileId: FileId;
  /** Distinguishes a repeated request from a new one. */
  readonly sequence: number;
  readonly ranges: readonly LockRange[];
}

export interface LockRange {
  readonly offset: bigint;
  readonly length: bigint;
  readonly flags: number;
}

export const LOCK_FLAG = { shared: 1, exclusive: 2, unlock: 4, failImmediately: 16 } as const;

const STRUCTURE_SIZE = 48;
const RANGE_BYTES = 24;
const RANGES_MAX = 4_096;

export function readLock(message: Bytes): LockRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  const count = body.readUInt16LE(2);
  if (count === 0 || count > RANGES_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
  const ranges = partOf(message, HEADER_BYTES + RANGE_BYTES, count * RANGE_BYTES);
  return {
    sequence: body.readUInt32LE(4),
    fileId: readFileId(body, 8),
    ranges: Array.from({ length: count }, (_, index) => readRange(ranges, index * RANGE_BYTES)),
  };
}

function readRange(bytes: Bytes, at: number): LockRange {
  return {
    offset: bytes.readBigUInt64LE(at),
    length: bytes.readBigUInt64LE(at + 8),
    flags: bytes.readUInt32LE(at + 16),
  };
}
