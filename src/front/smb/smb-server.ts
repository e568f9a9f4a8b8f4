import { randomBytes, randomInt } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import { systemTimer, type Timer } from "../../service/file/cache-breaks.ts";
import { BYTES_AHEAD_MAX } from "../../service/file/read-ahead.ts";
import type { Outcomes } from "../outcome.ts";
import type { SendBudget } from "../send-budget.ts";
import type { SmbAccount, SmbAccounts } from "./auth/authentication.ts";
import { FailedLogons, type LogonLimits } from "./auth/failed-logons.ts";
import type { Dialect } from "./codec/negotiate.ts";
import { FileHost, type StoredShares } from "./file-host.ts";
import type { SmbLimits } from "./limits.ts";
import type { Session } from "./session.ts";
import type { SmbGate } from "./smb-gate.ts";
import type { SmbLog } from "./smb-log.ts";

export type SmbEncryption = "required" | "preferred" | "off";

export interface SmbServerOptions {
  /** The accounts at first; see `useAccounts`. */
  readonly accounts: SmbAccounts;
  /** Where the shares are at first; see `useShares`. */
  readonly shares: ShareStores;
  readonly encryption: SmbEncryption;
  /** Whether clients that cannot sign are refused. */
  readonly signingRequired: boolean;
  /** The oldest dialect; NEGOTIATE refuses older ones. */
  readonly dialectMin: Dialect;
  readonly clock: Clock;
  readonly limits: SmbLimits;
  /** The send budget of the whole server. */
  readonly budget: SendBudget;
  readonly logonLimits: LogonLimits;
  /** Delays the answers to failed log-ons; by default the system's. */
  readonly timer?: Timer | undefined;
  readonly log: SmbLog;
  /** Receives the outcome of every request; omitted if nobody wants them. */
  readonly outcomes?: Pick<Outcomes, "take">;
  /** Omitted without a lab. */
  readonly gate?: SmbGate | undefined;
}

/** Where the shares of all accounts are. */
export interface ShareStores {
  readonly all: readonly StoredShares[];
  /** Throws if the account's shares cannot be reached at the moment. */
  of(account: string): StoredShares;
}

/** The shares of all accounts are in one place. */
export function sharesInOne(stored: StoredShares): ShareStores {
  return { all: [stored], of: () => stored };
}

const SESSION_IDS = 2 ** 31;

/** The state that all SMB connections share. */
export class SmbServer {
  readonly options: SmbServerOptions;
  readonly guid = randomBytes(16);
  /** The name of this machine for clients. */
  readonly name = "LAZULI";
  readonly sessions = new Map<number, Session>();
  readonly failedLogons: FailedLogons;
  readonly readAheadBudget = new MemoryBudget(BYTES_AHEAD_MAX);
  #accounts: SmbAccounts;
  #shares: ShareStores;
  #hosts: ReadonlyMap<StoredShares, FileHost> = new Map();
  /** Starts at random, so that ids of an earlier process are unlikely to match ours. */
  #sessionIds = randomInt(SESSION_IDS);
  #connectionIds = 0;

  constructor(options: SmbServerOptions) {
    this.options = options;
    this.#accounts = options.accounts;
    const { logonLimits, clock, log, timer = systemTimer, shares } = options;
    const warn = (line: string) => log.warn(line);
    this.failedLogons = new FailedLogons(logonLimits, clock, timer, warn);
    this.#shares = shares;
    this.useShares(shares);
  }

  newSessionId(): number {
    return ++this.#sessionIds;
  }

  newConnectionId(): number {
    return ++this.#connectionIds;
  }

  get accounts(): SmbAccounts {
    return this.#accounts;
  }

  /**
   * Replaces the accounts. Sessions end whose account is gone, or whose client logged on with a key
   * that is gone: a key is taken away because somebody else may know it.
   */
  useAccounts(accounts: SmbAccounts): void {
    this.#accounts = accounts;
    const ended = [...this.sessions.values()].filter(
      ({ account, passwordHash }) =>
        account !== "" && !isKeyOf(accounts.get(account), passwordHash),
    );
    for (const session of ended) void session.close();
    for (const { durables } of this.hosts) durables.endIf(({ account }) => !accounts.has(account));
  }

  /** Serves shares from other places. Clients of those that are gone must have been dropped. */
  useShares(shares: ShareStores): void {
    const { readAheadBudget } = this;
    const parts = { ...this.options, readAheadBudget };
    this.#shares = shares;
    this.#hosts = new Map(
      shares.all.map((one) => [one, this.#hosts.get(one) ?? new FileHost(one, parts)]),
    );
  }

  get hosts(): Iterable<FileHost> {
    return this.#hosts.values();
  }

  /** Where an account's shares are. Throws if they cannot be reached at the moment. */
  hostOf(account: string): FileHost {
    const host = this.hostAt(this.#shares.of(account));
    if (host === null) throw new Error(`the shares of the account ${account} are nowhere`);
    return host;
  }

  /** Null if shares are not served from there any more. */
  hostAt(stored: StoredShares): FileHost | null {
    return this.#hosts.get(stored) ?? null;
  }
}

function isKeyOf(account: SmbAccount | undefined, passwordHash: Bytes): boolean {
  return account?.passwordHashes.some((one) => one.equals(passwordHash)) === true;
}
