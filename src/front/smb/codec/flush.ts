import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf } from "./wire.ts";

const STRUCTURE_SIZE = 24;

export function readFlush(message: Bytes): FileId {
  return readFileId(bodyOf(message, STRUCTURE_SIZE), 8);
}
