import assert from "node:assert/strict";
import type { Reply } from "../../src/front/smb/client/smb-client.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import type { SmbClient } from "../../src/front/smb/smb-client.fixture.ts";
import type { SmbHandle } from "./smb-files.ts";

const LEASE = 0xff;
const ACCESS = 0x12019f;
const STATES = { R: 1, H: 2, W: 4 } as const;

export interface Leased {
  readonly handle: SmbHandle;
  readonly oplock: number;
  /** `RHW`, or less. */
  readonly state: string;
  readonly epoch: number;
}

/** A break notice as the client received it. */
export interface BreakSeen {
  readonly from: string;
  readonly to: string;
  readonly mustAnswer: boolean;
  readonly epoch: number;
}

export function stateBits(letters: string): number {
  return [...letters].reduce((sum, letter) => sum | STATES[letter as "R"], 0);
}

export function stateLetters(bits: number): string {
  const all = Object.entries(STATES).filter(([, bit]) => (bits & bit) !== 0);
  return all.map(([letter]) => letter).join("");
}

/** CREATE of a file, existing or not, that shares everything and asks for a lease (version 2). */
export function leasedOpening(name: string, key: Buffer, state: string, epoch = 0): Buffer {
  const lease = new Writer().bytes(key).u32(stateBits(state)).u32(0).u64(0);
  lease.zeros(16).u16(epoch).u16(0);
  return opening(name, LEASE, [["RqLs", lease.done()]]);
}

export function opening(
  name: string,
  oplock: number,
  contexts: readonly (readonly [name: string, data: Buffer])[] = [],
  access: number = ACCESS,
): Buffer {
  const text = Buffer.from(name, "utf16le");
  const list = new Writer();
  contexts.forEach(([context, data], index) => {
    const at = list.length;
    const dataAt = Math.ceil((16 + context.length) / 8) * 8;
    list.u32(0).u16(16).u16(context.length).u16(0).u16(dataAt).u32(data.length);
    list
      .bytes(Buffer.from(context, "latin1"))
      .zeros(dataAt - 16 - context.length)
      .bytes(data);
    if (index === contexts.length - 1) return;
    list.align(8);
    list.patchU32(at, list.length - at);
  });
  const body = new Writer().u16(57).u8(0).u8(oplock).u32(2).zeros(16).u32(access).u32(0);
  body.u32(7).u32(3).u32(0).u16(120).u16(text.length);
  const at = Math.ceil((120 + text.length) / 8) * 8;
  body.u32(list.length === 0 ? 0 : at).u32(list.length);
  body.bytes(text).zeros(at - 120 - text.length);
  return body.bytes(list.done()).zeros(1).done();
}

export async function openLeased(
  client: SmbClient,
  name: string,
  key: Buffer,
  state: string,
): Promise<Leased> {
  return leasedBy(await client.call(COMMAND.create, leasedOpening(name, key, state)));
}

export function leasedBy({ status, bytes }: Reply): Leased {
  assert.equal(status, 0, `status 0x${status.toString(16)}`);
  const at = contextIn(bytes, "RqLs");
  return {
    handle: Buffer.from(bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80)),
    oplock: bytes.readUInt8(HEADER_BYTES + 2),
    state: at === null ? "" : stateLetters(bytes.readUInt32LE(at + 16)),
    epoch: at === null ? 0 : bytes.readUInt16LE(at + 48),
  };
}

/** Offset of the data of a context in an answer to CREATE; null if it has no such context. */
export function contextIn(bytes: Buffer, name: string): number | null {
  let at = bytes.readUInt32LE(HEADER_BYTES + 80);
  while (at > 0) {
    if (bytes.toString("latin1", at + 16, at + 20) === name)
      return at + bytes.readUInt16LE(at + 10);
    const next = bytes.readUInt32LE(at);
    if (next === 0) return null;
    at += next;
  }
  return null;
}

export async function nextBreak(client: SmbClient): Promise<BreakSeen> {
  const { bytes } = await client.receive();
  assert.equal(bytes.readUInt16LE(12), COMMAND.oplockBreak);
  assert.equal(bytes.readBigUInt64LE(24), 2n ** 64n - 1n);
  const body = bytes.subarray(HEADER_BYTES);
  assert.equal(body.readUInt16LE(0), 44);
  return {
    epoch: body.readUInt16LE(2),
    mustAnswer: (body.readUInt32LE(4) & 1) !== 0,
    from: stateLetters(body.readUInt32LE(24)),
    to: stateLetters(body.readUInt32LE(28)),
  };
}

/** Acknowledges a break, and returns the status of the answer. */
export async function giveUp(client: SmbClient, key: Buffer, to: string): Promise<number> {
  const body = new Writer().u16(36).u16(0).u32(0).bytes(key).u32(stateBits(to)).u64(0).done();
  return (await client.call(COMMAND.oplockBreak, body)).status;
}
