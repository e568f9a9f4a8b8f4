import { randomBytes } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import type { Clock, Instant } from "../../base/clock.ts";
import { KEY_BYTES_MAX } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import {
  type ChangeListener,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../../store/store.ts";
import { runBody } from "../body-view.ts";
import { ChangeListeners } from "../change-listeners.ts";
import type { PostgresAddress } from "./address.ts";
import { ReadView } from "./body-views.ts";
import { CachedState, Needs } from "./cached-state.ts";
import { Call } from "./call.ts";
import { Connections } from "./connections.ts";
import { DatabaseClock } from "./database-clock.ts";
import { loadDriver } from "./driver.ts";
import { PostgresFigures } from "./figures.ts";
import { GroupCommits } from "./group-commits.ts";
import type { LastCommit, TimeSource } from "./news.ts";
import { RecordCache } from "./record-cache.ts";
import { TIMES, type Times } from "./session.ts";
import { SharedReads } from "./shared-reads.ts";

export const CACHE_BYTES_MAX = 128 * MIB;
const ID_BYTES = 16;
/** Several commits within this time share a notification. */
const TELL_MS = 10;

export interface PostgresStoreOptions {
  readonly times?: Partial<Times>;
  readonly cacheBytesMax?: number;
  /** Whether it may make the schema, or bring it up to date. Default: yes. */
  readonly makesSchema?: boolean;
  /** For tests: a clock instead of the database's time. */
  readonly clock?: Clock;
}

/**
 * Opens the store in a database, and makes its schema if it has none. Rejects with an Error that
 * says in one line why it cannot be used.
 */
export async function openPostgresStore(
  address: PostgresAddress,
  options: PostgresStoreOptions = {},
): Promise<PostgresStore> {
  const driver = await loadDriver();
  const id = randomBytes(ID_BYTES);
  const times = { ...TIMES, ...options.times };
  const listeners = new ChangeListeners();
  const tell: ChangeListener = (keys) => listeners.tell(keys);
  const cache = new RecordCache(options.cacheBytesMax ?? CACHE_BYTES_MAX, tell);
  // After a crash or failover the database may have lost commits that the cache shows.
  const onSession = () => cache.forget(null);
  const { makesSchema = true } = options;
  const setup = { driver, address, id: id.toString("hex"), times, makesSchema };
  const figures = new PostgresFigures();
  let onNotice: (number: number) => void = () => {};
  const connections = new Connections(setup, figures, onSession, (number) => onNotice(number));
  const { cluster, frontEnd } = await connections.open();
  const time = { database: new DatabaseClock(), test: options.clock ?? null };
  const store = new PostgresStore({
    ...{ connections, cache, listeners, time, figures, id, cluster, frontEnd },
    times,
  });
  onNotice = (number) => store.hear(number);
  try {
    // The clock is right before anyone asks for the time.
    await store.read(() => null);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

interface Parts {
  readonly connections: Connections;
  readonly cache: RecordCache;
  readonly listeners: ChangeListeners;
  readonly time: TimeSource;
  readonly figures: PostgresFigures;
  readonly id: Bytes;
  readonly times: Times;
  readonly cluster: string;
  readonly frontEnd: number;
}

/** A run of a body that reads. */
interface Round {
  /** What the round before lacked. */
  readonly needs: Needs;
  /** How many rounds came before. */
  readonly rounds: number;
  /** The time of the first round, which is that of all; null for the first one. */
  readonly nowMs: Instant | null;
}

/**
 * The records of many front ends, in a PostgreSQL database. Bodies run on a cache in this process,
 * which is brought up to date before. What it lacks is fetched, and the body runs again.
 */
export class PostgresStore implements Store {
  readonly keyBytesMax = KEY_BYTES_MAX;
  /** Identifies the front ends that share this store. */
  readonly cluster: string;
  /** The number of this front end, which no other one has at any time. */
  readonly frontEnd: number;
  readonly figures: PostgresFigures;
  readonly #connections: Connections;
  readonly #cache: RecordCache;
  readonly #time: TimeSource;
  readonly #reads: SharedReads;
  readonly #commits: GroupCommits;
  readonly #listeners: ChangeListeners;
  readonly #pollMs: number;
  #polling: NodeJS.Timeout | null = null;
  #telling: NodeJS.Timeout | null = null;
  #toTell: number | null = null;
  #isClosed = false;
  #callsUnderWay = 0;
  #onLastCall: () => void = () => {};

  constructor(parts: Parts) {
    const { connections, cache, listeners, time, times, figures, cluster } = parts;
    this.figures = figures;
    this.#listeners = listeners;
    this.cluster = cluster;
    this.frontEnd = parts.frontEnd;
    this.#connections = connections;
    this.#cache = cache;
    this.#time = time;
    const { idleMs, patienceMs } = times;
    this.#reads = new SharedReads(connections, cache, time, figures, patienceMs);
    this.#pollMs = times.pollMs;
    const onCommit = (number: number) => this.#tell(number);
    this.#commits = new GroupCommits({ ...parts, idleMs, patienceMs, onCommit });
  }

  /** Memory that the cache takes. */
  get cacheBytes(): number {
    return this.#cache.bytes;
  }

  /** The database's time. */
  get clock(): Clock {
    return this.#time.test ?? this.#time.database;
  }

  read<T>(body: (view: View) => T): Promise<T> {
    const first = { needs: new Needs(), rounds: 0, nowMs: null };
    return this.#call((resolve, reject) => this.#read(body, resolve, reject, first));
  }

  transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.#call<T>((resolve, reject) => {
      const call = new Call(body, resolve as (result: unknown) => void, reject);
      // Not at once: a body never runs inside the body of another call.
      queueMicrotask(() => this.#try(call));
    });
  }

  changes(listener: ChangeListener): () => void {
    this.#polling ??= setInterval(() => this.#poll(), this.#pollMs).unref();
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#polling !== null) clearInterval(this.#polling);
    if (this.#telling !== null) clearTimeout(this.#telling);
    if (this.#callsUnderWay > 0) {
      await new Promise<void>((resolve) => {
        this.#onLastCall = resolve;
      });
    }
    this.#commits.close();
    this.#reads.close();
    await this.#connections.close();
  }

  /** Rejects with the reason if reads or commits fail at the moment. */
  async reach(): Promise<void> {
    await this.read(() => null);
    const { outage } = this.#commits;
    if (outage !== null) throw outage;
  }

  /** Learns of a commit that a front end tells of, unless the cache shows it already. */
  hear(number: number): void {
    // Calls under way mostly bring the commit along.
    if (this.#callsUnderWay === 0) this.#learn(number);
    else setTimeout(() => this.#learn(number), TELL_MS).unref();
  }

  #learn(number: number): void {
    if (this.#isClosed || !this.#listeners.areThere || (this.#cache.number ?? 0) >= number) return;
    this.#look();
  }

  /** Tells other front ends of a commit at once, and of those that follow it soon a little later. */
  #tell(number: number): void {
    this.#toTell = number;
    if (this.#telling === null && !this.#isClosed) this.#tellNow();
  }

  #tellNow(): void {
    const number = this.#toTell;
    this.#toTell = null;
    this.#telling = null;
    if (number === null) return;
    this.#reads.tell(number);
    this.#telling = setTimeout(() => this.#tellNow(), TELL_MS).unref();
  }

  /**
   * Learns of commits at other front ends, unless a call of this one does so anyway: notifications
   * may be lost.
   */
  #poll(): void {
    if (this.#callsUnderWay > 0 || !this.#listeners.areThere || this.#isClosed) return;
    this.#look();
  }

  #look(): void {
    // An outage is reported to those who need the records.
    this.read(() => null).catch(() => {});
  }

  async #call<T>(
    begin: (resolve: (result: T) => void, reject: (error: unknown) => void) => void,
  ): Promise<T> {
    if (this.#isClosed) throw new StoreError("broken", "the store is closed");
    this.#callsUnderWay++;
    try {
      return await new Promise<T>(begin);
    } finally {
      this.#callsUnderWay--;
      if (this.#callsUnderWay === 0) this.#onLastCall();
    }
  }

  #read<T>(
    body: (view: View) => T,
    resolve: (result: T) => void,
    reject: (error: unknown) => void,
    { needs, rounds, nowMs: firstMs }: Round,
  ): void {
    const run = (last: LastCommit) => {
      const nowMs = firstMs ?? last.nowMs;
      const cached = new CachedState(this.#cache, false);
      const view = new ReadView(cached, nowMs, this.#cache.derived);
      const outcome = outcomeOf(() => runBody(body, view));
      if (cached.lacksNothing) {
        if (rounds === 0) this.figures.readsFromCache++;
        else this.figures.readsWithFetch++;
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.result);
      } else {
        view.discard();
        this.#read(body, resolve, reject, { needs: cached.needs, rounds: rounds + 1, nowMs });
      }
    };
    this.#reads.add({ needs, rounds, run, fail: reject });
  }

  /**
   * Runs a body to see what it lacks, before it joins a group: fetching under the write lock would
   * make all front ends wait.
   */
  #try(call: Call): void {
    const cached = new CachedState(this.#cache, true);
    if (this.#commits.try(call, cached, call.triedMs(this.clock))) {
      this.#commits.add(call);
      return;
    }
    const { needs } = cached;
    const { rounds } = call;
    const fail = (error: unknown) => call.fail(error);
    this.#reads.add({ needs, rounds, run: () => this.#try(call), fail });
  }
}

function outcomeOf<T>(run: () => T): { readonly result: T } | { readonly error: unknown } {
  try {
    return { result: run() };
  } catch (error) {
    return { error };
  }
}
