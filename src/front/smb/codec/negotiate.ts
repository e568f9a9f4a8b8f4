import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { alignedTo, bodyOf, HEADER_BYTES, partOf, Writer } from "./wire.ts";

export const DIALECT = {
  smb202: 0x0202,
  smb210: 0x0210,
  /** The response to an SMB1 negotiation, which an SMB2 negotiation follows. */
  smb2Any: 0x02ff,
  smb300: 0x0300,
  smb302: 0x0302,
  smb311: 0x0311,
} as const;

/** Dialects as users write them. */
export const DIALECT_NAMES = {
  "2.0.2": DIALECT.smb202,
  "2.1": DIALECT.smb210,
  "3.0": DIALECT.smb300,
  "3.0.2": DIALECT.smb302,
  "3.1.1": DIALECT.smb311,
} as const;

export type Dialect = (typeof DIALECT)[keyof typeof DIALECT];

/** As users write it; null for none of their names. */
export function dialectName(dialect: Dialect): string | null {
  return Object.entries(DIALECT_NAMES).find(([, one]) => one === dialect)?.[0] ?? null;
}

export const CAPABILITY = {
  leasing: 0x02,
  largeMtu: 0x04,
  persistentHandles: 0x10,
  encryption: 0x40,
} as const;

export const SECURITY_MODE = { signingEnabled: 1, signingRequired: 2 } as const;

export interface NegotiateRequest {
  readonly dialects: readonly number[];
  readonly securityMode: number;
  readonly capabilities: number;
  readonly clientGuid: Bytes;
  /** For dialect 3.1.1; null if the client did not send them. */
  readonly hashes: readonly number[] | null;
  readonly ciphers: readonly number[] | null;
  readonly signings: readonly number[] | null;
}

export interface NegotiateAnswer {
  readonly dialect: Dialect;
  readonly securityMode: number;
  readonly capabilities: number;
  readonly serverGuid: Bytes;
  readonly transferBytesMax: number;
  readonly time: bigint;
  readonly token: Bytes;
  /** For dialect 3.1.1; null in others. */
  readonly contexts: NegotiatedContexts | null;
}

export interface NegotiatedContexts {
  readonly salt: Bytes;
  readonly cipher: number | null;
  readonly signing: number | null;
}

export const SHA_512 = 1;

const STRUCTURE_SIZE = 36;
const ANSWER_STRUCTURE_SIZE = 65;
const ANSWER_FIXED_BYTES = 64;
const CONTEXT = { preauth: 1, encryption: 2, signing: 8 };
const CONTEXT_HEAD_BYTES = 8;
const CONTEXTS_MAX = 32;

export function readNegotiate(message: Bytes): NegotiateRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  const count = body.readUInt16LE(2);
  const dialects = numbersIn(partOf(message, HEADER_BYTES + STRUCTURE_SIZE, count * 2));
  const contexts = dialects.includes(DIALECT.smb311) ? readContexts(message, body) : null;
  return {
    dialects,
    securityMode: body.readUInt16LE(4),
    capabilities: body.readUInt32LE(8),
    clientGuid: Buffer.from(body.subarray(12, 28)),
    hashes: listIn(contexts, CONTEXT.preauth, 4),
    ciphers: listIn(contexts, CONTEXT.encryption, 2),
    signings: listIn(contexts, CONTEXT.signing, 2),
  };
}

function readContexts(message: Bytes, body: Bytes): Map<number, Bytes> {
  const contexts = new Map<number, Bytes>();
  const count = body.readUInt16LE(32);
  let offset = body.readUInt32LE(28);
  if (count > CONTEXTS_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
  for (let index = 0; index < count; index++) {
    const head = partOf(message, offset, CONTEXT_HEAD_BYTES);
    const type = head.readUInt16LE(0);
    const length = head.readUInt16LE(2);
    // Each type may occur once; unknown types have no effect.
    if (contexts.has(type)) throw new StatusError(STATUS.INVALID_PARAMETER);
    contexts.set(type, partOf(message, offset + CONTEXT_HEAD_BYTES, length));
    offset = alignedTo(offset + CONTEXT_HEAD_BYTES + length, 8);
  }
  return contexts;
}

/** Reads the numbers of a context: a count first, then at `at` the numbers, at least one. */
function listIn(contexts: Map<number, Bytes> | null, type: number, at: number): number[] | null {
  const found = contexts?.get(type);
  if (found === undefined) return null;
  const count = found.length < at ? 0 : found.readUInt16LE(0);
  if (count === 0 || found.length < at + count * 2) throw new StatusError(STATUS.INVALID_PARAMETER);
  return numbersIn(found.subarray(at, at + count * 2));
}

function numbersIn(bytes: Bytes): number[] {
  return Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16LE(index * 2));
}

export function writeNegotiate(answer: NegotiateAnswer): Bytes {
  const { token, contexts } = answer;
  const tokenAt = HEADER_BYTES + ANSWER_FIXED_BYTES;
  const writer = new Writer()
    .u16(ANSWER_STRUCTURE_SIZE)
    .u16(answer.securityMode)
    .u16(answer.dialect)
    .u16(contexts === null ? 0 : contextCount(contexts))
    .bytes(answer.serverGuid)
    .u32(answer.capabilities)
    .u32(answer.transferBytesMax)
    .u32(answer.transferBytesMax)
    .u32(answer.transferBytesMax)
    .u64(answer.time)
    .u64(0)
    .u16(tokenAt)
    .u16(token.length)
    .u32(contexts === null ? 0 : alignedTo(tokenAt + token.length, 8))
    .bytes(token);
  if (contexts !== null) writeContexts(writer, contexts);
  return writer.done();
}

function contextCount({ cipher, signing }: NegotiatedContexts): number {
  return 1 + (cipher === null ? 0 : 1) + (signing === null ? 0 : 1);
}

function writeContexts(writer: Writer, { salt, cipher, signing }: NegotiatedContexts): void {
  const preauth = new Writer().u16(1).u16(salt.length).u16(SHA_512).bytes(salt).done();
  writeContext(writer, CONTEXT.preauth, preauth);
  for (const [type, chosen] of [
    [CONTEXT.encryption, cipher],
    [CONTEXT.signing, signing],
  ] as const) {
    if (chosen !== null) writeContext(writer, type, new Writer().u16(1).u16(chosen).done());
  }
}

function writeContext(writer: Writer, type: number, data: Bytes): void {
  writer.align(8).u16(type).u16(data.length).u32(0).bytes(data);
}

const SMB1_PROTOCOL_ID = 0x424d53ff;
const SMB1_NEGOTIATE = 0x72;
const SMB1_HEADER_BYTES = 32;
const SMB1_DIALECT = 0x02;

/** Reads the dialects of an SMB1 negotiation; null if the frame is none. */
export function readSmb1Negotiate(frame: Bytes): string[] | null {
  if (frame.length < SMB1_HEADER_BYTES + 3) return null;
  if (frame.readUInt32LE(0) !== SMB1_PROTOCOL_ID || frame[4] !== SMB1_NEGOTIATE) return null;
  const words = frame[SMB1_HEADER_BYTES] as number;
  if (words !== 0) return null;
  const length = frame.readUInt16LE(SMB1_HEADER_BYTES + 1);
  const bytes = frame.subarray(SMB1_HEADER_BYTES + 3, SMB1_HEADER_BYTES + 3 + length);
  return bytes
    .toString("latin1")
    .split("\0")
    .filter((text) => text.charCodeAt(0) === SMB1_DIALECT)
    .map((text) => text.slice(1));
}
