import type { Bytes } from "../../../base/bytes.ts";

/** The NTLM flags used here. */
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

/** Ids of the pairs (AV_PAIR) in the target info and in the client's response. */
const PAIR = {
  end: 0,
  netbiosComputer: 1,
  netbiosDomain: 2,
  dnsComputer: 3,
  dnsDomain: 4,
  flags: 6,
  timestamp: 7,
} as const;

/** In the pair `flags`: the message carries a message integrity code (MIC). */
const PAIR_FLAG_MIC = 2;
/** Fields of AUTHENTICATE, by the position of their descriptor in its header. */
const FIELD = { lmResponse: 12, response: 20, domain: 28, user: 36, workstation: 44, key: 52 };
/** The version of an NTLMv2 response, and the highest that the client understands. */
const ANSWER_VERSION = 1;

const SIGNATURE = Buffer.from("NTLMSSP\0", "latin1");
const TYPE = { negotiate: 1, challenge: 2, authenticate: 3 } as const;
const VERSION = Buffer.from([6, 1, 0xb0, 0x1d, 0, 0, 0, 15]);
const CHALLENGE_HEAD_BYTES = 56;
const AUTHENTICATE_HEAD_BYTES = 64;
const MIC_AT = 72;
const MIC_BYTES = 16;
const PROOF_BYTES = 16;
/** The bytes before the pairs in an NTLMv2 response. */
const ANSWER_HEAD_BYTES = 28;

/** Thrown if the client is refused. */
export class NtlmError extends Error {}

/** Thrown if a message is malformed. */
export class NtlmFormatError extends Error {}

export interface Authenticate {
  readonly flags: number;
  readonly user: string;
  readonly domain: string;
  /** The client's proof that it knows the password. */
  readonly proof: Bytes;
  /** The bytes that the proof covers, besides the challenge. */
  readonly answer: Bytes;
  /** The pairs in `answer`, by their ids. */
  readonly pairs: Pairs;
  readonly encryptedKey: Bytes;
  /** Null if `answer`, which the proof covers, does not promise a MIC. */
  readonly mic: Bytes | null;
  /** The message with a zero MIC, over which the MIC is computed. */
  readonly withoutMic: Bytes;
}

export type Pairs = ReadonlyMap<number, Bytes>;

export function readNegotiateFlags(message: Bytes): number {
  expectType(message, TYPE.negotiate, 16);
  return message.readUInt32LE(12);
}

export interface Challenge {
  readonly flags: number;
  readonly serverName: string;
  readonly challenge: Bytes;
  readonly targetInfo: Bytes;
}

export function writeChallenge(parts: Challenge): Bytes {
  const { flags, serverName, challenge, targetInfo: info } = parts;
  const target = Buffer.from(serverName, "utf16le");
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

/** The target info of CHALLENGE. `time` is a Windows file time. */
export function writeTargetInfo(serverName: string, time: bigint): Bytes {
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

/** Throws an `NtlmError`, also for responses of older versions, which prove too little. */
export function readAuthenticate(message: Bytes): Authenticate {
  const flags = readFlags(message);
  if ((flags & NTLM_FLAG.unicode) === 0) throw new NtlmError("names are not in Unicode");
  const response = readField(message, FIELD.response);
  if (response.length < PROOF_BYTES + ANSWER_HEAD_BYTES) throw new NtlmError("not NTLMv2");
  const answer = response.subarray(PROOF_BYTES);
  if (answer[0] !== ANSWER_VERSION || answer[1] !== ANSWER_VERSION) {
    throw new NtlmError("not NTLMv2");
  }
  const pairs = readPairs(answer.subarray(ANSWER_HEAD_BYTES));
  const mic = promisesMic(pairs) ? readMic(message) : null;
  const withoutMic = Buffer.from(message);
  if (mic !== null) withoutMic.fill(0, MIC_AT, MIC_AT + MIC_BYTES);
  return {
    flags,
    user: readField(message, FIELD.user).toString("utf16le"),
    domain: readField(message, FIELD.domain).toString("utf16le"),
    proof: response.subarray(0, PROOF_BYTES),
    answer,
    pairs,
    encryptedKey: readField(message, FIELD.key),
    mic,
    withoutMic,
  };
}

/** The user name that the client claims. */
export function readUser(message: Bytes): string {
  const isUnicode = (readFlags(message) & NTLM_FLAG.unicode) !== 0;
  return readField(message, FIELD.user).toString(isUnicode ? "utf16le" : "latin1");
}

export function isAnonymous(message: Bytes): boolean {
  if ((readFlags(message) & NTLM_FLAG.anonymous) !== 0) return true;
  const [response, user] = [FIELD.response, FIELD.user].map((at) => readField(message, at));
  return response?.length === 0 && user?.length === 0;
}

function readFlags(message: Bytes): number {
  expectType(message, TYPE.authenticate, AUTHENTICATE_HEAD_BYTES);
  return message.readUInt32LE(60);
}

/**
 * Reads pairs up to the end mark. Each id may occur once: a client repeats a pair that a man in the
 * middle adds to CHALLENGE, and a second `flags` could take back what the first promises.
 */
export function readPairs(bytes: Bytes): Pairs {
  const pairs = new Map<number, Bytes>();
  for (let at = 0; at + 4 <= bytes.length; ) {
    const id = bytes.readUInt16LE(at);
    const length = bytes.readUInt16LE(at + 2);
    if (id === PAIR.end) break;
    if (at + 4 + length > bytes.length) throw new NtlmFormatError("a pair is cut short");
    if (pairs.has(id)) throw new NtlmError("a pair is given twice");
    pairs.set(id, bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return pairs;
}

function promisesMic(pairs: Pairs): boolean {
  const flags = pairs.get(PAIR.flags);
  if (flags === undefined) return false;
  if (flags.length !== 4) throw new NtlmFormatError("the flags have the wrong length");
  return (flags.readUInt32LE(0) & PAIR_FLAG_MIC) !== 0;
}

/** Reads the MIC, which is before all fields. If they begin earlier, it is missing. */
function readMic(message: Bytes): Bytes {
  const end = MIC_AT + MIC_BYTES;
  const isOverlaid = Object.values(FIELD).some(
    (at) => message.readUInt16LE(at) > 0 && message.readUInt32LE(at + 4) < end,
  );
  if (isOverlaid || message.length < end) throw new NtlmError("the promised MIC is missing");
  return message.subarray(MIC_AT, end);
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
