import type { Bytes } from "../../../base/bytes.ts";
import { HEADER_BYTES, readU64, writeU64 } from "./wire.ts";

export const COMMAND = {
  negotiate: 0,
  sessionSetup: 1,
  logoff: 2,
  treeConnect: 3,
  treeDisconnect: 4,
  create: 5,
  close: 6,
  flush: 7,
  read: 8,
  write: 9,
  lock: 10,
  ioctl: 11,
  cancel: 12,
  echo: 13,
  queryDirectory: 14,
  changeNotify: 15,
  queryInfo: 16,
  setInfo: 17,
  oplockBreak: 18,
} as const;

export const FLAG = {
  response: 0x00000001,
  async: 0x00000002,
  related: 0x00000004,
  signed: 0x00000008,
  /** The request is a repetition, because its response was lost. */
  replay: 0x20000000,
} as const;

export interface RequestHeader {
  readonly creditCharge: number;
  /** Raised by a client that lost a connection: requests with a lower one are outdated. */
  readonly channelSequence: number;
  readonly command: number;
  readonly creditsAsked: number;
  readonly flags: number;
  /** The offset of the next message of the compound; 0 in the last. */
  readonly next: number;
  readonly messageId: number;
  /** For CANCEL, if the flag `async` is set; it shares its place with the tree id. */
  readonly asyncId: number;
  readonly treeId: number;
  readonly sessionId: number;
}

const PROTOCOL_ID = 0x424d53fe;
const AT = {
  structureSize: 4,
  creditCharge: 6,
  status: 8,
  command: 12,
  credits: 14,
  flags: 16,
  next: 20,
  messageId: 24,
  asyncId: 32,
  treeId: 36,
  sessionId: 40,
  signature: 48,
};

/** Reads a request header; null if `bytes` does not begin with one. */
export function readHeader(bytes: Bytes): RequestHeader | null {
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== PROTOCOL_ID) return null;
  if (bytes.readUInt16LE(AT.structureSize) !== HEADER_BYTES) return null;
  return {
    creditCharge: bytes.readUInt16LE(AT.creditCharge),
    channelSequence: bytes.readUInt16LE(AT.status),
    command: bytes.readUInt16LE(AT.command),
    creditsAsked: bytes.readUInt16LE(AT.credits),
    flags: bytes.readUInt32LE(AT.flags),
    next: bytes.readUInt32LE(AT.next),
    messageId: readU64(bytes, AT.messageId),
    asyncId: readU64(bytes, AT.asyncId),
    treeId: bytes.readUInt32LE(AT.treeId),
    sessionId: readU64(bytes, AT.sessionId),
  };
}

export interface AnswerHeader {
  readonly status: number;
  readonly credits: number;
  /** Null repeats that of the request. */
  readonly sessionId: number | null;
  readonly treeId: number;
  /** Set in the interim and the final response to a long request. */
  readonly asyncId: number | null;
  readonly signed: boolean;
}

/** Writes the header of a response, with the fields it shares copied from `request`. */
export function writeAnswerHeader(target: Bytes, request: Bytes, answer: AnswerHeader): void {
  request.copy(target, 0, 0, HEADER_BYTES);
  for (let at = AT.signature; at < HEADER_BYTES; at++) target[at] = 0;
  target.writeUInt32LE(answer.status, AT.status);
  target.writeUInt16LE(answer.credits, AT.credits);
  const related = request.readUInt32LE(AT.flags) & FLAG.related;
  const signed = answer.signed ? FLAG.signed : 0;
  const async = answer.asyncId === null ? 0 : FLAG.async;
  target.writeUInt32LE(FLAG.response | related | signed | async, AT.flags);
  target.writeUInt32LE(0, AT.next);
  if (answer.asyncId === null) {
    target.writeUInt32LE(0, AT.asyncId);
    target.writeUInt32LE(answer.treeId, AT.treeId);
  } else {
    writeU64(target, AT.asyncId, answer.asyncId);
  }
  if (answer.sessionId !== null) writeU64(target, AT.sessionId, answer.sessionId);
}

/** Writes the offset of the next response of a compound. */
export function writeNext(answer: Bytes, next: number): void {
  answer.writeUInt32LE(next, AT.next);
}

/** The header of a message that answers no request: it has no message id and no session. */
export function unaskedHeader(command: number): Bytes {
  const header = blankHeader(command);
  header.writeUInt32LE(FLAG.response, AT.flags);
  header.fill(0xff, AT.messageId, AT.asyncId);
  return header;
}

/** The header for the response to an SMB1 negotiation. */
export function blankHeader(command: number): Bytes {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(PROTOCOL_ID, 0);
  header.writeUInt16LE(HEADER_BYTES, AT.structureSize);
  header.writeUInt16LE(command, AT.command);
  return header;
}
