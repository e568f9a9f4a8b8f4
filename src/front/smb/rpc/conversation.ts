import type { Bytes } from "../../../base/bytes.ts";
import { Writer } from "../codec/wire.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** An RPC interface that a service offers on a pipe. */
export interface RpcInterface {
  readonly pipe: string;
  /** As encoded in messages. */
  readonly uuid: Bytes;
  readonly version: number;
}

/** Executes one operation; null if there is no such operation. */
export type RpcService = (operation: number, input: Bytes) => Promise<Bytes | null>;

const KIND = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12, alter: 14, alterAck: 15 };
const FLAG = { first: 1, last: 2, object: 0x80 };
const HEAD_BYTES = 16;
const BIND_FIXED_BYTES = 12;
const REQUEST_HEAD_BYTES = 8;
const RESPONSE_HEAD_BYTES = HEAD_BYTES + 8;
const OBJECT_BYTES = 16;
const FRAGMENT_BYTES_MAX = 4_280;
/** The longest request, over all of its fragments. */
const REQUEST_BYTES_MAX = 64 * 1024;
const CONTEXTS_MAX = 16;
const SYNTAX_BYTES = 20;
/** Little-endian, ASCII, IEEE. */
const REPRESENTATION = 0x00000010;
const NO_SUCH_OPERATION = 0x1c010002;
const BAD_DATA = 0x000006f7;
/** 8a885d04-1ceb-11c9-9fe8-08002b104860, version 2: plain NDR. */
const NDR = Buffer.from("045d888aeb1cc9119fe808002b10486002000000", "hex");
const ACCEPTED = { result: 0, reason: 0 };
const UNKNOWN_INTERFACE = { result: 2, reason: 1 };
const UNKNOWN_SYNTAX = { result: 2, reason: 2 };

interface Fragment {
  readonly kind: number;
  readonly flags: number;
  readonly callId: number;
  readonly body: Bytes;
}

/** DCE/RPC with one client on a pipe: bind, then one call after another. */
export class RpcConversation {
  readonly #interface: RpcInterface;
  readonly #service: RpcService;
  #answerBytesMax = FRAGMENT_BYTES_MAX;
  #input: Bytes = Buffer.alloc(0);

  constructor(anInterface: RpcInterface, service: RpcService) {
    this.#interface = anInterface;
    this.#service = service;
  }

  /** Takes one write and returns the response's fragments; none until a request is complete. */
  async take(bytes: Bytes): Promise<Bytes[]> {
    const fragment = readFragment(bytes);
    switch (fragment.kind) {
      case KIND.bind:
        return [this.#bind(fragment, KIND.bindAck)];
      case KIND.alter:
        return [this.#bind(fragment, KIND.alterAck)];
      case KIND.request:
        return await this.#request(fragment);
      default:
        throw new StatusError(STATUS.INVALID_PARAMETER);
    }
  }

  #bind({ callId, body }: Fragment, kind: number): Bytes {
    if (body.length < BIND_FIXED_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
    const asked = body.readUInt16LE(2);
    this.#answerBytesMax = Math.min(Math.max(asked, 1_024), FRAGMENT_BYTES_MAX);
    const results = this.#resultsFor(body);
    const pipe = Buffer.from(`\\PIPE\\${this.#interface.pipe}\0`, "latin1");
    const writer = new Writer()
      .zeros(HEAD_BYTES)
      .u16(FRAGMENT_BYTES_MAX)
      .u16(FRAGMENT_BYTES_MAX)
      .u32(1)
      .u16(pipe.length)
      .bytes(pipe)
      .align(4)
      .u32(results.length);
    for (const { result, reason } of results) {
      writer.u16(result).u16(reason);
      if (result === ACCEPTED.result) writer.bytes(NDR);
      else writer.zeros(SYNTAX_BYTES);
    }
    return withHead(writer.done(), kind, FLAG.first | FLAG.last, callId);
  }

  #resultsFor(body: Bytes): { readonly result: number; readonly reason: number }[] {
    const count = body.readUInt8(8);
    if (count > CONTEXTS_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
    let at = BIND_FIXED_BYTES;
    return Array.from({ length: count }, () => {
      if (body.length < at + 4 + SYNTAX_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
      const syntaxes = body.readUInt8(at + 2);
      const end = at + 4 + SYNTAX_BYTES * (1 + syntaxes);
      if (body.length < end) throw new StatusError(STATUS.INVALID_PARAMETER);
      const abstract = body.subarray(at + 4, at + 4 + SYNTAX_BYTES);
      const transfers = body.subarray(at + 4 + SYNTAX_BYTES, end);
      at = end;
      return this.#judge(abstract, transfers);
    });
  }

  #judge(abstract: Bytes, transfers: Bytes) {
    const { uuid, version } = this.#interface;
    const isOurs = abstract.subarray(0, 16).equals(uuid) && abstract.readUInt16LE(16) === version;
    if (!isOurs) return UNKNOWN_INTERFACE;
    for (let at = 0; at < transfers.length; at += SYNTAX_BYTES) {
      if (transfers.subarray(at, at + SYNTAX_BYTES).equals(NDR)) return ACCEPTED;
    }
    return UNKNOWN_SYNTAX;
  }

  async #request({ flags, callId, body }: Fragment): Promise<Bytes[]> {
    const stubAt = REQUEST_HEAD_BYTES + ((flags & FLAG.object) === 0 ? 0 : OBJECT_BYTES);
    if (body.length < stubAt) throw new StatusError(STATUS.INVALID_PARAMETER);
    const before = (flags & FLAG.first) === 0 ? this.#input : Buffer.alloc(0);
    this.#input = Buffer.concat([before, body.subarray(stubAt)]);
    if (this.#input.length > REQUEST_BYTES_MAX) throw new StatusError(STATUS.INVALID_PARAMETER);
    if ((flags & FLAG.last) === 0) return [];
    const input = this.#input;
    this.#input = Buffer.alloc(0);
    const contextId = body.readUInt16LE(4);
    const output = await this.#call(body.readUInt16LE(6), input);
    return typeof output === "number"
      ? [fault(callId, contextId, output)]
      : this.#fragments(callId, contextId, output);
  }

  /** The output of the operation, or the number of a fault. */
  async #call(operation: number, input: Bytes): Promise<Bytes | number> {
    try {
      return (await this.#service(operation, input)) ?? NO_SUCH_OPERATION;
    } catch (error) {
      if (error instanceof StatusError) return BAD_DATA;
      throw error;
    }
  }

  #fragments(callId: number, contextId: number, output: Bytes): Bytes[] {
    const room = this.#answerBytesMax - RESPONSE_HEAD_BYTES;
    const count = Math.max(1, Math.ceil(output.length / room));
    return Array.from({ length: count }, (_, index) => {
      const part = output.subarray(index * room, (index + 1) * room);
      const flags = (index === 0 ? FLAG.first : 0) | (index === count - 1 ? FLAG.last : 0);
      const writer = new Writer().zeros(HEAD_BYTES).u32(output.length - index * room);
      return withHead(
        writer.u16(contextId).u16(0).bytes(part).done(),
        KIND.response,
        flags,
        callId,
      );
    });
  }
}

function readFragment(bytes: Bytes): Fragment {
  const isWhole =
    bytes.length >= HEAD_BYTES && bytes[0] === 5 && bytes.readUInt16LE(8) === bytes.length;
  const hasAuthentication = isWhole && bytes.readUInt16LE(10) !== 0;
  const isLittleEndian = isWhole && bytes.readUInt32LE(4) === REPRESENTATION;
  if (!isWhole || hasAuthentication || !isLittleEndian) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return {
    kind: bytes[2] as number,
    flags: bytes[3] as number,
    callId: bytes.readUInt32LE(12),
    body: bytes.subarray(HEAD_BYTES),
  };
}

function fault(callId: number, contextId: number, status: number): Bytes {
  const writer = new Writer().zeros(HEAD_BYTES).u32(0).u16(contextId).u16(0).u32(status).u32(0);
  return withHead(writer.done(), KIND.fault, FLAG.first | FLAG.last, callId);
}

/** Fills in the header of a fragment. */
function withHead(fragment: Bytes, kind: number, flags: number, callId: number): Bytes {
  fragment[0] = 5;
  fragment[2] = kind;
  fragment[3] = flags;
  fragment.writeUInt32LE(REPRESENTATION, 4);
  fragment.writeUInt16LE(fragment.length, 8);
  fragment.writeUInt32LE(callId, 12);
  return fragment;
}
