import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { Writer } from "./wire.ts";

/** The lease context `RqLs` of a request or response. */
export interface LeaseContext {
  readonly key: Bytes;
  readonly state: number;
  readonly flags: number;
  /** The fields of version 2; null in version 1. */
  readonly version2: { readonly parentKey: Bytes; readonly epoch: number } | null;
}

export const LEASE_FLAG = { breakInProgress: 0x02, parentKeySet: 0x04 } as const;

const VERSION_1_BYTES = 32;
const VERSION_2_BYTES = 52;

/** Reads a lease context; null for a version that the dialect does not have. */
export function readLease(data: Bytes, knowsVersion2: boolean): LeaseContext | null {
  const is2 = data.length === VERSION_2_BYTES;
  if (!is2 && data.length !== VERSION_1_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
  if (is2 && !knowsVersion2) return null;
  return {
    key: Buffer.from(data.subarray(0, 16)),
    state: data.readUInt32LE(16),
    flags: data.readUInt32LE(20),
    version2: is2
      ? { parentKey: Buffer.from(data.subarray(32, 48)), epoch: data.readUInt16LE(48) }
      : null,
  };
}

export function writeLease({ key, state, flags, version2 }: LeaseContext): Bytes {
  const writer = new Writer().bytes(key).u32(state).u32(flags).u64(0);
  if (version2 === null) return writer.done();
  return writer.bytes(version2.parentKey).u16(version2.epoch).u16(0).done();
}
