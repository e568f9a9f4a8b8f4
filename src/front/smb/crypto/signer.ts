import { createCipheriv, createHmac, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { atOnce, type Steps } from "../../../base/fair-queue.ts";
import { KIB } from "../../../base/limits.ts";
import { CmacKey } from "./cmac.ts";

/** The numbers of the signing algorithms in NEGOTIATE. */
export const SIGNING = { hmacSha256: 0, aesCmac: 1, aesGmac: 2 } as const;

export type SigningAlgorithm = (typeof SIGNING)[keyof typeof SIGNING];

/** The sender and kind of a message, from which AES-GMAC makes its nonce. */
export interface SignedBy {
  readonly server: boolean;
  readonly cancel: boolean;
}

export const SIGNATURE_AT = 48;
export const SIGNATURE_BYTES = 16;
const MESSAGE_ID_AT = 24;
/** The slowest algorithm takes 0.2 ms for this. */
const STEP_BYTES = 128 * KIB;
const NO_SIGNATURE = Buffer.alloc(SIGNATURE_BYTES);

/** A message authentication code over all parts of a message. */
interface Mac {
  update(part: Bytes): unknown;
  digest(): Bytes;
}

/** Signs and checks the messages of one session. */
export class Signer {
  /** Begins a code with the start of a message, at least its header. */
  readonly #begin: (start: Bytes, by: SignedBy) => Mac;

  constructor(algorithm: SigningAlgorithm, key: Bytes) {
    this.#begin = macOf(algorithm, key);
  }

  /** Writes the signature into `message`, which is header, body and padding. */
  sign(message: Bytes, by: SignedBy): void {
    atOnce(this.signInSteps(message, [], by));
  }

  /** Signs in steps a message that continues with `rest`. */
  *signInSteps(start: Bytes, rest: readonly Bytes[], by: SignedBy): Steps<void> {
    NO_SIGNATURE.copy(start, SIGNATURE_AT);
    const mac = this.#begin(start, by);
    yield* updateInSteps(mac, start);
    for (const part of rest) {
      yield;
      yield* updateInSteps(mac, part);
    }
    mac.digest().copy(start, SIGNATURE_AT, 0, SIGNATURE_BYTES);
  }

  /** Checks a signature. The signature field of `message` is zero afterwards. */
  isSigned(message: Bytes, by: SignedBy): boolean {
    return this.check(message, by).isRight();
  }

  /** Checks all of a message in steps. The signature field is zero afterwards. */
  *checkInSteps(message: Bytes, by: SignedBy): Steps<SignatureCheck> {
    const check = this.check(message.subarray(0, STEP_BYTES), by);
    yield;
    yield* updateInSteps(check, message.subarray(STEP_BYTES));
    return check;
  }

  /** Begins to check a message that arrives in parts. The signature field is zero afterwards. */
  check(start: Bytes, by: SignedBy): SignatureCheck {
    const found = Buffer.from(start.subarray(SIGNATURE_AT, SIGNATURE_AT + SIGNATURE_BYTES));
    NO_SIGNATURE.copy(start, SIGNATURE_AT);
    const check = new SignatureCheck(this.#begin(start, by), found);
    check.update(start);
    return check;
  }
}

export class SignatureCheck {
  readonly #mac: Mac;
  readonly #found: Bytes;

  constructor(mac: Mac, found: Bytes) {
    this.#mac = mac;
    this.#found = found;
  }

  update(part: Bytes): void {
    this.#mac.update(part);
  }

  /** Call it once, when all of the message has arrived. */
  isRight(): boolean {
    return timingSafeEqual(this.#found, this.#mac.digest().subarray(0, SIGNATURE_BYTES));
  }
}

function* updateInSteps(mac: Pick<Mac, "update">, bytes: Bytes): Steps<void> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) yield;
    mac.update(bytes.subarray(at, at + STEP_BYTES));
  }
}

function macOf(algorithm: SigningAlgorithm, key: Bytes): (start: Bytes, by: SignedBy) => Mac {
  switch (algorithm) {
    case SIGNING.hmacSha256:
      return () => createHmac("sha256", key);
    case SIGNING.aesCmac: {
      const cmac = new CmacKey(key);
      return () => cmac.begin();
    }
    case SIGNING.aesGmac:
      return (start, by) => gmac(key, gmacNonce(start, by));
  }
}

/** AES-GCM with the message as additional data, and nothing to encrypt. */
function gmac(key: Bytes, nonce: Bytes): Mac {
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  return {
    update: (part) => cipher.setAAD(part),
    digest() {
      cipher.final();
      return cipher.getAuthTag();
    },
  };
}

function gmacNonce(message: Bytes, { server, cancel }: SignedBy): Bytes {
  const nonce = Buffer.alloc(12);
  message.copy(nonce, 0, MESSAGE_ID_AT, MESSAGE_ID_AT + 8);
  nonce[8] = (server ? 1 : 0) | (cancel ? 2 : 0);
  return nonce;
}
