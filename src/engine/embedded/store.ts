import type { Clock, Instant } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { type Stamp, stampAfter } from "../../base/stamp.ts";
import {
  type FailStop,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../../store/store.ts";
import { BodyTransaction, BodyView, runBody } from "../body-view.ts";
import { KeptStretches } from "../kept-stretches.ts";
import { isDiskFull } from "./disk-full.ts";
import { type Lmdb, openLmdb, throwReason } from "./lmdb.ts";
import { SealedRecords } from "./sealed-records.ts";

const GROUP_BODIES_MAX = 256;
const GROUP_BYTES_MAX = 8 * MIB;
/** A commit that takes longer than this is taken for one that never ends. */
export const COMMIT_MS_MAX = 60_000;
const LAST_STAMP = key(SPACE.engine, "last-stamp");

/** Opens the store in a folder that is there and belongs to this process alone. */
export async function openEmbeddedStore(
  folder: string,
  clock: Clock,
  failStop: FailStop,
): Promise<Store> {
  return new EmbeddedStore(await openLmdb(folder), folder, clock, failStop);
}

/**
 * Reads run on a snapshot of lmdb, at once. Writes are committed in groups: whatever has queued up
 * while one group was being flushed makes the next one.
 */
export class EmbeddedStore implements Store {
  readonly #lmdb: Lmdb;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #failStop: FailStop;
  readonly #records: SealedRecords;
  readonly #kept = new KeptStretches();
  readonly #waiting: Waiting[] = [];
  #committing: Promise<void> | null = null;
  /** Why calls are no longer taken. */
  #refusal: StoreError | null = null;
  #failed = false;

  constructor(lmdb: Lmdb, folder: string, clock: Clock, failStop: FailStop) {
    this.#lmdb = lmdb;
    this.#folder = folder;
    this.#clock = clock;
    this.#failStop = failStop;
    this.#records = new SealedRecords(lmdb);
  }

  async read<T>(body: (view: View) => T): Promise<T> {
    if (this.#refusal !== null) throw this.#refusal;
    // Never inside the body of a transaction, where half a group would be seen.
    await undefined;
    this.#lmdb.resetReadTxn();
    return runBody(body, new BodyView(this.#records, this.#clock.now(), this.#kept));
  }

  async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    if (this.#refusal !== null) throw this.#refusal;
    return new Promise((resolve, reject) => {
      const run = (tx: BodyTransaction) => {
        const result = runBody(body, tx);
        return () => resolve(result);
      };
      this.#waiting.push({ run, reject });
      this.#committing ??= this.#commitWaiting();
    });
  }

  async close(): Promise<void> {
    this.#refusal ??= new StoreError("broken", "the store is closed");
    await this.#committing;
    // After a failure lmdb may wait for ever for its own flush.
    if (!this.#failed) await this.#lmdb.close();
  }

  async #commitWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = new Group();
      try {
        await this.#commit(() => this.#runGroup(group));
        for (const answer of group.answers) answer();
      } catch (error) {
        if (await this.#isMerelyFull(group, error)) group.reject(fullError(error));
        else this.#fail(group, error);
      } finally {
        this.#kept.settle();
      }
    }
    this.#committing = null;
  }

  /** Runs in lmdb's write transaction, which is committed when this returns. */
  #runGroup(group: Group): void {
    const stamps = new Stamps(this.#records);
    try {
      while (group.hasRoom()) {
        const next = this.#waiting.shift();
        if (next === undefined) break;
        group.members.push(next);
        this.#runMember(next, group, stamps);
      }
      stamps.save();
    } catch (error) {
      group.applyError = error;
      throw error;
    }
  }

  #runMember(member: Waiting, group: Group, stamps: Stamps): void {
    const tx = new BodyTransaction(this.#records, this.#clock.now(), stamps.next);
    try {
      group.answers.push(member.run(tx));
    } catch (error) {
      // Even a refusal waits for the commit: it may rest on what an earlier member wrote.
      group.answers.push(() => member.reject(error));
      return;
    }
    for (const { key, value } of tx.writes) {
      this.#kept.change(key);
      if (value === null) this.#records.remove(key);
      else this.#records.put(key, value);
      group.bytes += key.length + (value?.length ?? 0);
    }
  }

  #commit(run: () => void): Promise<void> {
    const committed = this.#lmdb.transaction(() => {
      // lmdb makes two promises of one commit. A failure of this one would go unhandled.
      this.#lmdb.committed.then(ignore, ignore);
      run();
    });
    return inTime(committed.catch(throwReason));
  }

  /** Whether a commit failed for want of space and provably wrote nothing: then life goes on. */
  async #isMerelyFull(group: Group, error: unknown): Promise<boolean> {
    if (group.members.length === 0 || group.applyError !== null) return false;
    try {
      if (!(await isDiskFull(error, this.#folder))) return false;
      // lmdb writes the new root last. If just that had failed, it would begin no other transaction.
      await this.#commit(ignore);
      return true;
    } catch {
      return false;
    }
  }

  #fail(group: Group, commitError: unknown): void {
    const cause = group.applyError ?? commitError;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new StoreError("unknown", `a commit failed: ${reason}`, { cause });
    this.#failed = true;
    this.#refusal = new StoreError("broken", `the store has stopped: ${error.message}`);
    group.reject(error);
    for (const member of this.#waiting.splice(0)) member.reject(this.#refusal);
    this.#failStop(error);
  }
}

/** A transaction that waits for its turn. */
interface Waiting {
  /** Runs the body; what it returns tells the caller of its result. */
  run(tx: BodyTransaction): () => void;
  reject(error: unknown): void;
}

/** Transactions that are committed together. */
class Group {
  readonly members: Waiting[] = [];
  readonly answers: (() => void)[] = [];
  bytes = 0;
  /** Why lmdb refused one of the writes. Then it refuses the commit, too. */
  applyError: unknown = null;

  hasRoom(): boolean {
    return this.members.length < GROUP_BODIES_MAX && this.bytes < GROUP_BYTES_MAX;
  }

  reject(error: StoreError): void {
    for (const member of this.members) member.reject(error);
  }
}

/** The stamps of one group: the last one is read once and written once. */
class Stamps {
  readonly #records: SealedRecords;
  #last: Stamp | null = null;

  constructor(records: SealedRecords) {
    this.#records = records;
  }

  readonly next = (nowMs: Instant): Stamp => {
    this.#last = stampAfter(this.#last ?? this.#stored(), nowMs);
    return this.#last;
  };

  save(): void {
    if (this.#last === null) return;
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigUInt64BE(this.#last);
    this.#records.put(LAST_STAMP, bytes);
  }

  #stored(): Stamp {
    return this.#records.get(LAST_STAMP)?.readBigUInt64BE() ?? 0n;
  }
}

/** Rejects if the commit has not ended in time: after some errors lmdb's promises never settle. */
async function inTime(commit: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = COMMIT_MS_MAX / 1_000;
    const giveUp = () => reject(new Error(`the disk has not answered for ${seconds} s`));
    timer = setTimeout(giveUp, COMMIT_MS_MAX);
  });
  try {
    await Promise.race([commit, late]);
  } finally {
    clearTimeout(timer);
  }
}

function ignore(): void {}

function fullError(cause: unknown): StoreError {
  return new StoreError("full", "no space is left where the data folder is", { cause });
}
