import { workerData } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";

/** The alignment of direct I/O, in memory and on disk. */
export const PAGE_BYTES = 4096;

/**
 * Allocates page-aligned memory for direct I/O, which other threads can read. Its bytes are not
 * cleared. Give it back with `freeAlignedBytes`: the garbage collector does not.
 */
export function alignedBytes(bytes: number): Bytes {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  return alignedBytesAt(freed.get(pages)?.pop() ?? newPages(pages), bytes);
}

/** Frees memory from `alignedBytes`, which nobody may use any more. */
export function freeAlignedBytes(bytes: Bytes): void {
  const pages = Math.ceil(bytes.length / PAGE_BYTES);
  const places = freed.get(pages);
  if (places === undefined) freed.set(pages, [bytes.byteOffset]);
  else places.push(bytes.byteOffset);
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

/** Whether these bytes begin on a page of aligned memory, as direct I/O needs it. */
export function beginsOnPage(bytes: Bytes): boolean {
  const place = placeInAlignedMemory(bytes);
  return place !== null && place % PAGE_BYTES === 0;
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

/** Aligned memory for a worker's own use: pass it as `workerData.alignedRoom`. */
export interface AlignedRoom {
  readonly memory: SharedMemory;
  readonly at: number;
  readonly bytes: number;
}

/** Makes room for a worker out of memory from `alignedBytes`, to be freed once the worker ended. */
export function roomForWorker(own: Bytes): AlignedRoom {
  return { memory: alignedMemory, at: own.byteOffset, bytes: own.length };
}

// Node has `WebAssembly`; the type definitions in use do not.
declare const WebAssembly: {
  Memory: new (limits: { initial: number; maximum: number; shared: true }) => SharedMemory;
};

/** The thread that makes the memory allocates all of it. A worker gets a room and never grows it. */
const room: AlignedRoom | null = workerData?.alignedRoom ?? null;

/** The aligned memory of the process. Compiled functions are bound to it. */
export const alignedMemory: SharedMemory =
  room?.memory ?? new WebAssembly.Memory({ initial: 1, maximum: UNITS_MAX, shared: true });
/** The memory's buffers: each time it grows there is a new one, for the same bytes. */
const views = new WeakSet<object>();
/** Where memory begins that was never allocated. No memory is at 0. */
let unusedAt = room?.at ?? PAGE_BYTES;
/** Freed places, by their number of pages. Few sizes are in use, so places are never split. */
const freed = new Map<number, number[]>();

function newPages(pages: number): number {
  const at = unusedAt;
  unusedAt += pages * PAGE_BYTES;
  if (room !== null) {
    if (unusedAt > room.at + room.bytes) throw new Error("the room of a worker is too small");
    return at;
  }
  const missing = unusedAt - alignedMemory.buffer.byteLength;
  if (missing > 0) {
    alignedMemory.grow(Math.ceil(Math.max(missing, GROWTH_BYTES_MIN) / UNIT_BYTES));
  }
  return at;
}
