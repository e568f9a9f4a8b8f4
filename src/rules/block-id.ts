import type { FaultCode } from "../base/fault.ts";
import { BLOCK_ID_BYTES_MAX } from "../base/limits.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const BASE64_CHARS_MAX = Math.ceil(BLOCK_ID_BYTES_MAX / 3) * 4;

/** A block's id is Base64 of 1 to 64 bytes. It is stored and compared as the client wrote it. */
export function judgeBlockId(id: string): FaultCode | null {
  if (id === "" || id.length > BASE64_CHARS_MAX || !BASE64.test(id)) return "InvalidBlockId";
  return blockIdBytes(id) > BLOCK_ID_BYTES_MAX ? "InvalidBlockId" : null;
}

/** The decoded length of an id. All uncommitted blocks of a blob have ids of one length. */
export function blockIdBytes(id: string): number {
  return (id.length / 4) * 3 - (id.endsWith("==") ? 2 : id.endsWith("=") ? 1 : 0);
}
