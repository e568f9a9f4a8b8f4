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

/** Signs and checks the messages of one session. */
export class Signer {
  readonly #mac: (message: Bytes, by: SignedBy) => Bytes;

  constructor(algorithm: SigningAlgorithm, key: Bytes) {
    this.#mac = macOf(algorithm, key);
  }

  /** Puts the signature where it belongs. `message` is header and body with their padding. */
  sign(message: Bytes, by: SignedBy): void {
    NO_SIGNATURE.copy(message, SIGNATURE_AT);
    this.#mac(message, by).copy(message, SIGNATURE_AT, 0, SIGNATURE_BYTES);
  }

  /** The signature field of `message` is zero afterwards. */
  isSigned(message: Bytes, by: SignedBy): boolean {
    const found = Buffer.from(message.subarray(SIGNATURE_AT, SIGNATURE_AT + SIGNATURE_BYTES));
    NO_SIGNATURE.copy(message, SIGNATURE_AT);
    return timingSafeEqual(found, this.#mac(message, by).subarray(0, SIGNATURE_BYTES));
  }
}

function macOf(algorithm: SigningAlgorithm, key: Bytes): (message: Bytes, by: SignedBy) => Bytes {
  switch (algorithm) {
    case SIGNING.hmacSha256:
      return (message) => createHmac("sha256", key).update(message).digest();
    case SIGNING.aesCmac: {
      const cmac = new CmacKey(key);
      return (message) => cmac.mac(message);
    }
    case SIGNING.aesGmac:
      return (message, by) => gmac(key, gmacNonce(message, by), message);
  }
}

function gmac(key: Bytes, nonce: Bytes, message: Bytes): Bytes {
  const cipher = createCipheriv("aes-128-gcm", key, nonce).setAAD(message);
  cipher.final();
  return cipher.getAuthTag();
}

function gmacNonce(message: Bytes, { server, cancel }: SignedBy): Bytes {
  const nonce = Buffer.alloc(12);
  message.copy(nonce, 0, MESSAGE_ID_AT, MESSAGE_ID_AT + 8);
  nonce[8] = (server ? 1 : 0) | (cancel ? 2 : 0);
  return nonce;
}
