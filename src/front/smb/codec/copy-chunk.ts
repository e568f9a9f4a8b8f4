import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { readU64, Writer } from "./wire.ts";

export const RESUME_KEY_BYTES = 24;

export interface CopyChunks {
  /** The key of the source file. */
  readonly resumeKey: Bytes;
  readonly chunks: readonly Chunk[];
}

export interface Chunk {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

const HEAD_BYTES = 32;
const CHUNK_BYTES = 24;

export function readCopyChunks(input: Bytes): CopyChunks {
  if (input.length < HEAD_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
  const count = input.readUInt32LE(RESUME_KEY_BYTES);
  if (input.length < HEAD_BYTES + count * CHUNK_BYTES) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  const chunks = Array.from({ length: count }, (_, index) => {
    const at = HEAD_BYTES + index * CHUNK_BYTES;
    const length = input.readUInt32LE(at + 16);
    return { from: readU64(input, at), to: readU64(input, at + 8), length };
  });
  return { resumeKey: input.subarray(0, RESUME_KEY_BYTES), chunks };
}

/** The numbers of what was copied; for a request that was too large, the limits instead. */
export function writeCopied(chunks: number, chunkBytes: number, totalBytes: number): Bytes {
  return new Writer().u32(chunks).u32(chunkBytes).u32(totalBytes).done();
}

export function writeResumeKey(key: Bytes): Bytes {
  return new Writer().bytes(key).u32(0).u32(0).done();
}
