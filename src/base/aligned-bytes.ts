import type { Bytes } from "./bytes.ts";

/** What direct I/O counts in: where it begins and ends, in memory and on disk. */
export const PAGE_BYTES = 4096;

/**
 * Memory that begins on a page, as direct I/O wants it, and that other threads can look at where it
 * is. It is never given back: whoever needs it for a while takes it from `Slabs`.
 */
export function alignedBytes(bytes: number): Bytes {
  const at = end;
  const room = Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
  const missing = at + room - alignedMemory.buffer.byteLength;
  if (missing > 0) grow(missing);
  end = at + room;
  return Buffer.from(alignedMemory.buffer as unknown as ArrayBuffer, at, bytes);
}

/** Where such bytes begin in `alignedMemory`; null for all others. */
export function placeInAlignedMemory(bytes: Bytes): number | null {
  return views.has(bytes.buffer) ? bytes.byteOffset : null;
}

// The only memory in Node that is known to begin on a page. Most of it is no more than a range of
// addresses until it is used.
const UNIT_BYTES = 64 * 1024;
const UNITS_MAX = 65_536;
const GROWTH_BYTES_MIN = 16 * 1024 * 1024;

export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  grow(units: number): void;
}

// Node has it; the type definitions in use do not.
declare const WebAssembly: {
  Memory: new (limits: { initial: number; maximum: number; shared: true }) => SharedMemory;
};

export const alignedMemory: SharedMemory = new WebAssembly.Memory({
  initial: 0,
  maximum: UNITS_MAX,
  shared: true,
});
/** The memory as it was seen before and after it grew: all views of the same bytes. */
const views = new WeakSet<object>();
let end = 0;

function grow(missing: number): void {
  alignedMemory.grow(Math.ceil(Math.max(missing, GROWTH_BYTES_MIN) / UNIT_BYTES));
  views.add(alignedMemory.buffer);
}
