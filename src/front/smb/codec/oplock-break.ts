import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, Writer } from "./wire.ts";

/** A client's acknowledgement of a break. */
export type BreakAcknowledgement =
  | { readonly kind: "oplock"; readonly fileId: FileId; readonly level: number }
  | { readonly kind: "lease"; readonly key: Bytes; readonly state: number };

const OPLOCK_SIZE = 24;
const LEASE_SIZE = 36;

export function readBreakAcknowledgement(message: Bytes): BreakAcknowledgement {
  if (message.length >= HEADER_BYTES + 2 && message.readUInt16LE(HEADER_BYTES) === LEASE_SIZE) {
    const body = bodyOf(message, LEASE_SIZE);
    const key = Buffer.from(body.subarray(8, 24));
    return { kind: "lease", key, state: body.readUInt32LE(24) };
  }
  const body = bodyOf(message, OPLOCK_SIZE);
  return { kind: "oplock", level: body.readUInt8(2), fileId: readFileId(body, 8) };
}

/** An oplock break for a client, and the response to its acknowledgement. */
export function writeOplockBreak(level: number, { persistent, volatile }: FileId): Bytes {
  return new Writer().u16(OPLOCK_SIZE).u8(level).u8(0).u32(0).u64(persistent).u64(volatile).done();
}

export interface LeaseBreak {
  readonly key: Bytes;
  readonly from: number;
  readonly to: number;
  readonly mustAnswer: boolean;
  /** 0 for leases of version 1. */
  readonly epoch: number;
}

const LEASE_BREAK_SIZE = 44;
const ANSWER_REQUIRED = 1;

/** A lease break for a client. */
export function writeLeaseBreak({ key, from, to, mustAnswer, epoch }: LeaseBreak): Bytes {
  return new Writer()
    .u16(LEASE_BREAK_SIZE)
    .u16(epoch)
    .u32(mustAnswer ? ANSWER_REQUIRED : 0)
    .bytes(key)
    .u32(from)
    .u32(to)
    .zeros(12)
    .done();
}

/** The response to a client's acknowledgement of a lease break. */
export function writeLeaseBreakAnswer(key: Bytes, state: number): Bytes {
  return new Writer().u16(LEASE_SIZE).u16(0).u32(0).bytes(key).u32(state).u64(0).done();
}
