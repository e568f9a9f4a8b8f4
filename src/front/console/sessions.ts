import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock, Instant } from "../../base/clock.ts";

/** The sessions that are signed in to the console. */
export interface Session {
  /** The one account that the session may see; null for the operator, who sees everything. */
  readonly account: string | null;
}

interface KnownSession extends Session {
  seenMs: Instant;
  /** Ends those that use the session all the time, such as pages that are open. */
  readonly users: Set<() => void>;
}

/** How long a session lasts that nobody uses. */
export const SESSION_MS = 12 * 3_600_000;
const SESSIONS_MAX = 64;
/** How long a client has to answer a challenge. */
const CHALLENGE_MS = 60_000;
const CHALLENGES_MAX = 256;
const SECRET_BYTES = 24;

/**
 * Sign-ins and sessions of the console. There are two ways in: the token that the server prints at
 * its start, which works once; and a challenge, answered with an HMAC by an account key that stays
 * in the browser.
 */
export class Sessions {
  /** Printed at the start, as part of the console's address. */
  readonly token = newSecret();
  readonly #clock: Clock;
  readonly #byId = new Map<string, KnownSession>();
  readonly #challenges = new Map<string, Instant>();
  readonly #onFirst: () => void;
  readonly #onNone: () => void;
  #isTokenUsed = false;

  /** `onFirst` runs when somebody is signed in, `onNone` when nobody is any more. */
  constructor(clock: Clock, onFirst: () => void, onNone: () => void) {
    this.#clock = clock;
    this.#onFirst = onFirst;
    this.#onNone = onNone;
  }

  /** Null if the id is of no session, or of one that has ended. */
  find(id: string): Session | null {
    this.expire();
    const session = this.#byId.get(id);
    if (session === undefined) return null;
    session.seenMs = this.#clock.now();
    return session;
  }

  /** Returns the id of a new session; null if the token is wrong or was used. */
  signInByToken(token: string): string | null {
    if (this.#isTokenUsed || !isSame(token, this.token)) return null;
    this.#isTokenUsed = true;
    return this.#begin(null);
  }

  newChallenge(): string {
    const now = this.#clock.now();
    for (const [challenge, untilMs] of this.#challenges) {
      if (untilMs <= now || this.#challenges.size >= CHALLENGES_MAX) {
        this.#challenges.delete(challenge);
      }
    }
    const challenge = newSecret();
    this.#challenges.set(challenge, now + CHALLENGE_MS);
    return challenge;
  }

  /** `signature` must be the HMAC of the challenge with one of the account's keys. */
  signInByKey(
    account: string,
    keys: readonly string[],
    challenge: string,
    signature: string,
  ): string | null {
    const untilMs = this.#challenges.get(challenge) ?? 0;
    this.#challenges.delete(challenge);
    if (untilMs <= this.#clock.now()) return null;
    const isRight = keys.some((key) => isSame(signature, signatureOf(challenge, key)));
    return isRight ? this.#begin(account) : null;
  }

  /**
   * Keeps a session until the returned function is called: a page may be open for days, and send
   * nothing. `end` is called if somebody signs out meanwhile.
   */
  use(id: string, end: () => void): () => void {
    const session = this.#byId.get(id);
    session?.users.add(end);
    return () => {
      if (session?.users.delete(end)) session.seenMs = this.#clock.now();
    };
  }

  signOut(id: string): void {
    const session = this.#byId.get(id);
    if (session === undefined) return;
    this.#byId.delete(id);
    for (const end of session.users) end();
    if (this.#byId.size === 0) this.#onNone();
  }

  /** Ends sessions that nobody has used for long. */
  expire(): void {
    const oldestMs = this.#clock.now() - SESSION_MS;
    for (const [id, { seenMs, users }] of this.#byId) {
      if (seenMs < oldestMs && users.size === 0) this.signOut(id);
    }
  }

  #begin(account: string | null): string {
    if (this.#byId.size >= SESSIONS_MAX) {
      const [oldest = ""] = this.#byId.keys();
      this.signOut(oldest);
    }
    const id = newSecret();
    this.#byId.set(id, { account, seenMs: this.#clock.now(), users: new Set() });
    if (this.#byId.size === 1) this.#onFirst();
    return id;
  }
}

/** The answer to a challenge. */
export function signatureOf(challenge: string, key: string): string {
  const hmac = createHmac("sha256", Buffer.from(key, "base64"));
  return hmac.update(`lazuli-console\n${challenge}`, "utf8").digest("base64");
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** Takes the same time wherever the texts differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
