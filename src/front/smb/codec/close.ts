import type { Bytes } from "../../../base/bytes.ts";
import type { FileTimes } from "./create.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, Writer } from "./wire.ts";

export interface CloseRequest {
  readonly fileId: FileId;
  /** Whether the response should carry the attributes of the file. */
  readonly wantsAttributes: boolean;
}

export interface ClosedFile {
  readonly times: FileTimes;
  readonly allocated: number;
  readonly size: number;
  readonly attributes: number;
}

const STRUCTURE_SIZE = 24;
const ANSWER_BYTES = 60;
const FLAG_ATTRIBUTES = 1;

export function readClose(message: Bytes): CloseRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    fileId: readFileId(body, 8),
    wantsAttributes: (body.readUInt16LE(2) & FLAG_ATTRIBUTES) !== 0,
  };
}

export function writeClose(file: ClosedFile | null): Bytes {
  const writer = new Writer().u16(ANSWER_BYTES);
  if (file === null) return writer.zeros(ANSWER_BYTES - 2).done();
  const { times } = file;
  return writer
    .u16(FLAG_ATTRIBUTES)
    .u32(0)
    .u64(times.created)
    .u64(times.accessed)
    .u64(times.written)
    .u64(times.changed)
    .u64(file.allocated)
    .u64(file.size)
    .u32(file.attributes)
    .done();
}
