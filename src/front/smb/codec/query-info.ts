import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, partOf } from "./wire.ts";

export const INFO_TYPE = { file: 1, fileSystem: 2, security: 3, quota: 4 } as const;

export interface QueryInfoRequest {
  readonly type: number;
  readonly infoClass: number;
  readonly outputBytesMax: number;
  readonly input: Bytes;
  /** The wanted parts of a security descriptor. */
  readonly additional: number;
  readonly flags: number;
  readonly fileId: FileId;
}

const STRUCTURE_SIZE = 41;

export function readQueryInfo(message: Bytes): QueryInfoRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    type: body.readUInt8(2),
    infoClass: body.readUInt8(3),
    outputBytesMax: body.readUInt32LE(4),
    input: partOf(message, body.readUInt16LE(8), body.readUInt32LE(12)),
    additional: body.readUInt32LE(16),
    flags: body.readUInt32LE(20),
    fileId: readFileId(body, 24),
  };
}
