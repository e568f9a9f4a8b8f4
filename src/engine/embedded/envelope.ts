import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { StoreError } from "../../store/store.ts";

/**
 * A stored value ends with a checksum of its key and value, because LMDB has none. The checksum is
 * last so that an unsealed value is a view of the sealed one.
 */
export const SEAL_BYTES = 4;

/** Writes the sealed value into `room`, which must be long enough, and returns the part used. */
export function seal(key: Bytes, value: Bytes, room: Bytes): Bytes {
  room.set(value);
  const end = room.writeUInt32LE(checksum(key, value), value.length);
  return room.subarray(0, end);
}

/** Checks a sealed value and returns the value, which shares its memory. Throws if damaged. */
export function unseal(key: Bytes, sealed: Bytes): Bytes {
  const length = sealed.length - SEAL_BYTES;
  if (length >= 0) {
    const value = sealed.subarray(0, length);
    if (sealed.readUInt32LE(length) === checksum(key, value)) return value;
  }
  throw new StoreError("damaged", `the record ${key.toString("hex")} is damaged on disk`);
}

function checksum(key: Bytes, value: Bytes): number {
  // The key comes last because it is never empty: zlib may drop the start value if no bytes follow.
  return crc32(key, crc32(value));
}
