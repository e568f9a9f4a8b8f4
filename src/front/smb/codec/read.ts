import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, readU64, Writer } from "./wire.ts";

export interface ReadRequest {
  readonly fileId: FileId;
  readonly offset: number;
  readonly length: number;
  /** If fewer bytes can be read, the response is END_OF_FILE. */
  readonly lengthMin: number;
}

const STRUCTURE_SIZE = 49;
const ANSWER_FIXED_BYTES = 16;

export function readRead(message: Bytes): ReadRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    fileId: readFileId(body, 16),
    offset: readU64(body, 8),
    length: body.readUInt32LE(4),
    lengthMin: body.readUInt32LE(32),
  };
}

/** The offset of the data in a response. */
const READ_DATA_AT = HEADER_BYTES + ANSWER_FIXED_BYTES;

/** Writes the response up to the data. */
export function writeReadHead(dataBytes: number): Bytes {
  return new Writer().u16(17).u8(READ_DATA_AT).u8(0).u32(dataBytes).u32(0).u32(0).done();
}
