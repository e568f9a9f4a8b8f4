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
  /** As both sides sent them: the client may verify later that they arrived unchanged. */
  readonly client: NegotiatedClient;
  readonly serverCapabilities: number;
  readonly serverSecurityMode: number;
  readonly transferBytesMax: number;
  /** The hash of request and response; zeros in dialects that do not use it. */
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
  /** Sends the parts as one frame, and then releases them. */
  send(frame: BorrowedBuffer): void;
  /** Waits for memory for a response to READ. */
  shareFor(bytes: number): Promise<Share>;
  /** Closes the socket at once. */
  drop(): void;
}

/** A request that waits for an event. */
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
   * Set while a large frame is decrypted and checked in slices. Later frames wait for it, so that
   * requests begin in the order of their arrival.
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

  /** Available after NEGOTIATE, as the dispatcher ensures. */
  get negotiated(): Negotiated {
    if (this.#negotiated === null) throw new Error("nothing is negotiated yet");
    return this.#negotiated;
  }

  set negotiated(negotiated: Negotiated) {
    this.#negotiated = negotiated;
  }

  /** Whether a user is logged on, so that larger frames are accepted. */
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

  /** Registers a waiting request, so that CANCEL finds it. */
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

  /** Releases everything that belonged to the connection, after its socket is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#gone?.abort();
    for (const { abort } of this.#pending) abort.abort();
    for (const session of [...this.sessions.values()]) await session.close(true);
  }
}
