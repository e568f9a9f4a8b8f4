import { createHash } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import type { Body } from "../item.ts";
import { TransferError } from "../transfer-error.ts";

/**
 * A body whose bytes are compared with a digest as they are read from the first to `until`. The last
 * bytes are held back until they are proven, so that a damaged body is never written whole.
 */
export function checkedBody(body: Body, sha256: string, until: number, name: string): Body {
  let digest = createHash("sha256");
  let next = 0;
  const take = async (from: number, end: number) => {
    for await (const part of body.read(from, end - from)) digest.update(part);
    next = end;
  };
  return {
    bytes: body.bytes,
    async *read(from = 0, count = body.bytes - from): AsyncGenerator<Bytes> {
      if (from === 0) {
        digest = createHash("sha256");
        next = 0;
      }
      // A part that is read again was proven the first time, or will be.
      const isNext = from >= next;
      if (isNext && from > next) await take(next, from);
      const isLast = isNext && from + count >= until;
      let held: Bytes | null = null;
      for await (const part of body.read(from, count)) {
        if (isNext) digest.update(part);
        if (held !== null) yield held;
        held = part;
      }
      if (isNext) next = from + count;
      if (isLast) {
        await take(next, body.bytes);
        if (digest.copy().digest("hex") !== sha256) {
          throw new TransferError(`${name} is damaged: its SHA-256 differs from the manifest.`);
        }
      }
      if (held !== null) yield held;
    },
  };
}
