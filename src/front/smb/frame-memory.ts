import type { Bytes } from "../../base/bytes.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { Slabs } from "../../machine/slabs.ts";
import { alignedTo } from "./codec/wire.ts";
import { TRANSFER_BYTES_MAX } from "./limits.ts";

/** Headers around the bytes of a transfer, with room to spare. */
const AROUND_BYTES = 4 * KIB;
/** Smaller frames use new memory, which is cheap. */
const SLAB_BYTES_MIN = 256 * KIB;

interface Size {
  readonly bytes: number;
  readonly slabs: Slabs;
}

/** The usual size of a transfer, and the largest. */
const SIZES: readonly Size[] = [
  sizeOf(MIB + AROUND_BYTES, 32),
  sizeOf(TRANSFER_BYTES_MAX + AROUND_BYTES, 4),
];

/** Memory for a frame; that of large ones is reused after its release. */
export function takeFrame(bytes: number): Bytes {
  const size = bytes < SLAB_BYTES_MIN ? undefined : SIZES.find((one) => bytes <= one.bytes);
  return size === undefined ? Buffer.allocUnsafe(bytes) : size.slabs.take().subarray(0, bytes);
}

/** Releases the memory of a frame that is no longer used. Ignores memory not from `takeFrame`. */
export function releaseFrame({ buffer }: Bytes): void {
  const size = SIZES.find((one) => one.bytes === buffer.byteLength);
  size?.slabs.release(Buffer.from(buffer));
}

/** Memory for a message, with zeros behind it up to a multiple of eight. */
export function newMessage(bytes: number): Bytes {
  const message = takeFrame(alignedTo(bytes, 8));
  // A call of `fill` would cost more than all the rest.
  for (let at = bytes; at < message.length; at++) message[at] = 0;
  return message.subarray(0, bytes);
}

function sizeOf(bytes: number, idleMax: number): Size {
  return { bytes, slabs: new Slabs(bytes, idleMax) };
}
