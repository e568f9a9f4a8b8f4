import type { CryptoKey, FlattenedJWSInput, JWSHeaderParameters, LocalJWKSet } from "jose";
import type { Instant } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import type { Jwk } from "./signing-keys.ts";

/** Where an issuer's keys come from. It is asked again when a token names a key that is not known. */
export type LoadKeys = () => Promise<readonly Jwk[]>;

/** Keys this old are loaded again in the background, so that a key that was withdrawn goes. */
const KEYS_AGE_MS_MAX = 10 * 60_000;
/** Limits fetches from the issuer, since clients can send tokens with invented key ids. */
const LOAD_PAUSE_MS = 10_000;

/**
 * The public keys of an issuer. They are loaded when the first token comes, and again when one
 * names an unknown key. While the issuer does not answer, the keys that were loaded go on working.
 */
export class IssuerKeys {
  /** Told why keys could not be loaded. */
  onFailure: (error: Error) => void = () => {};
  readonly #load: LoadKeys;
  #set: LocalJWKSet | null = null;
  #loadedMs = 0;
  #triedMs: number | null = null;
  /** Why the last attempt failed; null if it did not. */
  #failure: Error | null = null;
  /** Everybody who waits for keys waits for the same attempt. */
  #loading: Promise<void> | null = null;

  constructor(load: LoadKeys) {
    this.#load = load;
  }

  /** The key that a token names. Throws an error of jose if there is none, and a 503 if nobody knows. */
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
      // Until the issuer answers, nobody knows whether the key is new or invented.
      const isUnknown = error instanceof errors.JWKSNoMatchingKey && this.#failure !== null;
      throw isUnknown ? unavailable(this.#failure) : error;
    }
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
      this.#loadedMs = now;
      this.#failure = null;
    } catch (error) {
      this.#failure = error as Error;
      this.onFailure(this.#failure);
    }
  }
}

/** A clock that was set back has passed every time that was taken before. */
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
