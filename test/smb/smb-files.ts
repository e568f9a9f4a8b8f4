import assert from "node:assert/strict";
import {
  closeBody,
  createBody,
  type DISPOSITION,
  handleIn,
  lockBody,
  writeBody,
} from "../../src/front/smb/client/file-requests.ts";
import type { Offer, Reply } from "../../src/front/smb/client/smb-client.ts";
import { ACCESS } from "../../src/front/smb/codec/access.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { CREDIT_BYTES } from "../../src/front/smb/limits.ts";
import { SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";

const DELETE_ON_CLOSE = 0x1000;
const DISPOSITION_CLASS = 13;
const FILE_INFO = 1;
const STATUS_PENDING = 0x103;

export interface Opening {
  /** Bits of `rules/share-mode.ts`, like `share`. */
  readonly access?: number;
  readonly share?: number;
  readonly disposition?: keyof typeof DISPOSITION;
  readonly deletesOnClose?: boolean;
}

/** The 16 bytes that identify an open to its client. */
export type SmbHandle = Buffer;

/**
 * Files of one share over SMB, for a client that does one thing at a time and checks each answer.
 */
export class SmbFiles {
  readonly client: SmbClient;

  private constructor(client: SmbClient) {
    this.client = client;
  }

  static async connect(
    port: number,
    share: string,
    offer: Offer = {},
    user = { user: ACCOUNT, domain: "", password: KEY },
  ): Promise<SmbFiles> {
    const client = new SmbClient(await TcpLine.open(port));
    await client.negotiate(offer);
    assert.equal((await client.logOn(user)).status, 0);
    assert.equal((await client.treeConnect(share)).status, 0);
    return new SmbFiles(client);
  }

  close(): void {
    this.client.line.close();
  }

  async open(name: string, opening: Opening = {}): Promise<SmbHandle> {
    const reply = await this.tryOpen(name, opening);
    assert.equal(reply.status, 0, `status 0x${reply.status.toString(16)}`);
    return handleIn(reply);
  }

  tryOpen(name: string, opening: Opening = {}): Promise<Reply> {
    const { access = READ, share = READ | WRITE | DELETE, disposition = "open" } = opening;
    const options = opening.deletesOnClose ? DELETE_ON_CLOSE : 0;
    const body = createBody({ name, access: accessBits(access), share, disposition, options });
    return this.client.call(COMMAND.create, body);
  }

  async end(handle: SmbHandle): Promise<number> {
    return (await this.client.call(COMMAND.close, closeBody(handle))).status;
  }

  async flush(handle: SmbHandle): Promise<number> {
    return (await this.client.call(COMMAND.flush, closeBody(handle))).status;
  }

  async markDeleted(handle: SmbHandle, deletes: boolean): Promise<number> {
    const body = new Writer().u16(33).u8(FILE_INFO).u8(DISPOSITION_CLASS).u32(1).u32(96).u32(0);
    const whole = body
      .bytes(handle)
      .u8(deletes ? 1 : 0)
      .done();
    return (await this.client.call(COMMAND.setInfo, whole)).status;
  }

  async lock(handle: SmbHandle, from: number, length: number, flags: number): Promise<number> {
    const reply = await this.client.call(COMMAND.lock, lockBody(handle, from, length, flags));
    return reply.status;
  }

  /** A lock that must wait. Resolves once the interim response has come. */
  async lockWaiting(handle: SmbHandle, from: number, length: number, flags: number) {
    const reply = await this.client.call(COMMAND.lock, lockBody(handle, from, length, flags));
    assert.equal(reply.status, STATUS_PENDING);
    return reply;
  }

  async write(handle: SmbHandle, from: number, text: string): Promise<number> {
    const body = writeBody(handle, from, Buffer.from(text));
    return (await this.client.call(COMMAND.write, body)).status;
  }

  async read(handle: SmbHandle, from: number, length: number): Promise<string> {
    const body = readBody(handle, from, length);
    const charge = Math.max(1, Math.ceil(length / CREDIT_BYTES));
    const { status, bytes } = await this.client.call(COMMAND.read, body, { charge });
    if (status !== 0) return `status 0x${status.toString(16)}`;
    const count = bytes.readUInt32LE(HEADER_BYTES + 4);
    return bytes.subarray(HEADER_BYTES + 16, HEADER_BYTES + 16 + count).toString();
  }
}

export function readBody(handle: Buffer, from: number, length: number): Buffer {
  return new Writer().u16(49).u16(0).u32(length).u64(from).bytes(handle).zeros(17).done();
}

function accessBits(access: number): number {
  const bits = [
    [READ, ACCESS.readData],
    [WRITE, ACCESS.writeData],
    [DELETE, ACCESS.delete],
  ] as const;
  let asked: number = ACCESS.readAttributes;
  for (const [bit, means] of bits) if ((access & bit) !== 0) asked |= means;
  return asked;
}
