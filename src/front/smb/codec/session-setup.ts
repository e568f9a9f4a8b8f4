import type { Bytes } from "../../../base/bytes.ts";
import { bodyOf, HEADER_BYTES, partOf, readU64, Writer } from "./wire.ts";

export interface SessionSetupRequest {
  readonly binding: boolean;
  readonly signingRequired: boolean;
  readonly token: Bytes;
  /** The session of the client before it lost its connection; 0 if none. */
  readonly previousSessionId: number;
}

const STRUCTURE_SIZE = 25;
const FLAG_BINDING = 1;
const MODE_SIGNING_REQUIRED = 2;
const ANSWER_FIXED_BYTES = 8;
const FLAG_ENCRYPT = 4;

export function readSessionSetup(message: Bytes): SessionSetupRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    binding: (body.readUInt8(2) & FLAG_BINDING) !== 0,
    signingRequired: (body.readUInt8(3) & MODE_SIGNING_REQUIRED) !== 0,
    token: partOf(message, body.readUInt16LE(12), body.readUInt16LE(14)),
    previousSessionId: readU64(body, 16),
  };
}

export function writeSessionSetup(encrypted: boolean, token: Bytes): Bytes {
  return new Writer()
    .u16(9)
    .u16(encrypted ? FLAG_ENCRYPT : 0)
    .u16(HEADER_BYTES + ANSWER_FIXED_BYTES)
    .u16(token.length)
    .bytes(token)
    .done();
}
