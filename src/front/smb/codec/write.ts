import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, partOf, readU64, Writer } from "./wire.ts";

export interface WriteRequest {
  readonly fileId: FileId;
  readonly offset: number;
  readonly data: Bytes;
  /** The client wants the bytes on the disk when it hears of them. */
  readonly through: boolean;
}

const STRUCTURE_SIZE = 49;
const FLAG_THROUGH = 1;

export function readWrite(message: Bytes): WriteRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    fileId: readFileId(body, 16),
    offset: readU64(body, 8),
    data: partOf(message, body.readUInt16LE(2), body.readUInt32LE(4)),
    through: (body.readUInt32LE(44) & FLAG_THROUGH) !== 0,
  };
}

export function writeWrite(count: number): Bytes {
  return new Writer().u16(17).u16(0).u32(count).u32(0).u32(0).done();
}
