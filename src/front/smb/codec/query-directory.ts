import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, partOf, textOf, Writer } from "./wire.ts";

export interface QueryDirectoryRequest {
  readonly infoClass: number;
  readonly flags: number;
  readonly fileIndex: number;
  readonly fileId: FileId;
  readonly pattern: string;
  readonly outputBytesMax: number;
}

export const SCAN_FLAG = { restart: 1, single: 2, reopen: 16 } as const;

const STRUCTURE_SIZE = 33;
const ANSWER_FIXED_BYTES = 8;

export function readQueryDirectory(message: Bytes): QueryDirectoryRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    infoClass: body.readUInt8(2),
    flags: body.readUInt8(3),
    fileIndex: body.readUInt32LE(4),
    fileId: readFileId(body, 8),
    pattern: textOf(partOf(message, body.readUInt16LE(24), body.readUInt16LE(26))),
    outputBytesMax: body.readUInt32LE(28),
  };
}

/** The response to QUERY_DIRECTORY, QUERY_INFO and CHANGE_NOTIFY, which holds only the output. */
export function writeOutput(output: Bytes): Bytes {
  return new Writer()
    .u16(9)
    .u16(HEADER_BYTES + ANSWER_FIXED_BYTES)
    .u32(output.length)
    .bytes(output)
    .done();
}
