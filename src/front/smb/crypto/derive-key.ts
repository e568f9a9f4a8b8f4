import { createHmac } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";

/**
 * Derives a key by SP 800-108 in counter mode with HMAC-SHA256: one round, which is enough for keys
 * of up to 32 bytes. SMB's labels include a final NUL, before the one that separates label and
 * context.
 */
export function deriveKey(key: Bytes, label: string, context: Bytes, keyBytes: 16 | 32): Bytes {
  const round = Buffer.from([0, 0, 0, 1]);
  const bits = Buffer.alloc(4);
  bits.writeUInt32BE(keyBytes * 8);
  return createHmac("sha256", key)
    .update(round)
    .update(`${label}\0\0`, "latin1")
    .update(context)
    .update(bits)
    .digest()
    .subarray(0, keyBytes);
}
