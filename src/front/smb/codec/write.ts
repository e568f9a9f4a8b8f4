import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, partOf, readU64, Writer } from "./wire.ts";

/** The fields of a WRITE before its data. */
export interface WriteHead {
  readonly fileId: FileId;
  readonly offset: number;
  readonly dataAt: number;
  readonly length: number;
  /** Write-through: the bytes must be durable before the response. */
  readonly through: boolean;
}

const STRUCTURE_SIZE = 49;
const HEAD_BYTES = HEADER_BYTES + STRUCTURE_SIZE - 1;
const FLAG_THROUGH = 1;

export function readWriteHead(message: Bytes): WriteHead {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    fileId: readFileId(body, 16),
    offset: readU64(body, 8),
    dataAt: body.readUInt16LE(2),
    length: body.readUInt32LE(4),
    through: (body.readUInt32LE(44) & FLAG_THROUGH) !== 0,
  };
}

/** Reads a WRITE from the start of a message; null if more than its data follows. */
export function readWriteStart(start: Bytes, messageBytes: number): WriteHead | null {
  if (start.length < HEAD_BYTES || start.readUInt16LE(HEADER_BYTES) !== STRUCTURE_SIZE) return null;
  const head = readWriteHead(start);
  const { dataAt, length } = head;
  const isAllData = dataAt >= HEAD_BYTES && dataAt + length === messageBytes;
  return isAllData && dataAt <= start.length ? head : null;
}

/** The data of a WRITE that is part of the message. */
export function readWriteData(message: Bytes, { dataAt, length }: WriteHead): Bytes {
  return partOf(message, dataAt, length);
}

export function writeWrite(count: number): Bytes {
  return new Writer().u16(17).u16(0).u32(count).u32(0).u32(0).done();
}
