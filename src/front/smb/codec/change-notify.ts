import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf } from "./wire.ts";

export interface ChangeNotifyRequest {
  readonly fileId: FileId;
  readonly recursive: boolean;
  readonly filter: number;
  readonly outputBytesMax: number;
}

const STRUCTURE_SIZE = 32;
const FLAG_TREE = 1;

export function readChangeNotify(message: Bytes): ChangeNotifyRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    fileId: readFileId(body, 8),
    recursive: (body.readUInt16LE(2) & FLAG_TREE) !== 0,
    filter: body.readUInt32LE(24),
    outputBytesMax: body.readUInt32LE(4),
  };
}
