import { randomBytes, timingSafeEqual } from "node:crypto";
import { type Bytes, NO_BYTES } from "../../../base/bytes.ts";
import type { Clock } from "../../../base/clock.ts";
import { fileTimeOfStamp } from "../../../base/file-time.ts";
import { stampOf } from "../../../base/stamp.ts";
import { Rc4 } from "../crypto/rc4.ts";
import { type NtStatus, STATUS, StatusError } from "../nt-status.ts";
import { DerError } from "./der.ts";
import { firstSignature, hmacMd5, isProved, userKey } from "./ntlm-keys.ts";
import {
  type Authenticate,
  isAnonymous,
  NTLM_FLAG,
  NtlmError,
  NtlmFormatError,
  readAuthenticate,
  readNegotiateFlags,
  readPairs,
  readUser,
  writeChallenge,
  writeTargetInfo,
} from "./ntlm-messages.ts";
import {
  type ClientToken,
  NEGOTIATION,
  NTLM_MECHANISM,
  readClientToken,
  writeServerToken,
} from "./spnego.ts";

/** An account as SMB sees it. */
export interface SmbAccount {
  readonly name: string;
  /** The hash of each key's text; either key gives full access. */
  readonly passwordHashes: readonly Bytes[];
}

export type SmbAccounts = ReadonlyMap<string, SmbAccount>;

/** Finds the current account of a name in lower case. */
export type FindAccount = (name: string) => SmbAccount | undefined;

export type AuthenticationStep =
  | { readonly kind: "more"; readonly token: Bytes }
  /** The last message, not checked yet. */
  | {
      readonly kind: "claim";
      /** The name that the client claims. */
      readonly user: string;
      /** Checks the claim, once. Throws a `LogonRefused`, or another `StatusError`. */
      prove(): AuthenticationDone;
    };

export interface AuthenticationDone {
  readonly token: Bytes;
  readonly account: string;
  /** The hash that proved it: of one of the account's keys. */
  readonly passwordHash: Bytes;
  readonly sessionKey: Bytes;
}

/** A refused log-on. `reason` is for the log; all reasons get the same response. */
export class LogonRefused extends StatusError {
  readonly reason: string;

  constructor(reason: string, status: NtStatus = STATUS.LOGON_FAILURE) {
    super(status);
    this.reason = reason;
  }
}

const REQUIRED = NTLM_FLAG.unicode | NTLM_FLAG.extendedSecurity;
/** The client's flags that are accepted. */
const TAKEN =
  NTLM_FLAG.unicode |
  NTLM_FLAG.sign |
  NTLM_FLAG.seal |
  NTLM_FLAG.alwaysSign |
  NTLM_FLAG.extendedSecurity |
  NTLM_FLAG.bits128 |
  NTLM_FLAG.keyExchange |
  NTLM_FLAG.bits56;
const STATED =
  NTLM_FLAG.requestTarget |
  NTLM_FLAG.ntlm |
  NTLM_FLAG.targetIsServer |
  NTLM_FLAG.targetInfo |
  NTLM_FLAG.version;

/** Stands in for missing accounts, so that refusing them takes as long as refusing a wrong key. */
const NOBODY: SmbAccount = { name: "", passwordHashes: [randomBytes(16)] };

/**
 * An authentication by NTLMv2, with or without SPNEGO, from the client's first token to the session
 * key. Older versions, guests and anonymous clients are refused.
 */
export class Authentication {
  readonly #findAccount: FindAccount;
  readonly #serverName: string;
  readonly #clock: Clock;
  readonly #challenge = randomBytes(8);
  #mechanismList: Bytes | null = null;
  #isNtlmFirst = true;
  #isBare = false;
  #negotiate: Bytes | null = null;
  #challengeMessage: Bytes | null = null;
  /** The flags and the target info in the challenge. */
  #flags = 0;
  #targetInfo: Bytes = NO_BYTES;

  constructor(findAccount: FindAccount, serverName: string, clock: Clock) {
    this.#findAccount = findAccount;
    this.#serverName = serverName;
    this.#clock = clock;
  }

  /** Takes the next token. Throws a `StatusError` if the client is refused. */
  step(bytes: Bytes): AuthenticationStep {
    return asStatus(() => this.#step(readClientToken(bytes)));
  }

  #step(client: ClientToken): AuthenticationStep {
    const isFirst = this.#challengeMessage === null;
    if (client.kind === "init") {
      if (!isFirst) throw new NtlmError("the first step was taken already");
      return this.#begin(client);
    }
    if (client.kind === "bare" && isFirst) this.#isBare = true;
    const { token } = client;
    if (token === null) throw new NtlmError("the token is missing");
    if (isFirst) return this.#sendChallenge(token, null);
    const mic = client.kind === "response" ? client.mic : null;
    const prove = () => asStatus(() => this.#finish(token, mic));
    return { kind: "claim", user: readUser(token), prove };
  }

  #begin({ mechanisms, mechanismList, token }: ClientToken & { kind: "init" }): AuthenticationStep {
    const place = mechanisms.findIndex((one) => one.equals(NTLM_MECHANISM));
    if (place < 0) throw new NtlmError("the client does not know NTLM");
    this.#mechanismList = Buffer.from(mechanismList);
    this.#isNtlmFirst = place === 0;
    if (place === 0 && token !== null) return this.#sendChallenge(token, NTLM_MECHANISM);
    // A token here is for an unknown mechanism: the client has to start again with NTLM.
    const answer = writeServerToken({
      state: NEGOTIATION.requestMic,
      mechanism: NTLM_MECHANISM,
      token: null,
      mic: null,
    });
    return { kind: "more", token: answer };
  }

  #sendChallenge(negotiate: Bytes, mechanism: Bytes | null): AuthenticationStep {
    const offered = readNegotiateFlags(negotiate);
    if ((offered & REQUIRED) !== REQUIRED) throw new NtlmError("the client offers too little");
    const time = fileTimeOfStamp(stampOf(this.#clock.now()));
    this.#flags = (offered & TAKEN) | STATED;
    this.#targetInfo = writeTargetInfo(this.#serverName, time);
    const message = writeChallenge({
      flags: this.#flags,
      serverName: this.#serverName,
      challenge: this.#challenge,
      targetInfo: this.#targetInfo,
    });
    this.#negotiate = Buffer.from(negotiate);
    this.#challengeMessage = message;
    if (this.#isBare) return { kind: "more", token: message };
    const state = NEGOTIATION.acceptIncomplete;
    return {
      kind: "more",
      token: writeServerToken({ state, mechanism, token: message, mic: null }),
    };
  }

  #finish(token: Bytes, mic: Bytes | null): AuthenticationDone {
    if (isAnonymous(token)) throw new LogonRefused("anonymous", STATUS.ACCESS_DENIED);
    const message = readAuthenticate(token);
    const account = this.#findAccount(message.user.toLowerCase()) ?? NOBODY;
    const proved = this.#proved(account, message);
    if (proved === null || account === NOBODY) throw new NtlmError("wrong account or key");
    const { key, passwordHash } = proved;
    this.#checkAgreed(message);
    const sessionKey = sessionKeyOf(key, message);
    this.#checkMic(sessionKey, message);
    const keyExchange = (message.flags & NTLM_FLAG.keyExchange) !== 0;
    const answer = this.#isBare
      ? NO_BYTES
      : this.#complete(this.#serverMic(sessionKey, keyExchange, mic));
    return { token: answer, account: account.name, passwordHash, sessionKey };
  }

  #proved(
    { passwordHashes }: SmbAccount,
    { user, domain, answer, proof }: Authenticate,
  ): { key: Bytes; passwordHash: Bytes } | null {
    const tries = passwordHashes.map((passwordHash) => ({
      passwordHash,
      key: userKey(passwordHash, user, domain),
    }));
    return tries.find(({ key }) => isProved(key, this.#challenge, answer, proof)) ?? null;
  }

  /**
   * Checks that the client repeats, under its proof, the target info and the flags of the
   * challenge. A difference means a man in the middle: without the time, for instance, clients send
   * no MIC.
   */
  #checkAgreed({ flags, pairs }: Authenticate): void {
    for (const [id, sent] of readPairs(this.#targetInfo)) {
      if (!pairs.get(id)?.equals(sent)) throw new NtlmError("the client got other target info");
    }
    const isRaised = (flags & TAKEN & ~this.#flags) !== 0;
    if (isRaised || (flags & REQUIRED) !== REQUIRED) {
      throw new NtlmError("the flags are not those agreed on");
    }
  }

  /** Checks the MIC, which covers all three messages, so that a change of any of them is found. */
  #checkMic(sessionKey: Bytes, { mic, withoutMic }: Authenticate): void {
    if (mic === null) return;
    const exchange = [this.#negotiate, this.#challengeMessage, withoutMic] as Bytes[];
    if (!timingSafeEqual(hmacMd5(sessionKey, ...exchange), mic)) {
      throw new NtlmError("the exchange was changed on the way");
    }
  }

  /** Both sides sign the list of mechanisms if tampering with it could have had an effect. */
  #serverMic(sessionKey: Bytes, keyExchange: boolean, mic: Bytes | null): Bytes | null {
    const list = this.#mechanismList;
    if (mic === null || list === null) {
      if (!this.#isNtlmFirst) throw new NtlmError("the list of mechanisms is not signed");
      return null;
    }
    const expected = firstSignature(sessionKey, "client-to-server", keyExchange, list);
    if (mic.length !== expected.length || !timingSafeEqual(mic, expected)) {
      throw new NtlmError("the list of mechanisms was changed on the way");
    }
    return firstSignature(sessionKey, "server-to-client", keyExchange, list);
  }

  #complete(mic: Bytes | null): Bytes {
    const state = NEGOTIATION.acceptCompleted;
    return writeServerToken({ state, mechanism: null, token: null, mic });
  }
}

/** Runs a step, and translates its errors into NT status codes. */
function asStatus<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof DerError || error instanceof NtlmFormatError) {
      throw new StatusError(STATUS.INVALID_PARAMETER);
    }
    if (error instanceof NtlmError) throw new LogonRefused(error.message);
    throw error;
  }
}

function sessionKeyOf(key: Bytes, { proof, flags, encryptedKey }: Authenticate): Bytes {
  const base = hmacMd5(key, proof);
  if ((flags & NTLM_FLAG.keyExchange) === 0) return base;
  if (encryptedKey.length !== base.length)
    throw new NtlmFormatError("the key has the wrong length");
  return new Rc4(base).apply(encryptedKey);
}
