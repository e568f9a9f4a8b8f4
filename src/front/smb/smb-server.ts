import { randomBytes, randomInt } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { WatchedFiles } from "../../service/file/watched-store.ts";
import type { SendBudget } from "../send-budget.ts";
import type { SmbAccounts } from "./auth/authentication.ts";
import { FailedLogons, type LogonLimits } from "./auth/failed-logons.ts";
import { BreakNotices } from "./break-notices.ts";
import type { Dialect } from "./codec/negotiate.ts";
import type { Connection } from "./connection.ts";
import { DurableOpens } from "./durable-opens.ts";
import type { SmbLimits } from "./limits.ts";
import { NamedOpens } from "./named-opens.ts";
import { Session } from "./session.ts";

export type SmbEncryption = "required" | "preferred" | "off";

/** Where the server reports to. */
export interface SmbLog {
  /** Something is broken: the engine, or the program. */
  failure(what: string, error: unknown): void;
  /** Nothing is broken, but whoever runs the server should know. */
  warn(line: string): void;
}

export interface SmbServerOptions {
  readonly accounts: SmbAccounts;
  readonly files: WatchedFiles;
  /** Of this process: what it has open is marked with it. */
  readonly epoch: bigint;
  readonly encryption: SmbEncryption;
  /** Clients that can do no signing are refused. */
  readonly signingRequired: boolean;
  /** Older ones are refused in NEGOTIATE. */
  readonly dialectMin: Dialect;
  readonly clock: Clock;
  readonly limits: SmbLimits;
  /** Of the whole server. */
  readonly budget: SendBudget;
  readonly logonLimits: LogonLimits;
  readonly log: SmbLog;
}

/** Some clients keep no more than 32 bits of an id. */
const TICKS_OF_FILE_ID = 1_000n;
const SESSION_IDS = 2 ** 31;

/** What all connections share. */
export class SmbServer {
  readonly options: SmbServerOptions;
  readonly guid = randomBytes(16);
  /** What clients are told that the machine is called. */
  readonly name = "LAZULI";
  readonly sessions = new Map<number, Session>();
  readonly breakNotices: BreakNotices;
  readonly durables: DurableOpens;
  readonly namedOpens = new NamedOpens();
  readonly failedLogons: FailedLogons;
  /** Ids of a process before mean nothing here, so they should not look like ours. */
  #sessionIds = randomInt(SESSION_IDS);
  #fileIds: number;

  constructor(options: SmbServerOptions) {
    this.options = options;
    // Far beyond those of the process before, which clients may come back with.
    this.#fileIds = Number(options.epoch / TICKS_OF_FILE_ID);
    const { files, limits, logonLimits, clock, log } = options;
    const warn = (line: string) => log.warn(line);
    this.failedLogons = new FailedLogons(logonLimits, clock, files.breaks.timer, warn);
    this.durables = new DurableOpens(files, limits.durableOpensMax, log);
    this.breakNotices = new BreakNotices(this.durables);
    options.files.breaks.listen((notice) => this.breakNotices.tell(notice));
  }

  newSession(connection: Connection): Session {
    const session = new Session(++this.#sessionIds, connection);
    this.sessions.set(session.id, session);
    connection.sessions.set(session.id, session);
    return session;
  }

  newFileId(): number {
    return ++this.#fileIds;
  }
}
