import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import { StoreError } from "../../store/store.ts";
import { byteaArray } from "./bytea.ts";
import type { CachedState } from "./cached-state.ts";
import type { Call } from "./call.ts";
import { advance, CommitGroup } from "./commit-group.ts";
import type { Connections } from "./connections.ts";
import type { Row } from "./driver.ts";
import type { PostgresFigures } from "./figures.ts";
import {
  applyChanges,
  askForChanges,
  type LastCommit,
  readLastCommit,
  type TimeSource,
} from "./news.ts";
import { Patience } from "./patience.ts";
import type { RecordCache } from "./record-cache.ts";
import { codeOf, refusalOf } from "./server-errors.ts";
import type { Session } from "./session.ts";
import {
  BEGIN,
  COMMIT,
  LOCK_LAST,
  READ_LAST,
  READ_SEQUENCE,
  READ_TIME,
  ROLLBACK,
} from "./statements.ts";
import type { Statement, Step } from "./wire.ts";

export interface GroupCommitsSetup {
  readonly connections: Connections;
  readonly cache: RecordCache;
  readonly time: TimeSource;
  readonly figures: PostgresFigures;
  /** Identifies the front end. */
  readonly id: Bytes;
  /** A commit without the write lock has to arrive so soon after its bodies have run. */
  readonly idleMs: number;
  /** Calls wait this long for a database that takes no commits, beside the attempt under way. */
  readonly patienceMs: number;
  /** Called with the number of each commit. */
  onCommit(number: number): void;
}

/**
 * Commits the writes of all calls that wait as one transaction of the database. The row `last_commit`
 * orders the commits of all front ends. There are two ways:
 * - In two round trips: the first locks the row and brings the cache to the last commit, then the
 *   bodies run, and the second commits.
 * - In one round trip, while nobody else commits: the bodies run on the cache, and the commit takes
 *   effect only if the cache's commit is still the last one. Otherwise they run again, under the lock.
 */
export class GroupCommits {
  readonly #connections: Connections;
  readonly #cache: RecordCache;
  readonly #time: TimeSource;
  readonly #figures: PostgresFigures;
  readonly #id: Bytes;
  readonly #idleMs: number;
  readonly #onCommit: (number: number) => void;
  readonly #patience: Patience;
  #waiting: Call[] = [];
  #isRunning = false;
  /** The number of the next batch with a commit. No two batches share a number: see `#finish`. */
  #sequence = 1;
  /** The greatest stamp that a body under the write lock was given, at any front end. */
  #lastStamp: Stamp = 0n;
  /** The greatest that a body got when it was tried. It gets the same again if it is not too late. */
  #lastTriedStamp: Stamp = 0n;
  /** The last commit of this front end. In a later session, the database may not have it any more. */
  #own: (Pick<LastCommit, "number" | "nowMs"> & { readonly session: Session }) | null = null;
  /** Whether nobody else had committed since, when it was last looked. */
  #isAlone = false;

  constructor(setup: GroupCommitsSetup) {
    const { connections, cache, time, figures, id, idleMs, patienceMs, onCommit } = setup;
    this.#connections = connections;
    this.#cache = cache;
    this.#time = time;
    this.#figures = figures;
    this.#id = id;
    this.#idleMs = idleMs;
    this.#onCommit = onCommit;
    const failWaiting = (error: unknown) => this.#failWaiting(error);
    this.#patience = new Patience(patienceMs, "takes no commits", failWaiting);
  }

  /** Why the database takes no commits, although it can be reached; null if it does. */
  get outage(): StoreError | null {
    return this.#patience.outage;
  }

  close(): void {
    this.#patience.close();
  }

  /** Runs a body on the cache, only to see what it lacks. False if it lacks something. */
  try(call: Call, cached: CachedState, nowMs: Instant): boolean {
    // Records that the cache shows may have stamps of other front ends: none is given again.
    const last = greater(this.#lastStamp, this.#cache.lastStamp);
    call.beginStampsAfter(call.rounds === 0 ? greater(last, this.#lastTriedStamp) : last);
    const lacksNothing = call.run(cached, cached, nowMs);
    this.#lastTriedStamp = greater(this.#lastTriedStamp, call.lastStamp);
    call.discard();
    return lacksNothing;
  }

  add(call: Call): void {
    this.#waiting.push(call);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      try {
        await this.#commitWaiting(await this.#connections.get());
      } catch (error) {
        this.#failWaiting(error);
      }
    }
    this.#isRunning = false;
  }

  /** Nothing of a call that waits is stored, or on its way to the database. */
  #failWaiting(error: unknown): void {
    for (const call of this.#waiting.splice(0)) call.fail(error);
  }

  async #commitWaiting(session: Session): Promise<void> {
    const begunMs = performance.now();
    if (this.#isAlone) {
      // Calls of this iteration of the event loop share a group.
      await new Promise(setImmediate);
      if (!this.#connections.isCurrent(session)) return;
      const group = this.#runOnCache(session);
      if (group !== null) return this.#finish(session, group, begunMs);
    }
    let group: CommitGroup;
    try {
      const last = await this.#lock(session);
      if (last === null) return;
      group = new CommitGroup(this.#cache, last, null);
      await this.#fill(group, session);
    } catch (error) {
      this.#connections.renew(session);
      const refusal = refusalOf(error);
      if (refusal !== null) throw refusal;
      this.#patience.failed(error);
      return;
    }
    await this.#finish(session, group, begunMs);
  }

  /** Runs bodies on the cache. Null if it is not as of the last own commit, or lacks something. */
  #runOnCache(session: Session): CommitGroup | null {
    const own = this.#own;
    if (own?.session !== session || own.number !== this.#cache.number) return null;
    const { database, test } = this.#time;
    const nowMs = Math.max((test ?? database).now(), own.nowMs);
    const last = { number: own.number, stamp: this.#lastStamp, nowMs };
    const group = new CommitGroup(this.#cache, last, database.now() + this.#idleMs);
    this.#cache.makeRoom();
    while (this.#waiting.length > 0 && !group.isFull) {
      if (!group.run(this.#waiting[0] as Call)) break;
      this.#waiting.shift();
    }
    this.#lastStamp = group.lastStamp;
    return group.calls.length > 0 ? group : null;
  }

  /** Takes the write lock and learns of all commits. Null if the connection was lost meanwhile. */
  async #lock(session: Session): Promise<LastCommit | null> {
    const changes = askForChanges(this.#cache);
    const steps = [plain(BEGIN), plain(LOCK_LAST), plain(READ_TIME), changes];
    const answers = await session.write.run(steps);
    if (!this.#connections.isCurrent(session)) return null;
    const [, [row = []] = [], [[databaseMs] = []] = [], changed = []] = answers as Row[][];
    const last = readLastCommit(row, databaseMs, this.#time);
    applyChanges(this.#cache, last, changed);
    this.#isAlone = last.number === this.#own?.number;
    this.#lastStamp = greater(this.#lastStamp, last.stamp);
    return { ...last, stamp: this.#lastStamp };
  }

  /** Runs the bodies that wait by now, under the lock. If that fails, they wait on. */
  async #fill(group: CommitGroup, { write }: Session): Promise<void> {
    this.#cache.makeRoom();
    this.#cache.hold();
    let next: Call | undefined;
    try {
      while (!group.isFull) {
        // Taken out first: `#failWaiting` may be called during a fetch, and must not end this call.
        next = this.#waiting.shift();
        if (next === undefined) break;
        // Bodies were tried before, so that fetches are rare.
        while (!group.run(next)) await group.fetch(next, write);
      }
      this.#lastStamp = group.lastStamp;
    } catch (error) {
      this.#waiting.unshift(...group.calls, ...(next === undefined ? [] : [next]));
      throw error;
    } finally {
      this.#cache.release();
    }
  }

  async #finish(session: Session, group: CommitGroup, begunMs: number): Promise<void> {
    if (!group.isCommitNeeded) return this.#release(session, group);
    // Used up at once, whatever becomes of the batch. If two batches had the same number, the effect
    // of one would be taken for that of the other: a write whose outcome was "unknown" would answer
    // for a later one, and the writes of a batch that arrives late would join the later commit.
    const sequence = this.#sequence++;
    const steps = group.commitSteps({ id: this.#id, sequence });
    if (group.untilMs === null) steps.push(plain(COMMIT));
    let advanced: readonly Row[] | undefined;
    try {
      [advanced] = await session.write.run(steps);
    } catch (error) {
      this.#connections.renew(session);
      this.#figures.answersLost++;
      if (refusalOf(error) === null) this.#patience.failed(error);
      return this.#findOut(group, sequence, error);
    }
    const [row] = advanced as readonly Row[];
    if (row === undefined) return this.#runAgain(group);
    this.#patience.succeeded();
    this.#time.database.hear(Number(row[0]));
    this.#own = { session, number: group.number, nowMs: group.nowMs };
    this.#figures.noteCommit(group.calls.length, begunMs);
    // A read may have told of this commit already, and of later ones.
    const isNews = this.#connections.isCurrent(session) && group.isNextOf(this.#cache);
    if (isNews) this.#cache.advanceByOwn(group.number, group.copyOfWrites());
    for (const call of group.calls) call.settle();
    this.#onCommit(group.number);
  }

  /**
   * Ends a group in which nothing was written. Its outcomes hold if the lock was held till now, or if
   * the commit on which the bodies ran is still the last one.
   */
  async #release(session: Session, group: CommitGroup): Promise<void> {
    const look = plain(group.untilMs === null ? ROLLBACK : READ_LAST);
    try {
      const [[row] = []] = await session.write.run([look]);
      if (row !== undefined && Number(row[0]) !== group.number - 1) return this.#runAgain(group);
      if (group.untilMs === null) this.#patience.succeeded();
    } catch (error) {
      this.#connections.renew(session);
      this.#patience.failed(error);
      this.#waiting.unshift(...group.calls);
      return;
    }
    for (const call of group.calls) call.settle();
  }

  /** Another front end has committed meanwhile, or the group came too late. */
  #runAgain(group: CommitGroup): void {
    this.#isAlone = false;
    this.#waiting.unshift(...group.calls);
  }

  /** The answer to a commit was lost, or an error: looks whether it took effect. */
  async #findOut(group: CommitGroup, sequence: number, error: unknown): Promise<void> {
    try {
      // After an error of the server, nothing of the batch is still on its way.
      const mayArrive = group.untilMs !== null && codeOf(error) === null;
      if (await this.#isCommitted(sequence, mayArrive)) {
        for (const call of group.calls) call.settle();
        return;
      }
    } catch (outage) {
      for (const call of group.calls) call.fail(unknownOutcome(call, outage));
      return;
    }
    const refusal = refusalOf(error);
    if (refusal === null) this.#waiting.unshift(...group.calls);
    else for (const call of group.calls) call.fail(refusal);
  }

  /**
   * Waits for the write lock first: a commit that is still under way may have it. In two cases it
   * makes a commit without writes then. A batch that may still arrive must not take effect once it
   * is called lost: it comes too late behind another commit. And for one that is there, the server
   * may have ceased to wait for its standby: the next commit waits for that again.
   */
  async #isCommitted(sequence: number, mayArrive: boolean): Promise<boolean> {
    for (;;) {
      const session = await this.#connections.get();
      try {
        const look = { statement: READ_SEQUENCE, values: [this.#id] };
        const steps = [plain(BEGIN), plain(LOCK_LAST), look];
        const [, [row = []] = [], [[found] = []] = []] = await session.write.run(steps);
        const last = Number(found ?? 0);
        const isThere = last >= sequence;
        if (!isThere && !mayArrive) {
          await session.write.run([plain(ROLLBACK)]);
          return false;
        }
        await session.write.run([followingCommit(row, this.#id, last), plain(COMMIT)]);
        this.#patience.succeeded();
        return isThere;
      } catch (error) {
        this.#connections.renew(session);
        const refusal = refusalOf(error);
        if (refusal !== null) throw refusal;
        this.#patience.failed(error);
        if (this.#patience.outage !== null) throw this.#patience.outage;
      }
    }
  }
}

/** A commit without writes, which leaves the number of the front end's last batch as it was. */
function followingCommit([number, stamp, milliseconds]: Row, id: Bytes, sequence: number): Step {
  const next = { number: Number(number) + 1, stamp: BigInt(stamp as string) };
  const last = { ...next, nowMs: Number(milliseconds) };
  return advance(last, { id, sequence }, { keys: byteaArray([]), untilMs: null });
}

function plain(statement: Statement): Step {
  return { statement, values: [] };
}

function greater(one: Stamp, other: Stamp): Stamp {
  return one > other ? one : other;
}

function unknownOutcome(call: Call, outage: unknown): unknown {
  if (call.writes.length === 0 && !call.tookStamp) return outage;
  return new StoreError("unknown", "the database was lost during a commit", { cause: outage });
}
