import { type BufferOwner, drainBorrowed } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";

/** Pseudorandom bytes, reproducible by their seed. */
export function someBytes(length: number, seed: number): Bytes {
  const bytes = Buffer.allocUnsafe(length);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** A body in parts of this size that reuse one buffer, so that retaining a part fails tests. */
export function inParts(bytes: Bytes, partBytes: number): Body {
  return {
    length: bytes.length,
    async drain(take) {
      const memory = Buffer.alloc(partBytes);
      for (let at = 0; at < bytes.length; at += partBytes) {
        await take(memory.subarray(0, bytes.copy(memory, 0, at, at + partBytes)));
      }
    },
  };
}

/** Copies all bytes of an owner. */
export async function gather(owner: BufferOwner): Promise<Bytes> {
  const all: Bytes[] = [];
  await drainBorrowed(owner, (part) => {
    all.push(Buffer.from(part));
  });
  return Buffer.concat(all);
}
