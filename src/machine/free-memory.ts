import { MessageChannel } from "node:worker_threads";
import type { Bytes } from "../base/bytes.ts";
import { KIB } from "../base/limits.ts";

/** Below this, the garbage collector is as good. */
const FREED_BYTES_MIN = 32 * KIB;

const nowhere = new MessageChannel().port1;
nowhere.close();

/**
 * Gives the memory of a large buffer back at once: it is empty afterwards, and so is whatever shares
 * its memory. The garbage collector sees only the small object that stands for it, comes when much has
 * piled up, and then looks through all there is; and memory that has lain idle is slow to use again.
 * What is sent to a closed port leaves us and arrives nowhere. Parts of larger buffers are left alone.
 */
export function freeMemory(bytes: Bytes): void {
  const { buffer, length } = bytes;
  if (length !== buffer.byteLength || length < FREED_BYTES_MIN) return;
  nowhere.postMessage(null, [buffer as ArrayBuffer]);
}
