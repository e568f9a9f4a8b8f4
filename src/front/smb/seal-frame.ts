import { type BorrowedBuffer, lengthOf } from "../../base/borrowed-buffer.ts";
import { atOnce, type Steps } from "../../base/fair-queue.ts";
import { aadOf, TRANSFORM_BYTES, writeTag, writeTransform } from "./codec/transform.ts";
import type { Sealer } from "./crypto/cipher.ts";

/** What a session has for encryption. */
interface Sealing {
  readonly id: number;
  /** Null if no cipher was negotiated. */
  readonly sealer: Sealer | null;
}

/** Encrypts a frame for the client of a session. */
export function sealFrame(session: Sealing, plain: BorrowedBuffer): BorrowedBuffer {
  return atOnce(sealFrameInSteps(session, plain));
}

export function* sealFrameInSteps(session: Sealing, plain: BorrowedBuffer): Steps<BorrowedBuffer> {
  const { sealer } = session;
  if (sealer === null) throw new Error("a session without a cipher got an encrypted frame");
  const nonce = sealer.nextNonce();
  const header = writeTransform(nonce, lengthOf(plain.parts), session.id);
  const { text, tag } = yield* sealer.sealInSteps(nonce, aadOf(header), plain);
  writeTag(header, tag);
  return {
    parts: [header.subarray(0, TRANSFORM_BYTES), ...text],
    mayOverwrite: true,
    release: () => plain.release(),
  };
}
