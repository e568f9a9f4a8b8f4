import { createHash, type Hash } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import type { Body } from "../item.ts";
import { TransferError } from "../transfer-error.ts";

/**
 * A body whose bytes are compared with a digest as they are read from the first to `until`. The last
 * bytes are held back until they are proven, so that a damaged body is never written whole.
 */
export function checkedBody(body: Body, sha256: string, until: number, name: string): Body {
  // Of the bytes before `next`. A part that is read only in part adds nothing.
  let before = createHash("sha256");
  let next = 0;
  const take = async (digest: Hash, from: number, end: number) => {
    for await (const part of body.read(from, end - from)) digest.update(part);
  };
  return {
    bytes: body.bytes,
    async *read(from = 0, count = body.bytes - from): AsyncGenerator<Bytes> {
      if (from === 0) {
        before = createHash("sha256");
        next = 0;
      }
      // A part that is read again was proven the first time, or will be.
      const isNext = from >= next;
      const digest = before.copy();
      if (isNext && from > next) await take(digest, next, from);
      const isLast = isNext && from + count >= until;
      let held: Bytes | null = null;
      for await (const part of body.read(from, count)) {
        if (isNext) digest.update(part);
        if (held !== null) yield held;
        held = part;
      }
      if (isLast) {
        const whole = digest.copy();
        await take(whole, from + count, body.bytes);
        if (whole.digest("hex") !== sha256) {
          throw new TransferError(`${name} is damaged: its SHA-256 differs from the manifest.`);
        }
      }
      if (held !== null) yield held;
      if (isNext) [before, next] = [digest, from + count];
    },
  };
}
