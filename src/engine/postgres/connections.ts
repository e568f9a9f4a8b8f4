import { StoreError } from "../../store/store.ts";
import type { PostgresFigures } from "./figures.ts";
import { openSession, type Session, type SessionEvents, type SessionSetup } from "./session.ts";

const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 1_000;

/** Keeps a front end connected: it opens a new session whenever one is lost. */
export class Connections {
  readonly #setup: SessionSetup;
  readonly #onSession: () => void;
  readonly #figures: PostgresFigures;
  readonly #events: SessionEvents;
  #session: Session | null = null;
  /** What callers wait for while there is no session. */
  #waiting: Waiting | null = null;
  /** Why the database is out of reach, once callers have waited long enough. */
  #outage: StoreError | null = null;
  readonly #closing = new AbortController();
  #stopWaiting: () => void = () => {};
  #reconnecting: Promise<void> = Promise.resolve();

  /** Calls `onSession` before a new session is used, and `onNotice` as a session does. */
  constructor(
    setup: SessionSetup,
    figures: PostgresFigures,
    onSession: () => void,
    onNotice: SessionEvents["onNotice"] = () => {},
  ) {
    this.#setup = setup;
    this.#figures = figures;
    this.#onSession = onSession;
    this.#events = { onLost: () => this.#lose(), onNotice };
  }

  /** Opens the first session. Rejects with the error of the driver or the server. */
  async open(): Promise<Session> {
    this.#session = await openSession(this.#setup, this.#events, this.#closing.signal);
    return this.#session;
  }

  /** The session. Rejects as "unreachable" if the database has been gone for long. */
  get(): Session | Promise<Session> {
    if (this.#session !== null) return this.#session;
    if (this.#outage !== null) return Promise.reject(this.#outage);
    this.#waiting ??= waiting();
    return this.#waiting.promise;
  }

  isCurrent(session: Session): boolean {
    return this.#session === session && session.isAlive;
  }

  /** Ends a session whose state is unclear, and opens another. */
  renew(session: Session): void {
    session.destroy();
    if (this.#session === session) this.#lose();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopWaiting();
    await this.#reconnecting;
    await this.#session?.close();
    this.#session = null;
  }

  #lose(): void {
    if (this.#session === null) return;
    this.#session = null;
    this.#figures.connectionsLost++;
    if (!this.#closing.signal.aborted) this.#reconnecting = this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    let last: unknown = null;
    const patience = setTimeout(() => this.#declareOutage(last), this.#setup.times.patienceMs);
    for (let pauseMs = RETRY_MS_MIN; !this.#closing.signal.aborted; pauseMs = longer(pauseMs)) {
      try {
        const session = await openSession(this.#setup, this.#events, this.#closing.signal);
        this.#outage = null;
        this.#session = session;
        this.#onSession();
        this.#waiting?.resolve(session);
        this.#waiting = null;
        break;
      } catch (error) {
        last = error;
      }
      await this.#pause(pauseMs);
    }
    clearTimeout(patience);
  }

  #declareOutage(last: unknown): void {
    const why = last instanceof Error ? ` (${last.message})` : "";
    this.#outage = new StoreError("unreachable", `the database cannot be reached${why}`);
    this.#waiting?.reject(this.#outage);
    this.#waiting = null;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function longer(pauseMs: number): number {
  return Math.min(2 * pauseMs, RETRY_MS_MAX);
}

interface Waiting {
  readonly promise: Promise<Session>;
  resolve(session: Session): void;
  reject(error: StoreError): void;
}

function waiting(): Waiting {
  let settle: Pick<Waiting, "resolve" | "reject"> | null = null;
  const promise = new Promise<Session>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  return { promise, ...(settle as unknown as Pick<Waiting, "resolve" | "reject">) };
}
