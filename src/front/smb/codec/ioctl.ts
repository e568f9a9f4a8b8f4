import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, partOf, Writer } from "./wire.ts";

export interface IoctlRequest {
  readonly code: number;
  readonly fileId: FileId;
  readonly input: Bytes;
  readonly outputBytesMax: number;
  /** Whether it is a file system control, the only supported kind. */
  readonly isFsctl: boolean;
}

export const CONTROL = {
  dfsGetReferrals: 0x00060194,
  dfsGetReferralsEx: 0x000601b0,
  pipePeek: 0x0011400c,
  pipeWait: 0x00110018,
  pipeTransceive: 0x0011c017,
  createOrGetObjectId: 0x000900c0,
  requestResumeKey: 0x00140078,
  copyChunk: 0x001440f2,
  copyChunkWrite: 0x001480f2,
  validateNegotiate: 0x00140204,
  queryNetworkInterfaces: 0x001401fc,
  enumerateSnapshots: 0x00144064,
} as const;

const STRUCTURE_SIZE = 57;
const ANSWER_FIXED_BYTES = 48;
const FLAG_FSCTL = 1;

export function readIoctl(message: Bytes): IoctlRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    code: body.readUInt32LE(4),
    fileId: readFileId(body, 8),
    input: partOf(message, body.readUInt32LE(24), body.readUInt32LE(28)),
    outputBytesMax: body.readUInt32LE(44),
    isFsctl: (body.readUInt32LE(48) & FLAG_FSCTL) !== 0,
  };
}

export function writeIoctl({ code, fileId }: IoctlRequest, output: Bytes): Bytes {
  const dataAt = HEADER_BYTES + ANSWER_FIXED_BYTES;
  return new Writer()
    .u16(49)
    .u16(0)
    .u32(code)
    .bytes(fileIdBytes(fileId))
    .u32(dataAt)
    .u32(0)
    .u32(dataAt)
    .u32(output.length)
    .u32(0)
    .u32(0)
    .bytes(output)
    .done();
}

const NO_FILE = Buffer.alloc(16, 0xff);

function fileIdBytes({ persistent, volatile }: FileId): Bytes {
  // Controls without a file have an id of all ones, which a number cannot represent.
  if (!Number.isSafeInteger(persistent) || !Number.isSafeInteger(volatile)) return NO_FILE;
  return new Writer().u64(persistent).u64(volatile).done();
}
