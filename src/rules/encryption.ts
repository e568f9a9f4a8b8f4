import type { Bytes } from "../base/bytes.ts";
import type { FaultCode } from "../base/fault.ts";

/** A key that a client sends with each request. Only its hash is ever stored. */
export interface CustomerKey {
  /** A key of AES-256. */
  readonly bytes: Bytes;
  readonly sha256: Bytes;
  /** Random. It belongs to this request, which may encrypt one record with it. */
  readonly nonce: Bytes;
}

/**
 * Judges the key of a request by the hash of the key that a blob or block is encrypted with; both are
 * null where there is none. The key must be the same for every request that reads or adds to it.
 */
export function judgeByKey(
  stored: Bytes | null,
  asked: Pick<CustomerKey, "sha256"> | null,
): FaultCode | null {
  if (stored === null) {
    return asked === null ? null : "BlobDoesNotUseCustomerSpecifiedEncryption";
  }
  if (asked === null) return "BlobUsesCustomerSpecifiedEncryption";
  return stored.equals(asked.sha256) ? null : "BlobCustomerSpecifiedEncryptionMismatch";
}
