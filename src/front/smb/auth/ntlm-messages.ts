import type { Bytes } from "../../../base/bytes.ts";

/** The flags of NTLM that matter here. */
export const NTLM_FLAG = {
  unicode: 0x00000001,
  requestTarget: 0x00000004,
  sign: 0x00000010,
  seal: 0x00000020,
  ntlm: 0x00000200,
  anonymous: 0x00000800,
  alwaysSign: 0x00008000,
  targetIsServer: 0x00020000,
  extendedSecurity: 0x00080000,
  targetInfo: 0x00800000,
  version: 0x02000000,
  bits128: 0x20000000,
  keyExchange: 0x40000000,
  bits56: 0x80000000,
} as const;

/** Pairs of a value and what it is, in target info and in the client's answer. */
const PAIR = {
  end: 0,
  netbiosComputer: 1,
  netbiosDomain: 2,
  dnsComputer: 3,
  dnsDomain: 4,
  flags: 6,
  timestamp: 7,
} as const;

/** In the pair `flags`: the message carries a code over the whole exchange. */
const PAIR_FLAG_MIC = 2;

const SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const TYPE = { negotiate: 1, challenge: 2, authenticate: 3 } as const;
const VERSION = Buffer.from([6, 1, 0xb0, 0x1d, 0, 0, 0, 15]);
const CHALLENGE_HEAD_BYTES = 56;
const AUTHENTICATE_HEAD_BYTES = 64;
const MIC_AT = 72;
const MIC_BYTES = 16;
const PROOF_BYTES = 16;
/** What precedes the pairs in an NTLMv2 answer. */
const ANSWER_HEAD_BYTES = 28;

/** The client may not come in, for one reason or another. */
export class NtlmError extends Error {}

/** The message is not what NTLM prescribes. */
export class NtlmFormatError extends Error {}

export interface Authenticate {
  readonly flags: number;
  readonly user: string;
  readonly domain: string;
  /** What the client proves the password with. */
  readonly proof: Bytes;
  /** What it proved it over, besides the challenge. */
  readonly answer: Bytes;
  readonly encryptedKey: Bytes;
  /** Null if the client's answer, which is proved, does not promise one. */
  readonly mic: Bytes | null;
  /** The message as it was when the code was made. */
  readonly withoutMic: Bytes;
}

export function readNegotiateFlags(message: Bytes): number {
  expectType(message, TYPE.negotiate, 16);
  return message.readUInt32LE(12);
}

export interface Challenge {
  readonly flags: number;
  readonly serverName: string;
  readonly challenge: Bytes;
  /** Windows file time. */
  readonly time: bigint;
}

export function writeChallenge({ flags, serverName, challenge, time }: Challenge): Bytes {
  const target = Buffer.from(serverName, "utf16le");
  const info = targetInfo(serverName, time);
  const message = Buffer.alloc(CHALLENGE_HEAD_BYTES + target.length + info.length);
  SIGNATURE.copy(message);
  message.writeUInt32LE(TYPE.challenge, 8);
  writeField(message, 12, target.length, CHALLENGE_HEAD_BYTES);
  message.writeUInt32LE(flags >>> 0, 20);
  challenge.copy(message, 24);
  writeField(message, 40, info.length, CHALLENGE_HEAD_BYTES + target.length);
  VERSION.copy(message, 48);
  target.copy(message, CHALLENGE_HEAD_BYTES);
  info.copy(message, CHALLENGE_HEAD_BYTES + target.length);
  return message;
}

function targetInfo(serverName: string, time: bigint): Bytes {
  const name = Buffer.from(serverName, "utf16le");
  const dnsName = Buffer.from(serverName.toLowerCase(), "utf16le");
  const timestamp = Buffer.alloc(8);
  timestamp.writeBigUInt64LE(time);
  return Buffer.concat([
    pair(PAIR.netbiosDomain, name),
    pair(PAIR.netbiosComputer, name),
    pair(PAIR.dnsDomain, dnsName),
    pair(PAIR.dnsComputer, dnsName),
    pair(PAIR.timestamp, timestamp),
    pair(PAIR.end, Buffer.alloc(0)),
  ]);
}

function pair(id: number, value: Bytes): Bytes {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(value.length, 2);
  return Buffer.concat([head, value]);
}

function writeField(message: Bytes, at: number, length: number, offset: number): void {
  message.writeUInt16LE(length, at);
  message.writeUInt16LE(length, at + 2);
  message.writeUInt32LE(offset, at + 4);
}

/** Throws an `NtlmError`, also for the answers of older versions: they prove too little. */
export function readAuthenticate(message: Bytes): Authenticate {
  expectType(message, TYPE.authenticate, AUTHENTICATE_HEAD_BYTES);
  const flags = message.readUInt32LE(60);
  if ((flags & NTLM_FLAG.unicode) === 0) throw new NtlmError("names must be in Unicode");
  const response = readField(message, 20);
  const user = readField(message, 36).toString("utf16le");
  if (response.length === 0 && user === "") throw new NtlmError("nobody in particular asks");
  if (response.length < PROOF_BYTES + ANSWER_HEAD_BYTES) throw new NtlmError("not NTLMv2");
  const answer = response.subarray(PROOF_BYTES);
  const hasMic = (flagsInPairs(answer.subarray(ANSWER_HEAD_BYTES)) & PAIR_FLAG_MIC) !== 0;
  if (hasMic && message.length < MIC_AT + MIC_BYTES)
    throw new NtlmFormatError("the code is missing");
  const withoutMic = Buffer.from(message);
  if (hasMic) withoutMic.fill(0, MIC_AT, MIC_AT + MIC_BYTES);
  return {
    flags,
    user,
    domain: readField(message, 28).toString("utf16le"),
    proof: response.subarray(0, PROOF_BYTES),
    answer,
    encryptedKey: readField(message, 52),
    mic: hasMic ? message.subarray(MIC_AT, MIC_AT + MIC_BYTES) : null,
    withoutMic,
  };
}

export function isAnonymous(message: Bytes): boolean {
  expectType(message, TYPE.authenticate, AUTHENTICATE_HEAD_BYTES);
  return readField(message, 20).length === 0 && readField(message, 36).length === 0;
}

function flagsInPairs(pairs: Bytes): number {
  for (let at = 0; at + 4 <= pairs.length; ) {
    const id = pairs.readUInt16LE(at);
    const length = pairs.readUInt16LE(at + 2);
    if (id === PAIR.end) return 0;
    if (at + 4 + length > pairs.length) throw new NtlmFormatError("a pair is cut short");
    if (id === PAIR.flags && length === 4) return pairs.readUInt32LE(at + 4);
    at += 4 + length;
  }
  return 0;
}

function readField(message: Bytes, at: number): Bytes {
  const length = message.readUInt16LE(at);
  const offset = message.readUInt32LE(at + 4);
  if (offset + length > message.length)
    throw new NtlmFormatError("a field lies outside the message");
  return message.subarray(offset, offset + length);
}

function expectType(message: Bytes, type: number, bytesMin: number): void {
  const isNtlm = message.length >= bytesMin && message.subarray(0, 8).equals(SIGNATURE);
  if (!isNtlm || message.readUInt32LE(8) !== type)
    throw new NtlmFormatError("not the message expected");
}
