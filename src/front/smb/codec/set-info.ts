import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, partOf } from "./wire.ts";

export interface SetInfoRequest {
  readonly type: number;
  readonly infoClass: number;
  readonly additional: number;
  readonly fileId: FileId;
  readonly input: Bytes;
}

const STRUCTURE_SIZE = 33;
const DONE = Buffer.from([2, 0]);

export function readSetInfo(message: Bytes): SetInfoRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    type: body.readUInt8(2),
    infoClass: body.readUInt8(3),
    input: partOf(message, body.readUInt16LE(8), body.readUInt32LE(4)),
    additional: body.readUInt32LE(12),
    fileId: readFileId(body, 16),
  };
}

export function writeSetInfo(): Bytes {
  return DONE;
}
