import type { Bytes } from "../../base/bytes.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { Slabs } from "../../machine/slabs.ts";
import { alignedTo } from "./codec/wire.ts";
import { TRANSFER_BYTES_MAX } from "./limits.ts";

/** What stands around the bytes of a transfer, with room to spare. */
const AROUND_BYTES = 4 * KIB;
/** Below this, new memory costs little. */
const SLAB_BYTES_MIN = 256 * KIB;

interface Size {
  readonly bytes: number;
  readonly slabs: Slabs;
}

/** What most clients transfer at once, and the most that any may. */
const SIZES: readonly Size[] = [
  sizeOf(MIB + AROUND_BYTES, 32),
  sizeOf(TRANSFER_BYTES_MAX + AROUND_BYTES, 4),
];

/** Memory for a large frame, which is used again once it is given back. */
export function takeFrame(bytes: number): Bytes {
  const size = bytes < SLAB_BYTES_MIN ? undefined : SIZES.find((one) => bytes <= one.bytes);
  return size === undefined ? Buffer.allocUnsafe(bytes) : size.slabs.take().subarray(0, bytes);
}

/** Only for frames that nobody looks at any more. Others than those of `takeFrame` are left alone. */
export function giveFrameBack({ buffer }: Bytes): void {
  const size = SIZES.find((one) => one.bytes === buffer.byteLength);
  size?.slabs.release(Buffer.from(buffer));
}

/** A message that is to be filled in, with cleared bytes behind it up to a multiple of eight. */
export function newMessage(bytes: number): Bytes {
  const message = takeFrame(alignedTo(bytes, 8));
  // A call of `fill` would take longer than the rest.
  for (let at = bytes; at < message.length; at++) message[at] = 0;
  return message.subarray(0, bytes);
}

function sizeOf(bytes: number, idleMax: number): Size {
  return { bytes, slabs: new Slabs(bytes, idleMax) };
}
