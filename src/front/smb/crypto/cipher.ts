import {
  type Cipher,
  type CipherCCMTypes,
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  type Decipher,
  randomBytes,
} from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { freeMemory } from "../../../base/free-memory.ts";
import { KIB } from "../../../base/limits.ts";

/** As NEGOTIATE numbers them. */
export const CIPHER = { aes128Ccm: 1, aes128Gcm: 2, aes256Ccm: 3, aes256Gcm: 4 } as const;

export type CipherId = (typeof CIPHER)[keyof typeof CIPHER];

interface CipherKind {
  readonly keyBytes: 16 | 32;
  readonly nonceBytes: 11 | 12;
  readonly ccm: CipherCCMTypes | null;
  readonly gcm: CipherGCMTypes | null;
}

const KINDS: Readonly<Record<CipherId, CipherKind>> = {
  [CIPHER.aes128Ccm]: { keyBytes: 16, nonceBytes: 11, ccm: "aes-128-ccm", gcm: null },
  [CIPHER.aes128Gcm]: { keyBytes: 16, nonceBytes: 12, ccm: null, gcm: "aes-128-gcm" },
  [CIPHER.aes256Ccm]: { keyBytes: 32, nonceBytes: 11, ccm: "aes-256-ccm", gcm: null },
  [CIPHER.aes256Gcm]: { keyBytes: 32, nonceBytes: 12, ccm: null, gcm: "aes-256-gcm" },
};

export const TAG_BYTES = 16;
/** Steps of this size stay in the processor's cache. */
const STEP_BYTES = 128 * KIB;

export function isCipher(id: number): id is CipherId {
  return id in KINDS;
}

export function cipherKeyBytes(id: CipherId): 16 | 32 {
  return KINDS[id].keyBytes;
}

/** Encrypts what one side of a session sends. No nonce is ever used twice with its key. */
export class Sealer {
  readonly nonceBytes: number;
  readonly #kind: CipherKind;
  readonly #key: Bytes;
  readonly #salt: Bytes;
  #sealed = 0n;

  constructor(id: CipherId, key: Bytes) {
    this.#kind = KINDS[id];
    this.nonceBytes = this.#kind.nonceBytes;
    this.#key = key;
    this.#salt = randomBytes(this.nonceBytes - 8);
  }

  /** Counted, so that it cannot repeat. */
  nextNonce(): Bytes {
    const nonce = Buffer.alloc(this.nonceBytes);
    nonce.writeBigUInt64LE(this.#sealed++);
    this.#salt.copy(nonce, 8);
    return nonce;
  }

  /** The text may come to lie where `plain` was. */
  seal(nonce: Bytes, aad: Bytes, plain: Bytes): { readonly text: Bytes; readonly tag: Bytes } {
    const { ccm, gcm } = this.#kind;
    const cipher =
      gcm !== null
        ? createCipheriv(gcm, this.#key, nonce).setAAD(aad)
        : createCipheriv(ccm as CipherCCMTypes, this.#key, nonce, {
            authTagLength: TAG_BYTES,
          }).setAAD(aad, { plaintextLength: plain.length });
    const text = gcm !== null ? updateInPlace(cipher, plain) : cipher.update(plain);
    cipher.final();
    return { text, tag: cipher.getAuthTag() };
  }
}

/** Decrypts what the other side of a session sends. */
export class Opener {
  readonly #kind: CipherKind;
  readonly #key: Bytes;

  constructor(id: CipherId, key: Bytes) {
    this.#kind = KINDS[id];
    this.#key = key;
  }

  /**
   * Null if somebody else wrote or changed it. `nonce` may be longer than what is used of it. What
   * comes out may lie where `text` was.
   */
  open(nonce: Bytes, aad: Bytes, text: Bytes, tag: Bytes): Bytes | null {
    const { ccm, gcm, nonceBytes } = this.#kind;
    const used = nonce.subarray(0, nonceBytes);
    const options = { authTagLength: TAG_BYTES };
    const decipher =
      gcm !== null
        ? createDecipheriv(gcm, this.#key, used, options).setAuthTag(tag).setAAD(aad)
        : createDecipheriv(ccm as CipherCCMTypes, this.#key, used, options)
            .setAuthTag(tag)
            .setAAD(aad, { plaintextLength: text.length });
    try {
      const plain = gcm !== null ? updateInPlace(decipher, text) : decipher.update(text);
      decipher.final();
      return plain;
    } catch {
      return null;
    }
  }
}

/** Node makes a new buffer for what comes out: large ones are done in steps, and put in place. */
function updateInPlace(cipher: Pick<Cipher | Decipher, "update">, bytes: Bytes): Bytes {
  if (bytes.length <= STEP_BYTES) return cipher.update(bytes);
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    const step = cipher.update(bytes.subarray(at, at + STEP_BYTES));
    step.copy(bytes, at);
    freeMemory(step);
  }
  return bytes;
}
