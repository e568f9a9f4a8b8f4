import { MessageChannel } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";

/** Smaller buffers are left to the garbage collector. */
const FREED_BYTES_MIN = 32 * KIB;

const nowhere = new MessageChannel().port1;
nowhere.close();

/**
 * Frees the memory of a large buffer at once: it has length 0 afterwards, like all views of its
 * memory. Parts of larger buffers are not freed. The garbage collector would come late, because it
 * sees only the small object in front of the memory, and memory that was idle is slow to use again.
 * The trick is to transfer the memory to a closed message port.
 */
export function freeMemory(bytes: Bytes): void {
  const { buffer, length } = bytes;
  if (length !== buffer.byteLength || length < FREED_BYTES_MIN) return;
  nowhere.postMessage(null, [buffer as ArrayBuffer]);
}
