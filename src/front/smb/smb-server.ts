import { randomBytes, randomInt } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import { BYTES_AHEAD_MAX } from "../../service/file/read-ahead.ts";
import type { WatchedFiles } from "../../service/file/watched-store.ts";
import type { Outcomes } from "../outcome.ts";
import type { SendBudget } from "../send-budget.ts";
import type { SmbAccount, SmbAccounts } from "./auth/authentication.ts";
import { FailedLogons, type LogonLimits } from "./auth/failed-logons.ts";
import { BreakNotices } from "./break-notices.ts";
import type { Dialect } from "./codec/negotiate.ts";
import { DurableOpens } from "./durable-opens.ts";
import type { FileOpen, FileOpenHost } from "./file-open.ts";
import type { SmbLimits } from "./limits.ts";
import { NamedOpens } from "./named-opens.ts";
import type { Session } from "./session.ts";
import type { SmbLog } from "./smb-log.ts";

export type SmbEncryption = "required" | "preferred" | "off";

export interface SmbServerOptions {
  /** The accounts at first; see `useAccounts`. */
  readonly accounts: SmbAccounts;
  readonly files: WatchedFiles;
  /** The number of this process, with which handles are marked that it opens now. */
  readonly epoch: () => bigint;
  /** Whether other front ends serve the same shares. */
  readonly isShared: boolean;
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
  readonly log: SmbLog;
  /** Receives the outcome of every request; omitted if nobody wants them. */
  readonly outcomes?: Pick<Outcomes, "take">;
}

/** Small enough for clients that use only 32 bits of an id. */
const TICKS_OF_FILE_ID = 1_000n;
const SESSION_IDS = 2 ** 31;

/** The state that all SMB connections share. */
export class SmbServer implements FileOpenHost {
  readonly options: SmbServerOptions;
  readonly guid = randomBytes(16);
  /** The name of this machine for clients. */
  readonly name = "LAZULI";
  readonly sessions = new Map<number, Session>();
  readonly breakNotices: BreakNotices;
  readonly durables: DurableOpens;
  readonly namedOpens = new NamedOpens();
  readonly failedLogons: FailedLogons;
  readonly readAheadBudget = new MemoryBudget(BYTES_AHEAD_MAX);
  #accounts: SmbAccounts;
  /** Starts at random, so that ids of an earlier process are unlikely to match ours. */
  #sessionIds = randomInt(SESSION_IDS);
  #fileIds: number;
  #connectionIds = 0;

  constructor(options: SmbServerOptions) {
    this.options = options;
    this.#accounts = options.accounts;
    // Far beyond the ids of the process before, with which clients may reconnect.
    this.#fileIds = Number(options.epoch() / TICKS_OF_FILE_ID);
    const { files, limits, logonLimits, clock, log } = options;
    const warn = (line: string) => log.warn(line);
    this.failedLogons = new FailedLogons(logonLimits, clock, files.breaks.timer, warn);
    this.durables = new DurableOpens(files, limits.durableOpensMax, log);
    this.breakNotices = new BreakNotices(this.durables);
    options.files.breaks.listen((notice) => this.breakNotices.notify(notice));
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
    this.durables.endIf(({ account }) => !accounts.has(account));
  }

  newFileId(): number {
    return ++this.#fileIds;
  }

  /** Adds an open to the lists in which others find it. */
  register(open: FileOpen): void {
    this.breakNotices.add(open);
    this.namedOpens.add(open);
  }

  unregister(open: FileOpen): void {
    this.breakNotices.delete(open);
    this.namedOpens.delete(open);
  }
}

function isKeyOf(account: SmbAccount | undefined, passwordHash: Bytes): boolean {
  return account?.passwordHashes.some((one) => one.equals(passwordHash)) === true;
}
