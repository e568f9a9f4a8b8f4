import {
  type Cipher,
  type CipherCCMTypes,
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  type Decipher,
  randomBytes,
} from "node:crypto";
import {
  type BorrowedBuffer,
  copyAndRelease,
  copyParts,
  unowned,
} from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { atOnce, type Steps } from "../../../base/fair-queue.ts";
import { KIB } from "../../../base/limits.ts";
import { freeMemory } from "../../../machine/free-memory.ts";

/** The numbers of the ciphers in NEGOTIATE. */
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
/** Steps of this size stay in the CPU's cache, and take less than 0.1 ms. */
const STEP_BYTES = 128 * KIB;
/** The size of new buffers for text that is not encrypted in place. */
const NEW_TEXT_BYTES = 512 * KIB;
/** Shorter texts go to new memory, which is cheaper than a copy. */
const IN_PLACE_BYTES_MIN = 32 * KIB;

export function isCipher(id: number): id is CipherId {
  return id in KINDS;
}

/** CCM needs the whole text in one call. */
export function isCcm(id: CipherId): boolean {
  return KINDS[id].ccm !== null;
}

export function cipherKeyBytes(id: CipherId): 16 | 32 {
  return KINDS[id].keyBytes;
}

interface Sealed {
  readonly text: readonly Bytes[];
  readonly tag: Bytes;
}

/** Encrypts the frames of one side of a session. Never uses a nonce twice with its key. */
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

  /** A counter, so that no nonce repeats. */
  nextNonce(): Bytes {
    const nonce = Buffer.alloc(this.nonceBytes);
    nonce.writeBigUInt64LE(this.#sealed++);
    this.#salt.copy(nonce, 8);
    return nonce;
  }

  /** Encrypts in place if the buffer may be overwritten. */
  seal(nonce: Bytes, aad: Bytes, plain: BorrowedBuffer): Sealed {
    return atOnce(this.sealInSteps(nonce, aad, plain));
  }

  *sealInSteps(nonce: Bytes, aad: Bytes, { parts, mayOverwrite }: BorrowedBuffer): Steps<Sealed> {
    const { ccm, gcm } = this.#kind;
    if (gcm === null) return this.#sealWhole(ccm as CipherCCMTypes, nonce, aad, whole(parts));
    const cipher = createCipheriv(gcm, this.#key, nonce).setAAD(aad);
    const text: Bytes[] = [];
    for (const part of parts) {
      if (mayOverwrite && part.length >= IN_PLACE_BYTES_MIN) {
        text.push(yield* updateInPlace(cipher, part));
        continue;
      }
      for (let at = 0; at < part.length; at += NEW_TEXT_BYTES) {
        if (at > 0) yield;
        text.push(cipher.update(part.subarray(at, at + NEW_TEXT_BYTES)));
      }
    }
    cipher.final();
    return { text, tag: cipher.getAuthTag() };
  }

  #sealWhole(kind: CipherCCMTypes, nonce: Bytes, aad: Bytes, plain: Bytes): Sealed {
    const cipher = createCipheriv(kind, this.#key, nonce, { authTagLength: TAG_BYTES });
    const text = cipher.setAAD(aad, { plaintextLength: plain.length }).update(plain);
    cipher.final();
    return { text: [text], tag: cipher.getAuthTag() };
  }
}

/** Decrypts the frames of the other side of a session. */
export class Opener {
  readonly #kind: CipherKind;
  readonly #key: Bytes;

  constructor(id: CipherId, key: Bytes) {
    this.#kind = KINDS[id];
    this.#key = key;
  }

  /**
   * Decrypts a text, possibly in place; null if it is not genuine. `nonce` may be longer than
   * needed.
   */
  open(nonce: Bytes, aad: Bytes, text: Bytes, tag: Bytes): Bytes | null {
    return atOnce(this.openInSteps(nonce, aad, text, tag));
  }

  *openInSteps(nonce: Bytes, aad: Bytes, text: Bytes, tag: Bytes): Steps<Bytes | null> {
    const opening = this.begin(nonce, aad, tag);
    if (opening === null) return this.#openWhole(nonce, aad, text, tag);
    const isInPlace = text.length >= IN_PLACE_BYTES_MIN;
    const plain = isInPlace ? yield* updateInPlace(opening, text) : opening.update(text);
    return opening.isGenuine() ? plain : null;
  }

  /** Begins to decrypt a text that arrives in parts. Null for CCM, which needs the whole text. */
  begin(nonce: Bytes, aad: Bytes, tag: Bytes): Opening | null {
    const { gcm, nonceBytes } = this.#kind;
    if (gcm === null) return null;
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(gcm, this.#key, nonce.subarray(0, nonceBytes), options);
    return new Opening(decipher.setAuthTag(tag).setAAD(aad));
  }

  #openWhole(nonce: Bytes, aad: Bytes, text: Bytes, tag: Bytes): Bytes | null {
    const { ccm, nonceBytes } = this.#kind;
    const used = nonce.subarray(0, nonceBytes);
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(ccm as CipherCCMTypes, this.#key, used, options)
      .setAuthTag(tag)
      .setAAD(aad, { plaintextLength: text.length });
    try {
      const plain = decipher.update(text);
      decipher.final();
      return plain;
    } catch {
      return null;
    }
  }
}

/** A text that is being decrypted. It must not be trusted before `isGenuine`. */
export class Opening {
  readonly #decipher: Decipher;

  constructor(decipher: Decipher) {
    this.#decipher = decipher;
  }

  update(text: Bytes): Bytes {
    return this.#decipher.update(text);
  }

  /** Whether the text is genuine. Call it once, when all of it has arrived. */
  isGenuine(): boolean {
    try {
      this.#decipher.final();
      return true;
    } catch {
      return false;
    }
  }
}

/** Encrypts or decrypts in place, in steps, because each call allocates a buffer for its output. */
function* updateInPlace(cipher: Cipher | Opening, bytes: Bytes): Steps<Bytes> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    if (at > 0) yield;
    const step = cipher.update(bytes.subarray(at, at + STEP_BYTES));
    copyParts([step], bytes.subarray(at));
    freeMemory(step);
  }
  return bytes;
}

function whole(parts: readonly Bytes[]): Bytes {
  return parts.length === 1 ? (parts[0] as Bytes) : copyAndRelease(unowned(parts));
}
