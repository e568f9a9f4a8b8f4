import { workerData } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";

/** What direct I/O counts in: where it begins and ends, in memory and on disk. */
export const PAGE_BYTES = 4096;

/**
 * Memory that begins on a page, as direct I/O wants it, and that other threads can look at where it
 * is. It is never given back: whoever needs it for a while takes it from `Slabs`.
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

/** Such bytes again, on a thread that was told where they begin. */
export function alignedBytesAt(at: number, bytes: number): Bytes {
  // Another thread may have made it larger.
  if (at + bytes > alignedMemory.buffer.byteLength) alignedMemory.grow(0);
  const { buffer } = alignedMemory;
  views.add(buffer);
  return Buffer.from(buffer as unknown as ArrayBuffer, at, bytes);
}

/** Where such bytes begin in `alignedMemory`; null for all others. */
export function placeInAlignedMemory(bytes: Bytes): number | null {
  return views.has(bytes.buffer) ? bytes.byteOffset : null;
}

/**
 * So many bytes from where `bytes` begin, if that is on a page, and as long as they lie in `memory`;
 * otherwise null.
 */
export function pagesAt(bytes: Bytes, memory: Bytes, length: number): Bytes | null {
  const place = placeInAlignedMemory(bytes);
  if (place === null || place % PAGE_BYTES !== 0 || bytes.buffer !== memory.buffer) return null;
  const at = bytes.byteOffset - memory.byteOffset;
  return at >= 0 && at + length <= memory.length ? memory.subarray(at, at + length) : null;
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

/** A thread that gets it as `workerData.alignedMemory` shares it. */
export const alignedMemory: SharedMemory =
  workerData?.alignedMemory ??
  new WebAssembly.Memory({ initial: 1, maximum: UNITS_MAX, shared: true });
/** The memory as it was seen before and after it grew: all views of the same bytes. */
const views = new WeakSet<object>();
/** The first page counts the others, for all threads. */
const pagesTaken = new Int32Array(alignedMemory.buffer, 0, 1);
Atomics.compareExchange(pagesTaken, 0, 0, 1);
