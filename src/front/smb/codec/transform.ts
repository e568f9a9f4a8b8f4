import type { Bytes } from "../../../base/bytes.ts";
import { TAG_BYTES } from "../crypto/cipher.ts";
import { readU64, writeU64 } from "./wire.ts";

/** The header of an encrypted frame. */
export interface Transform {
  readonly tag: Bytes;
  readonly nonce: Bytes;
  readonly sessionId: number;
  /** Additional data, covered by the tag but not encrypted. */
  readonly aad: Bytes;
  readonly text: Bytes;
}

export const TRANSFORM_BYTES = 52;
const PROTOCOL_ID = 0x424d53fd;
const AT = { tag: 4, nonce: 20, size: 36, flags: 42, sessionId: 44 };
const NONCE_BYTES = 16;
const ENCRYPTED = 1;

export function isTransform(frame: Bytes): boolean {
  return frame.length >= 4 && frame.readUInt32LE(0) === PROTOCOL_ID;
}

/** Reads the header from a frame or its start; null if it is wrong. */
export function readTransform(frame: Bytes, frameBytes = frame.length): Transform | null {
  if (frame.length < TRANSFORM_BYTES) return null;
  if (frame.readUInt32LE(AT.size) !== frameBytes - TRANSFORM_BYTES) return null;
  if (frame.readUInt16LE(AT.flags) !== ENCRYPTED) return null;
  return {
    tag: frame.subarray(AT.tag, AT.tag + TAG_BYTES),
    nonce: frame.subarray(AT.nonce, AT.nonce + NONCE_BYTES),
    sessionId: readU64(frame, AT.sessionId),
    aad: frame.subarray(AT.nonce, TRANSFORM_BYTES),
    text: frame.subarray(TRANSFORM_BYTES),
  };
}

/** Writes the header without its tag, which is computed last. */
export function writeTransform(nonce: Bytes, plainBytes: number, sessionId: number): Bytes {
  const header = Buffer.alloc(TRANSFORM_BYTES);
  header.writeUInt32LE(PROTOCOL_ID, 0);
  nonce.copy(header, AT.nonce);
  header.writeUInt32LE(plainBytes, AT.size);
  header.writeUInt16LE(ENCRYPTED, AT.flags);
  writeU64(header, AT.sessionId, sessionId);
  return header;
}

export function aadOf(header: Bytes): Bytes {
  return header.subarray(AT.nonce, TRANSFORM_BYTES);
}

export function writeTag(header: Bytes, tag: Bytes): void {
  tag.copy(header, AT.tag);
}
