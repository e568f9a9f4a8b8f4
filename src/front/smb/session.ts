import { createHash } from "node:crypto";
import { unowned } from "../../base/borrowed-buffer.ts";
import { type Bytes, NO_BYTES } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { Authentication } from "./auth/authentication.ts";
import { DIALECT, type Dialect } from "./codec/negotiate.ts";
import { cipherKeyBytes, Opener, Sealer } from "./crypto/cipher.ts";
import { deriveKey } from "./crypto/derive-key.ts";
import { SIGNING, Signer } from "./crypto/signer.ts";
import type { FileHost } from "./file-host.ts";
import type { OpenSession } from "./file-open.ts";
import type { Negotiated } from "./negotiated.ts";
import { STATUS, StatusError } from "./nt-status.ts";
import type { Open } from "./open.ts";
import { sealFrame } from "./seal-frame.ts";
import type { SmbLog } from "./smb-log.ts";
import type { Tree } from "./tree.ts";
import type { Wire } from "./wire.ts";

export interface SessionParts {
  readonly id: number;
  readonly negotiated: Negotiated;
  /** The connection of its client. */
  readonly wire: Wire;
  readonly log: SmbLog;
  readonly beganMs: Instant;
  /** Called once, when the session is closed. */
  readonly onClose: (session: Session) => void;
}

/** The session of a logged-on client: its keys, its trees and its opens. */
export class Session implements OpenSession {
  readonly id: number;
  /** The current log-on, the first or a later one. */
  authentication: Authentication | null = null;
  /** "" until the first log-on succeeds. */
  account = "";
  /** The hash of the key with which the client logged on last. */
  passwordHash: Bytes = NO_BYTES;
  signingRequired = false;
  encryptionRequired = false;
  /** Whether the client encrypts, and so expects encrypted messages. */
  isSealing = false;
  signer: Signer | null = null;
  sealer: Sealer | null = null;
  opener: Opener | null = null;
  readonly trees = new Map<number, Tree>();
  readonly opens = new Map<number, Open>();
  readonly #parts: SessionParts;
  #host: FileHost | null = null;
  #preauthHash: Bytes;
  #treesMade = 0;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.id = parts.id;
    this.#parts = parts;
    this.#preauthHash = parts.negotiated.preauthHash;
  }

  get clientIp(): string {
    return this.#parts.wire.remoteAddress;
  }

  get dialect(): Dialect {
    return this.#parts.negotiated.dialect;
  }

  get beganMs(): Instant {
    return this.#parts.beganMs;
  }

  get isValid(): boolean {
    return this.account !== "" && !this.#isClosed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Where the shares of its account are. Available after the first log-on. */
  get host(): FileHost {
    if (this.#host === null) throw new StatusError(STATUS.USER_SESSION_DELETED);
    return this.#host;
  }

  /** Adds a log-on message to the hash from which the keys of dialect 3.1.1 are derived. */
  hash(message: Bytes): void {
    if (this.account === "") this.#preauthHash = hashOn(this.#preauthHash, message);
  }

  /** Completes the first log-on: sets the account and derives the keys. */
  establish(account: string, host: FileHost, sessionKey: Bytes): void {
    const { negotiated } = this.#parts;
    const keys = deriveKeys(negotiated, sessionKey, this.#preauthHash);
    this.account = account;
    this.#host = host;
    this.signer = new Signer(negotiated.signing, keys.signing);
    if (negotiated.cipher === null) return;
    this.sealer = new Sealer(negotiated.cipher, keys.toClient);
    this.opener = new Opener(negotiated.cipher, keys.toServer);
  }

  /** Sends an unsigned message, because it answers no request. */
  notify(message: Bytes): void {
    const frame = unowned([message]);
    const isSealed = this.sealer !== null && (this.isSealing || this.encryptionRequired);
    this.#parts.wire.send(isSealed ? sealFrame(this, frame) : frame);
  }

  newTreeId(): number {
    return ++this.#treesMade;
  }

  /**
   * Closes everything that is open. Running requests find the session closed. If the connection was
   * lost, durable opens are preserved.
   */
  async close(isLost = false): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts.onClose(this);
    if (isLost) this.#preserveDurables();
    await this.closeOpens(() => true);
    this.trees.clear();
  }

  #preserveDurables(): void {
    for (const open of [...this.opens.values()]) {
      if (open.kind !== "file" || open.durability === null) continue;
      if (this.host.durables.preserve(open)) this.opens.delete(open.fileId.volatile);
    }
  }

  async closeOpens(which: (open: Open) => boolean): Promise<void> {
    // Together, because they share commits then, which take one or two round trips to a database.
    await Promise.all([...this.opens.values()].filter(which).map((open) => this.#closeOne(open)));
  }

  async #closeOne(open: Open): Promise<void> {
    try {
      await this.closeOpen(open, 0);
    } catch (error) {
      // Already closed elsewhere, or deleted with its share.
      if (error instanceof Fault && error.code === "InvalidHandle") return;
      this.#parts.log.failure("closing a file over SMB", error);
    }
  }

  /** Closes an open once only `uses` requests, the caller's own, still use it. */
  async closeOpen(open: Open, uses: number): Promise<void> {
    if (!this.opens.delete(open.fileId.volatile)) return;
    await open.end(uses);
    await open.close();
  }
}

/** Adds a message to the hash chain of a log-on. */
export function hashOn(hash: Bytes, message: Bytes): Bytes {
  return createHash("sha512").update(hash).update(message).digest();
}

interface SessionKeys {
  readonly signing: Bytes;
  readonly toServer: Bytes;
  readonly toClient: Bytes;
}

/** Derives the keys of a session, with the labels and contexts of its dialect. */
function deriveKeys(
  { dialect, cipher }: Negotiated,
  sessionKey: Bytes,
  preauthHash: Bytes,
): SessionKeys {
  const none = Buffer.alloc(0);
  const bytes = cipher === null ? 16 : cipherKeyBytes(cipher);
  if (dialect < DIALECT.smb300) {
    return { signing: sessionKey, toServer: none, toClient: none };
  }
  if (dialect < DIALECT.smb311) {
    const derive = (label: string, context: string) =>
      deriveKey(sessionKey, label, Buffer.from(`${context}\0`), 16);
    return {
      signing: derive("SMB2AESCMAC", "SmbSign"),
      toServer: derive("SMB2AESCCM", "ServerIn "),
      toClient: derive("SMB2AESCCM", "ServerOut"),
    };
  }
  return {
    signing: deriveKey(sessionKey, "SMBSigningKey", preauthHash, 16),
    toServer: deriveKey(sessionKey, "SMBC2SCipherKey", preauthHash, bytes),
    toClient: deriveKey(sessionKey, "SMBS2CCipherKey", preauthHash, bytes),
  };
}

/** The signing algorithm of a dialect that does not negotiate it. */
export function signingOf(dialect: number) {
  return dialect < DIALECT.smb300 ? SIGNING.hmacSha256 : SIGNING.aesCmac;
}
