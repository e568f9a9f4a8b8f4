import { unowned } from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { COMMAND, FLAG } from "../codec/header.ts";
import { DIALECT } from "../codec/negotiate.ts";
import { aadOf, isTransform, readTransform, writeTag, writeTransform } from "../codec/transform.ts";
import { alignedTo, HEADER_BYTES, readU64, Writer, writeU64 } from "../codec/wire.ts";
import {
  CIPHER,
  type CipherId,
  cipherKeyBytes,
  isCipher,
  Opener,
  Sealer,
} from "../crypto/cipher.ts";
import { deriveKey } from "../crypto/derive-key.ts";
import { SIGNING, Signer, type SigningAlgorithm } from "../crypto/signer.ts";
import { STATUS } from "../nt-status.ts";
import { hashOn } from "../session.ts";
import type { ClientLine } from "./client-line.ts";
import {
  initToken,
  mechanismList,
  NtlmClient,
  type NtlmUser,
  ntlmIn,
  responseToken,
} from "./ntlm-client.ts";

export interface Reply {
  readonly status: number;
  readonly flags: number;
  readonly credits: number;
  readonly messageId: number;
  readonly asyncId: number;
  readonly treeId: number;
  readonly sessionId: number;
  /** Header and body. */
  readonly bytes: Bytes;
  readonly isSealed: boolean;
}

export interface Offer {
  readonly dialects?: readonly number[];
  readonly ciphers?: readonly CipherId[];
  readonly signings?: readonly SigningAlgorithm[];
  readonly capabilities?: number;
  readonly clientGuid?: Bytes;
}

/** How a request is sent. */
export interface Sending {
  readonly related?: boolean;
  readonly signed?: boolean;
  readonly sealed?: boolean;
  readonly charge?: number;
  /** Marks it as a replay. */
  readonly replay?: boolean;
  readonly channelSequence?: number;
  readonly messageId?: number;
  readonly treeId?: number;
  readonly sessionId?: number;
}

/** The client's side of the protocol: log-on, signatures, encryption, and one request at a time. */
export class SmbClient {
  readonly line: ClientLine;
  dialect = 0;
  sessionId = 0;
  treeId = 0;
  nextMessageId = 0;
  signer: Signer | null = null;
  sealer: Sealer | null = null;
  opener: Opener | null = null;
  /** What NEGOTIATE stated, for a later validation. */
  stated: { capabilities: number; dialects: readonly number[] } = { capabilities: 0, dialects: [] };
  #hash: Bytes = Buffer.alloc(64);
  /** The negotiated cipher; 3.0 has no other. */
  cipher: CipherId = CIPHER.aes128Ccm;
  /** False if the server encrypts nothing. */
  #hasCipher = true;
  #signing: SigningAlgorithm = SIGNING.hmacSha256;

  constructor(line: ClientLine) {
    this.line = line;
  }

  async negotiate(offer: Offer = {}): Promise<Reply> {
    const dialects = offer.dialects ?? [
      DIALECT.smb202,
      DIALECT.smb210,
      DIALECT.smb300,
      DIALECT.smb311,
    ];
    const capabilities = offer.capabilities ?? 0x7f;
    this.stated = { capabilities, dialects };
    const reply = await this.call(COMMAND.negotiate, negotiateBody(dialects, capabilities, offer));
    if (reply.status !== 0) return reply;
    this.dialect = reply.bytes.readUInt16LE(HEADER_BYTES + 4);
    this.#signing = this.dialect < DIALECT.smb300 ? SIGNING.hmacSha256 : SIGNING.aesCmac;
    if (this.dialect === DIALECT.smb311) this.#takeContexts(reply.bytes);
    return reply;
  }

  #takeContexts(bytes: Bytes): void {
    let at = bytes.readUInt32LE(HEADER_BYTES + 60);
    for (let left = bytes.readUInt16LE(HEADER_BYTES + 6); left > 0; left--) {
      const type = bytes.readUInt16LE(at);
      const chosen = bytes.readUInt16LE(at + 10);
      if (type === 2) this.#hasCipher = isCipher(chosen);
      if (type === 2 && isCipher(chosen)) this.cipher = chosen;
      if (type === 8) this.#signing = chosen as SigningAlgorithm;
      at = alignedTo(at + 8 + bytes.readUInt16LE(at + 2), 8);
    }
  }

  /** Sends both steps of a log-on, and returns the last reply. */
  async logOn(user: NtlmUser, previousSessionId = 0): Promise<Reply> {
    const ntlm = new NtlmClient(user);
    const begin = initToken(mechanismList(), ntlm.negotiate());
    const first = await this.call(COMMAND.sessionSetup, setupBody(begin, previousSessionId));
    if (first.status !== STATUS.MORE_PROCESSING_REQUIRED) return first;
    const isNew = this.signer === null;
    this.sessionId = first.sessionId;
    const last = ntlm.authenticate(ntlmIn(first.bytes));
    const frame = this.frame(
      COMMAND.sessionSetup,
      setupBody(responseToken(last), previousSessionId),
    );
    const hash = hashOn(this.#hash, frame);
    this.line.send(frame);
    if (isNew) this.#makeKeys(ntlm.sessionKey, hash);
    return await this.receive();
  }

  #makeKeys(key: Bytes, hash: Bytes): void {
    if (this.dialect < DIALECT.smb300) {
      this.signer = new Signer(this.#signing, key);
      return;
    }
    const is311 = this.dialect === DIALECT.smb311;
    const derive = (label: string, old: string, oldContext: string, bytes: 16 | 32) =>
      is311
        ? deriveKey(key, label, hash, bytes)
        : deriveKey(key, old, Buffer.from(`${oldContext}\0`), bytes);
    this.signer = new Signer(this.#signing, derive("SMBSigningKey", "SMB2AESCMAC", "SmbSign", 16));
    if (!this.#hasCipher) return;
    const bytes = cipherKeyBytes(this.cipher);
    this.sealer = new Sealer(
      this.cipher,
      derive("SMBC2SCipherKey", "SMB2AESCCM", "ServerIn ", bytes),
    );
    this.opener = new Opener(
      this.cipher,
      derive("SMBS2CCipherKey", "SMB2AESCCM", "ServerOut", bytes),
    );
  }

  async treeConnect(share: string, sending: Sending = { signed: true }): Promise<Reply> {
    const path = Buffer.from(`\\\\lazuli\\${share}`, "utf16le");
    const body = new Writer().u16(9).u16(0).u16(72).u16(path.length).bytes(path).done();
    const reply = await this.call(COMMAND.treeConnect, body, sending);
    if (reply.status === 0) this.treeId = reply.treeId;
    return reply;
  }

  async call(command: number, body: Bytes, sending: Sending = {}): Promise<Reply> {
    const frame = this.frame(command, body, sending);
    this.#hash = hashOn(this.#hash, frame);
    this.line.send(frame);
    const reply = await this.receive();
    this.#hash = hashOn(this.#hash, reply.bytes);
    return reply;
  }

  /** The next response, with its signature and encryption checked. Throws if the server closed. */
  async receive(): Promise<Reply> {
    const frame = await this.line.next();
    if (frame === null) throw new Error("the server closed the connection");
    const isSealed = isTransform(frame);
    return this.read(isSealed ? this.#open(frame) : frame, isSealed);
  }

  #open(frame: Bytes): Bytes {
    const transform = readTransform(frame);
    if (transform === null || this.opener === null) throw new Error("not a frame for us");
    const { nonce, aad, text, tag } = transform;
    const plain = this.opener.open(nonce, aad, text, tag);
    if (plain === null) throw new Error("the frame was changed on the way");
    return plain;
  }

  read(bytes: Bytes, isSealed: boolean): Reply {
    const flags = bytes.readUInt32LE(16);
    if ((flags & FLAG.signed) !== 0) {
      const isRight = this.signer?.isSigned(bytes, { server: true, cancel: false }) ?? false;
      if (!isRight) throw new Error("the answer was changed on the way");
    }
    return {
      status: bytes.readUInt32LE(8),
      flags,
      credits: bytes.readUInt16LE(14),
      messageId: readU64(bytes, 24),
      asyncId: readU64(bytes, 32),
      treeId: bytes.readUInt32LE(36),
      sessionId: readU64(bytes, 40),
      bytes,
      isSealed,
    };
  }

  /** The frame of a request. */
  frame(command: number, body: Bytes, sending: Sending = {}): Bytes {
    const message = this.message(command, body, sending);
    if (sending.signed) this.signer?.sign(message, { server: false, cancel: false });
    return sending.sealed ? this.seal(message) : message;
  }

  message(command: number, body: Bytes, sending: Sending = {}): Bytes {
    const { charge = 1, related = false, signed = false } = sending;
    const header = Buffer.alloc(HEADER_BYTES);
    header.write("\xfeSMB", "latin1");
    header.writeUInt16LE(HEADER_BYTES, 4);
    header.writeUInt16LE(charge, 6);
    header.writeUInt16LE(sending.channelSequence ?? 0, 8);
    header.writeUInt16LE(command, 12);
    header.writeUInt16LE(64, 14);
    const flags = (related ? FLAG.related : 0) | (signed ? FLAG.signed : 0);
    header.writeUInt32LE(flags | (sending.replay ? FLAG.replay : 0), 16);
    writeU64(header, 24, sending.messageId ?? this.nextMessageId);
    header.writeUInt32LE(sending.treeId ?? this.treeId, 36);
    writeU64(header, 40, sending.sessionId ?? this.sessionId);
    if (sending.messageId === undefined) this.nextMessageId += charge;
    return Buffer.concat([header, body]);
  }

  seal(message: Bytes): Bytes {
    if (this.sealer === null) throw new Error("no cipher was agreed on");
    const nonce = this.sealer.nextNonce();
    const header = writeTransform(nonce, message.length, this.sessionId);
    const { text, tag } = this.sealer.seal(nonce, aadOf(header), unowned([message]));
    writeTag(header, tag);
    return Buffer.concat([header, ...text]);
  }
}

function negotiateBody(dialects: readonly number[], capabilities: number, offer: Offer): Bytes {
  const writer = new Writer()
    .u16(36)
    .u16(dialects.length)
    .u16(1)
    .u16(0)
    .u32(capabilities)
    .bytes(offer.clientGuid ?? Buffer.alloc(16));
  const has311 = dialects.includes(DIALECT.smb311);
  const contextsAt = alignedTo(HEADER_BYTES + 36 + dialects.length * 2, 8);
  const lists = [
    [2, offer.ciphers ?? Object.values(CIPHER)],
    [8, offer.signings ?? Object.values(SIGNING)],
  ] as const;
  if (has311) writer.u32(contextsAt).u16(3).u16(0);
  else writer.zeros(8);
  for (const dialect of dialects) writer.u16(dialect);
  if (!has311) return writer.done();
  writer.align(4);
  writer.zeros(contextsAt - HEADER_BYTES - writer.length);
  writer.u16(1).u16(38).u32(0).u16(1).u16(32).u16(1).zeros(32);
  for (const [type, list] of lists) {
    writer
      .align(8)
      .u16(type)
      .u16(2 + list.length * 2)
      .u32(0)
      .u16(list.length);
    for (const one of list) writer.u16(one);
  }
  return writer.done();
}

function setupBody(token: Bytes, previousSessionId: number): Bytes {
  return new Writer()
    .u16(25)
    .u8(0)
    .u8(1)
    .u32(0)
    .u32(0)
    .u16(88)
    .u16(token.length)
    .u64(previousSessionId)
    .bytes(token)
    .done();
}
