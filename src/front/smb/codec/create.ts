import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { FileId } from "./file-id.ts";
import { bodyOf, HEADER_BYTES, partOf, textOf, Writer } from "./wire.ts";

export interface CreateRequest {
  readonly oplock: number;
  readonly impersonation: number;
  readonly access: number;
  readonly attributes: number;
  readonly share: number;
  readonly disposition: number;
  readonly options: number;
  readonly name: string;
  readonly contexts: readonly CreateContext[];
}

/** A named extension of a request or response: `QFid`, `MxAc`, … */
export interface CreateContext {
  readonly name: string;
  readonly data: Bytes;
}

export interface FileTimes {
  readonly created: bigint;
  readonly accessed: bigint;
  readonly written: bigint;
  readonly changed: bigint;
}

export interface CreateAnswer {
  readonly oplock: number;
  /** What happened: superseded, opened, created or overwritten. */
  readonly action: number;
  readonly times: FileTimes;
  readonly allocated: number;
  readonly size: number;
  readonly attributes: number;
  readonly fileId: FileId;
  readonly contexts: readonly CreateContext[];
}

const STRUCTURE_SIZE = 57;
const ANSWER_FIXED_BYTES = 88;
const CONTEXT_HEAD_BYTES = 16;
const CONTEXTS_MAX = 32;
const NAME_BYTES = 4;

export function readCreate(message: Bytes): CreateRequest {
  const body = bodyOf(message, STRUCTURE_SIZE);
  return {
    oplock: body.readUInt8(3),
    impersonation: body.readUInt32LE(4),
    access: body.readUInt32LE(24),
    attributes: body.readUInt32LE(28),
    share: body.readUInt32LE(32),
    disposition: body.readUInt32LE(36),
    options: body.readUInt32LE(40),
    name: textOf(partOf(message, body.readUInt16LE(44), body.readUInt16LE(46))),
    contexts: readContexts(partOf(message, body.readUInt32LE(48), body.readUInt32LE(52))),
  };
}

function readContexts(list: Bytes): CreateContext[] {
  const contexts: CreateContext[] = [];
  for (let rest = list; rest.length > 0; ) {
    if (rest.length < CONTEXT_HEAD_BYTES || contexts.length >= CONTEXTS_MAX) {
      throw new StatusError(STATUS.INVALID_PARAMETER);
    }
    const next = rest.readUInt32LE(0);
    const one = next === 0 ? rest : rest.subarray(0, next);
    contexts.push(readContext(one));
    if (next === 0) break;
    if (next % 8 !== 0 || next < CONTEXT_HEAD_BYTES || next > rest.length) {
      throw new StatusError(STATUS.INVALID_PARAMETER);
    }
    rest = rest.subarray(next);
  }
  return contexts;
}

function readContext(one: Bytes): CreateContext {
  if (one.length < CONTEXT_HEAD_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
  const name = within(one, one.readUInt16LE(4), one.readUInt16LE(6));
  const data = within(one, one.readUInt16LE(10), one.readUInt32LE(12));
  return { name: name.toString("latin1"), data };
}

function within(one: Bytes, offset: number, length: number): Bytes {
  if (length === 0) return one.subarray(0, 0);
  if (offset < CONTEXT_HEAD_BYTES || offset + length > one.length) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return one.subarray(offset, offset + length);
}

export function writeCreate(answer: CreateAnswer): Bytes {
  const { times, fileId } = answer;
  const contexts = writeCreateContexts(answer.contexts);
  return new Writer()
    .u16(89)
    .u8(answer.oplock)
    .u8(0)
    .u32(answer.action)
    .u64(times.created)
    .u64(times.accessed)
    .u64(times.written)
    .u64(times.changed)
    .u64(answer.allocated)
    .u64(answer.size)
    .u32(answer.attributes)
    .u32(0)
    .u64(fileId.persistent)
    .u64(fileId.volatile)
    .u32(contexts.length === 0 ? 0 : HEADER_BYTES + ANSWER_FIXED_BYTES)
    .u32(contexts.length)
    .bytes(contexts)
    .done();
}

function writeCreateContexts(contexts: readonly CreateContext[]): Bytes {
  const writer = new Writer();
  contexts.forEach(({ name, data }, index) => {
    const at = writer.length;
    const dataAt = CONTEXT_HEAD_BYTES + NAME_BYTES + 4;
    writer
      .u32(0)
      .u16(CONTEXT_HEAD_BYTES)
      .u16(NAME_BYTES)
      .u16(0)
      .u16(data.length === 0 ? 0 : dataAt)
      .u32(data.length)
      .bytes(Buffer.from(name, "latin1"))
      .zeros(4)
      .bytes(data);
    if (index === contexts.length - 1) return;
    writer.align(8);
    writer.patchU32(at, writer.length - at);
  });
  return writer.done();
}
