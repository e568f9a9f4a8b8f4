import type { BorrowedBuffer } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Share } from "../send-budget.ts";
import type { RequestHeader } from "./codec/header.ts";
import { FLAG } from "./codec/header.ts";
import type { Dialect } from "./codec/negotiate.ts";
import { CreditWindow } from "./credits.ts";
import type { CipherId } from "./crypto/cipher.ts";
import type { SigningAlgorithm } from "./crypto/signer.ts";
import type { Session } from "./session.ts";
import type { SmbServer } from "./smb-server.ts";

/** What client and server agreed on in NEGOTIATE. */
export interface Negotiated {
  readonly dialect: Dialect;
  readonly signing: SigningAlgorithm;
  readonly cipher: CipherId | null;
  /** As both sides stated them: the client may ask later whether they arrived unchanged. */
  readonly client: NegotiatedClient;
  readonly serverCapabilities: number;
  readonly serverSecurityMode: number;
  readonly transferBytesMax: number;
  /** Of the request and the answer; zeros in dialects that have no use for it. */
  preauthHash: Bytes;
}

export interface NegotiatedClient {
  readonly guid: Bytes;
  readonly dialects: readonly number[];
  readonly capabilities: number;
  readonly securityMode: number;
}

/** The socket, as the rest of the server sees it. */
export interface Wire {
  readonly remoteAddress: string;
  /** Sends the parts as one frame, and then gives them back. */
  send(frame: BorrowedBuffer): void;
  /** Waits until so much more may be in memory for an answer to READ. */
  shareFor(bytes: number): Promise<Share>;
  /** Nothing more is read or sent. */
  drop(): void;
}

/** A request that waits for something to happen. */
interface Pending {
  readonly messageId: number;
  readonly asyncId: number;
  readonly abort: AbortController;
}

/** One client's connection: what was negotiated, and the sessions on it. */
export class Connection {
  readonly server: SmbServer;
  readonly wire: Wire;
  readonly credits = new CreditWindow();
  readonly sessions = new Map<number, Session>();
  /**
   * Set while a large frame is decrypted and checked in slices. Those behind it wait, so that requests
   * begin in the order in which they came.
   */
  opening: Promise<unknown> | null = null;
  readonly #pending = new Set<Pending>();
  #negotiated: Negotiated | null = null;
  #gone: AbortController | null = null;
  #isClosed = false;
  #asyncIds = 0;

  constructor(server: SmbServer, wire: Wire) {
    this.server = server;
    this.wire = wire;
  }

  get isNegotiated(): boolean {
    return this.#negotiated !== null;
  }

  /** Only asked for behind NEGOTIATE, which the dispatcher sees to. */
  get negotiated(): Negotiated {
    if (this.#negotiated === null) throw new Error("nothing is negotiated yet");
    return this.#negotiated;
  }

  set negotiated(negotiated: Negotiated) {
    this.#negotiated = negotiated;
  }

  /** Whether somebody has logged on, and so may send more than a stranger. */
  get isTrusted(): boolean {
    for (const session of this.sessions.values()) if (session.isValid) return true;
    return false;
  }

  /** Aborted when the connection is closed. */
  get gone(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#isClosed) this.#gone.abort();
    return this.#gone.signal;
  }

  get hasOpens(): boolean {
    for (const { opens } of this.sessions.values()) if (opens.size > 0) return true;
    return false;
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Notes a request that waits, so that CANCEL finds it. */
  pend(messageId: number): Pending {
    const pending = { messageId, asyncId: ++this.#asyncIds, abort: new AbortController() };
    this.#pending.add(pending);
    return pending;
  }

  finish(pending: Pending): void {
    this.#pending.delete(pending);
  }

  cancel({ flags, asyncId, messageId }: RequestHeader): void {
    const byAsyncId = (flags & FLAG.async) !== 0;
    for (const one of this.#pending) {
      if (byAsyncId ? one.asyncId === asyncId : one.messageId === messageId) one.abort.abort();
    }
  }

  /** The socket is gone: so is everything that hung on it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gone?.abort();
    for (const { abort } of this.#pending) abort.abort();
    for (const session of [...this.sessions.values()]) await session.close(true);
  }
}
