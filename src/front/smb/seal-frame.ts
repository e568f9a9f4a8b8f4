import { type Loan, lengthOf } from "../../base/borrowed-buffer.ts";
import { atOnce, type Steps } from "../../base/fair-queue.ts";
import { aadOf, TRANSFORM_BYTES, writeTag, writeTransform } from "./codec/transform.ts";
import type { Session } from "./session.ts";

/** A frame as it goes to the client of a session that is encrypted. */
export function sealFrame(session: Session, plain: Loan): Loan {
  return atOnce(sealFrameInSteps(session, plain));
}

export function* sealFrameInSteps(session: Session, plain: Loan): Steps<Loan> {
  const { sealer } = session;
  if (sealer === null) throw new Error("a session without a cipher got an encrypted frame");
  const nonce = sealer.nextNonce();
  const header = writeTransform(nonce, lengthOf(plain.parts), session.id);
  const { text, tag } = yield* sealer.sealInSteps(nonce, aadOf(header), plain);
  writeTag(header, tag);
  return {
    parts: [header.subarray(0, TRANSFORM_BYTES), ...text],
    isScratch: true,
    giveBack: () => plain.giveBack(),
  };
}
