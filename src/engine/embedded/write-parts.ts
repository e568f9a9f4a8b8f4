import { writev } from "node:fs";
import type { Bytes } from "../../base/bytes.ts";

/** Writes buffers one behind the other, and repeats the call if the system takes only a part. */
export function writeParts(fd: number, parts: readonly Bytes[], position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (rest: readonly Bytes[], at: number) => {
      if (rest.length === 0) return resolve();
      writev(fd, rest, at, (error, bytes) => {
        if (error !== null) reject(error);
        // Retrying would loop for ever.
        else if (bytes === 0) reject(new Error("the disk takes nothing, and does not say why"));
        else go(behind(rest, bytes), at + bytes);
      });
    };
    go(parts, position);
  });
}

/** The buffers without their first `bytes` bytes. */
export function behind(parts: readonly Bytes[], bytes: number): readonly Bytes[] {
  let done = 0;
  for (const [index, part] of parts.entries()) {
    if (done + part.length > bytes) {
      return [part.subarray(bytes - done), ...parts.slice(index + 1)];
    }
    done += part.length;
  }
  return [];
}
