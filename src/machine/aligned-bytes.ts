import { workerData } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";

/** The alignment of direct I/O, in memory and on disk. */
export const PAGE_BYTES = 4096;

/**
 * Allocates page-aligned memory for direct I/O, which other threads can share. It is never freed:
 * borrow it from `Slabs` if you need it for a while.
 */
export function alignedBytes(bytes: number): Bytes {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  const at = Atomics.add(pagesTaken, 0, pages) * PAGE_BYTES;
  const missing = at + pages * PAGE_BYTES - alignedMemory.buffer.byteLength;
  if (missing > 0) {
    alignedMemory.grow(Math.ceil(Math.max(missing, GROWTH_BYTES_MIN) / UNIT_BYTES));
  }
  return alignedBytesAt(at, bytes);
}

/** A view of aligned memory that another thread has allocated. */
export function alignedBytesAt(at: number, bytes: number): Bytes {
  // The other thread may have grown the memory: `grow(0)` makes that visible here.
  if (at + bytes > alignedMemory.buffer.byteLength) alignedMemory.grow(0);
  const { buffer } = alignedMemory;
  views.add(buffer);
  return Buffer.from(buffer as unknown as ArrayBuffer, at, bytes);
}

/** The address of these bytes in `alignedMemory`; null for other memory. */
export function placeInAlignedMemory(bytes: Bytes): number | null {
  return views.has(bytes.buffer) ? bytes.byteOffset : null;
}

/** Extends `bytes` to `length` bytes; null unless they begin on a page and fit in `memory`. */
export function pagesAt(bytes: Bytes, memory: Bytes, length: number): Bytes | null {
  const place = placeInAlignedMemory(bytes);
  if (place === null || place % PAGE_BYTES !== 0 || bytes.buffer !== memory.buffer) return null;
  const at = bytes.byteOffset - memory.byteOffset;
  return at >= 0 && at + length <= memory.length ? memory.subarray(at, at + length) : null;
}

// Memory of WebAssembly is the only memory in Node that is sure to be page-aligned. It is reserved
// address space until it is used.
const UNIT_BYTES = 64 * 1024;
const UNITS_MAX = 65_536;
const GROWTH_BYTES_MIN = 16 * 1024 * 1024;

export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
  grow(units: number): void;
}

// Node has `WebAssembly`; the type definitions in use do not.
declare const WebAssembly: {
  Memory: new (limits: { initial: number; maximum: number; shared: true }) => SharedMemory;
};

/** A worker shares the memory of the thread that passes it as `workerData.alignedMemory`. */
export const alignedMemory: SharedMemory =
  workerData?.alignedMemory ??
  new WebAssembly.Memory({ initial: 1, maximum: UNITS_MAX, shared: true });
/** The memory's buffers: each time it grows there is a new one, for the same bytes. */
const views = new WeakSet<object>();
/** The number of allocated pages, for all threads. It is stored in the first page. */
const pagesTaken = new Int32Array(alignedMemory.buffer, 0, 1);
Atomics.compareExchange(pagesTaken, 0, 0, 1);
