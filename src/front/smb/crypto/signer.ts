import { createCipheriv, createHmac, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { CmacKey } from "./cmac.ts";

/** As NEGOTIATE numbers them. */
export const SIGNING = { hmacSha256: 0, aesCmac: 1, aesGmac: 2 } as const;

export type SigningAlgorithm = (typeof SIGNING)[keyof typeof SIGNING];

/** Who sends a message and what it is: AES-GMAC makes its nonce of that. */
export interface SignedBy {
  readonly server: boolean;
  readonly cancel: boolean;
}

export const SIGNATURE_AT = 48;
export const SIGNATURE_BYTES = 16;
const MESSAGE_ID_AT = 24;
const NO_SIGNATURE = Buffer.alloc(SIGNATURE_BYTES);

/** A code over all parts of a message. */
interface Mac {
  update(part: Bytes): unknown;
  digest(): Bytes;
}

/** Signs and checks the messages of one session. */
export class Signer {
  /** Begins with the start of a message, at least its header. */
  readonly #begin: (start: Bytes, by: SignedBy) => Mac;

  constructor(algorithm: SigningAlgorithm, key: Bytes) {
    this.#begin = macOf(algorithm, key);
  }

  /** Puts the signature where it belongs. `message` is header and body with their padding. */
  sign(message: Bytes, by: SignedBy): void {
    NO_SIGNATURE.copy(message, SIGNATURE_AT);
    const mac = this.#begin(message, by);
    mac.update(message);
    mac.digest().copy(message, SIGNATURE_AT, 0, SIGNATURE_BYTES);
  }

  /** The signature field of `message` is zero afterwards. */
  isSigned(message: Bytes, by: SignedBy): boolean {
    return this.check(message, by).isRight();
  }

  /** For a message of which the rest comes bit by bit. The signature field is zero afterwards. */
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

  /** Asked once, when all of the message has come. */
  isRight(): boolean {
    return timingSafeEqual(this.#found, this.#mac.digest().subarray(0, SIGNATURE_BYTES));
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

/** AES-GCM of a message of which nothing is encrypted. */
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
