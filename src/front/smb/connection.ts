import type { RequestHeader } from "./codec/header.ts";
import { FLAG } from "./codec/header.ts";
import { CreditWindow } from "./credits.ts";
import type { FileHost } from "./file-host.ts";
import type { Negotiated } from "./negotiated.ts";
import { Session } from "./session.ts";
import type { SmbServer } from "./smb-server.ts";
import type { Wire } from "./wire.ts";

/** A request that waits for an event. */
interface Pending {
  readonly messageId: number;
  readonly asyncId: number;
  readonly abort: AbortController;
}

/** One client's connection: what was negotiated, and the sessions on it. */
export class Connection {
  /** Counts connections, to tell them apart in logs. */
  readonly id: number;
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
    this.id = server.newConnectionId();
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

  /** Whether a client is logged on to an account whose shares are there. */
  uses(host: FileHost): boolean {
    for (const session of this.sessions.values()) {
      if (session.isValid && session.host === host) return true;
    }
    return false;
  }

  /** Makes a session, which its client has yet to log on to. */
  newSession(): Session {
    const { sessions, server, wire, negotiated } = this;
    const session = new Session({
      id: server.newSessionId(),
      negotiated,
      wire,
      log: server.options.log,
      beganMs: server.options.clock.now(),
      onClose: ({ id }) => {
        sessions.delete(id);
        server.sessions.delete(id);
      },
    });
    sessions.set(session.id, session);
    server.sessions.set(session.id, session);
    return session;
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
    await Promise.all([...this.sessions.values()].map((session) => session.close(true)));
  }
}
