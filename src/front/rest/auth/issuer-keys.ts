import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters, LocalJWKSet } from "jose";
import type { Instant } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Jwk } from "./signing-keys.ts";

/** Loads an issuer's keys. Called again when a token names an unknown key. */
export type LoadKeys = () => Promise<readonly Jwk[]>;

/** Older keys are reloaded in the background, so that withdrawn keys disappear. */
const KEYS_AGE_MS_MAX = 10 * 60_000;
/** Limits fetches from the issuer, since clients can send tokens with invented key ids. */
const LOAD_PAUSE_MS = 10_000;

/**
 * The public keys of an issuer. They are loaded for the first token, and again when a token names
 * an unknown key. While the issuer does not answer, the loaded keys keep working.
 */
export class IssuerKeys {
  /** Called with the reason when keys cannot be loaded. */
  onFailure: (error: Error) => void = () => {};
  readonly #load: LoadKeys;
  #set: LocalJWKSet | null = null;
  /** The loaded keys as text, to tell whether they have changed. */
  #text: string | null = null;
  #loadedMs = 0;
  #triedMs: number | null = null;
  /** Why the last load failed; null if it succeeded. */
  #failure: Error | null = null;
  /** The current load, shared by all callers that wait for keys. */
  #loading: Promise<void> | null = null;

  constructor(load: LoadKeys) {
    this.#load = load;
  }

  /**
   * Returns the key that a token names. Throws a jose error if there is none, and a 503 if the
   * issuer does not answer.
   */
  async find(
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
    now: Instant,
  ): Promise<CryptoKey> {
    if (this.#set === null) await this.#reload(now);
    else if (isPast(this.#loadedMs + KEYS_AGE_MS_MAX, now)) void this.#reload(now);
    const { errors } = await import("jose");
    try {
      return await this.#known()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await this.#reload(now);
    try {
      return await this.#known()(header, token);
    } catch (error) {
      // Until the issuer answers, an unknown key may be new or invented.
      const isUnknown = error instanceof errors.JWKSNoMatchingKey && this.#failure !== null;
      throw isUnknown ? unavailable(this.#failure) : error;
    }
  }

  /**
   * Loads the keys again, if they were loaded before. Returns whether they have changed. If that
   * fails, the loaded keys keep working.
   */
  async refresh(now: Instant): Promise<boolean> {
    if (this.#set === null) return false;
    // A load that has begun may have read what was there before.
    await this.#loading;
    const before = this.#text;
    this.#triedMs = null;
    await this.#reload(now);
    return this.#text !== before;
  }

  #known(): LocalJWKSet {
    if (this.#set === null) throw unavailable(this.#failure);
    return this.#set;
  }

  #reload(now: Instant): Promise<void> {
    if (this.#loading !== null) return this.#loading;
    if (this.#triedMs !== null && !isPast(this.#triedMs + LOAD_PAUSE_MS, now)) {
      return Promise.resolve();
    }
    this.#triedMs = now;
    this.#loading = this.#loadNow(now).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #loadNow(now: Instant): Promise<void> {
    try {
      const [keys, { createLocalJWKSet }] = await Promise.all([this.#load(), import("jose")]);
      this.#set = createLocalJWKSet({ keys: [...keys] });
      this.#text = JSON.stringify(keys);
      this.#loadedMs = now;
      this.#failure = null;
    } catch (error) {
      this.#failure = error as Error;
      this.onFailure(this.#failure);
    }
  }
}

/** Treats every recorded time as past if the clock was set back. */
function isPast(time: Instant, now: Instant): boolean {
  return now >= time || now < time - KEYS_AGE_MS_MAX;
}

function unavailable(failure: Error | null): Fault {
  return new Fault("ServerBusy", {
    Reason:
      "The token cannot be checked because its issuer's keys could not be loaded " +
      `(${failure?.message ?? "not yet"}). Try again later.`,
  });
}
