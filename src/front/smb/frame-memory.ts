import type { Bytes } from "../../base/bytes.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { Slabs } from "../../machine/slabs.ts";
import { alignedTo } from "./codec/wire.ts";
import { TRANSFER_BYTES_MAX } from "./limits.ts";

/** Headers around the bytes of a transfer, with room to spare. */
const AROUND_BYTES = 4 * KIB;
/** Smaller frames use new memory, which is cheap. */
const SLAB_BYTES_MIN = 256 * KIB;

/** The usual size of a transfer. */
const usual = new Slabs(MIB + AROUND_BYTES, 32);
const largest = new Slabs(TRANSFER_BYTES_MAX + AROUND_BYTES, 4);

/** Memory for a frame; that of large ones is reused after its release. */
export function takeFrame(bytes: number): Bytes {
  if (bytes < SLAB_BYTES_MIN || bytes > largest.bytes) return Buffer.allocUnsafe(bytes);
  return (bytes <= usual.bytes ? usual : largest).take().subarray(0, bytes);
}

/** Releases the memory of a frame that is no longer used. Ignores memory not from `takeFrame`. */
export function releaseFrame({ buffer }: Bytes): void {
  if (buffer.byteLength === usual.bytes) usual.release(Buffer.from(buffer));
  else if (buffer.byteLength === largest.bytes) largest.release(Buffer.from(buffer));
}

/** Memory for a message, with zeros behind it up to a multiple of eight. */
export function newMessage(bytes: number): Bytes {
  const message = takeFrame(alignedTo(bytes, 8));
  // A call of `fill` would cost more than all the rest.
  for (let at = bytes; at < message.length; at++) message[at] = 0;
  return message.subarray(0, bytes);
}
