import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { MIB } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { StoreError } from "../../store/store.ts";
import { byteaArray } from "./bytea.ts";
import { CachedState, GroupState, type GroupWrite, Needs } from "./cached-state.ts";
import type { Call } from "./call.ts";
import type { Connections } from "./connections.ts";
import type { Row } from "./driver.ts";
import { Fetching } from "./fetching.ts";
import {
  applyChanges,
  askForChanges,
  type LastCommit,
  readLastCommit,
  type TimeSource,
} from "./news.ts";
import type { RecordCache } from "./record-cache.ts";
import { refusalOf } from "./server-errors.ts";
import type { Session } from "./session.ts";
import { splitKey } from "./split-key.ts";
import {
  ADVANCE,
  BEGIN,
  COMMIT,
  DELETE_KEYS,
  LOCK_LAST,
  READ_SEQUENCE,
  READ_TIME,
  ROLLBACK,
  SET_KEYS,
} from "./statements.ts";
import type { Statement, Step } from "./wire.ts";

/** A group ends with the body that brings it to one of these. */
const GROUP_CALLS_MAX = 1_000;
const GROUP_BYTES_MAX = 16 * MIB;
/** Larger lists of keys are not noted: other front ends forget everything instead. */
const NOTED_BYTES_MAX = MIB;

export interface GroupCommitsSetup {
  readonly connections: Connections;
  readonly cache: RecordCache;
  readonly time: TimeSource;
  /** Identifies the front end. */
  readonly id: Bytes;
}

/**
 * Commits the writes of all calls that wait as one transaction of the database. The lock of the row
 * `last_commit` orders the commits of all front ends; under it, the cache shows exactly the last commit.
 */
export class GroupCommits {
  readonly #connections: Connections;
  readonly #cache: RecordCache;
  readonly #time: TimeSource;
  readonly #id: Bytes;
  #waiting: Call[] = [];
  #isRunning = false;
  /** The number of the next commit of this front end. */
  #sequence = 1;
  /** The greatest stamp that a body under the write lock was given, at any front end. */
  #lastStamp: Stamp = 0n;
  /** The greatest that a body got when it was tried. It gets the same again if it is not too late. */
  #lastTriedStamp: Stamp = 0n;

  constructor({ connections, cache, time, id }: GroupCommitsSetup) {
    this.#connections = connections;
    this.#cache = cache;
    this.#time = time;
    this.#id = id;
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
        for (const call of this.#waiting.splice(0)) call.fail(error);
      }
    }
    this.#isRunning = false;
  }

  async #commitWaiting(session: Session): Promise<void> {
    let group: Group;
    try {
      const last = await this.#lock(session);
      if (last === null) return;
      group = new Group(this.#cache, session, last, this.#lastStamp);
      await this.#fill(group);
    } catch (error) {
      this.#connections.renew(session);
      const refusal = refusalOf(error);
      if (refusal !== null) throw refusal;
      return;
    }
    await this.#finish(session, group);
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
    this.#lastStamp = greater(this.#lastStamp, last.stamp);
    return last;
  }

  /** Runs the bodies that wait by now. If that fails, they wait on. */
  async #fill(group: Group): Promise<void> {
    this.#cache.makeRoom();
    this.#cache.hold();
    try {
      while (this.#waiting.length > 0 && !group.isFull) {
        const call = this.#waiting[0] as Call;
        await group.run(call);
        this.#waiting.shift();
      }
      this.#lastStamp = group.lastStamp;
    } catch (error) {
      this.#waiting.unshift(...group.calls);
      throw error;
    } finally {
      this.#cache.release();
    }
  }

  async #finish(session: Session, group: Group): Promise<void> {
    if (!group.isCommitNeeded) return this.#release(session, group);
    const sequence = this.#sequence;
    try {
      await session.write.run(group.commitSteps(this.#id, sequence));
    } catch (error) {
      this.#connections.renew(session);
      return this.#findOut(group, sequence, error);
    }
    this.#sequence++;
    // A read may have told of this commit already, and of later ones.
    const isNews = this.#connections.isCurrent(session) && group.isNextOf(this.#cache);
    if (isNews) this.#cache.advanceByOwn(group.number, group.copyOfWrites());
    for (const call of group.calls) call.settle();
  }

  /** Ends a group in which nothing was written. Its outcomes hold if the lock was held till now. */
  async #release(session: Session, group: Group): Promise<void> {
    try {
      await session.write.run([plain(ROLLBACK)]);
    } catch {
      this.#connections.renew(session);
      this.#waiting.unshift(...group.calls);
      return;
    }
    for (const call of group.calls) call.settle();
  }

  /** The answer to a commit was lost, or an error: looks whether it took effect. */
  async #findOut(group: Group, sequence: number, error: unknown): Promise<void> {
    try {
      const isCommitted = await this.#isCommitted(sequence);
      if (isCommitted) {
        this.#sequence++;
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

  /** Waits for the write lock first: a commit that is still under way has it. */
  async #isCommitted(sequence: number): Promise<boolean> {
    for (;;) {
      const session = await this.#connections.get();
      try {
        const look = { statement: READ_SEQUENCE, values: [this.#id] };
        const steps = [plain(BEGIN), plain(LOCK_LAST), look, plain(ROLLBACK)];
        const [, , [[last] = []] = []] = await session.write.run(steps);
        return Number(last ?? 0) >= sequence;
      } catch {
        this.#connections.renew(session);
      }
    }
  }
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

/** Calls whose writes are committed together. */
class Group {
  readonly calls: Call[] = [];
  readonly number: number;
  readonly #last: LastCommit;
  readonly #session: Session;
  readonly #cache: RecordCache;
  readonly #cached: CachedState;
  readonly #state: GroupState;
  #lastStamp: Stamp;
  #tookStamp = false;

  constructor(cache: RecordCache, session: Session, last: LastCommit, lastStamp: Stamp) {
    this.#cache = cache;
    this.#session = session;
    this.#last = last;
    this.number = last.number + 1;
    this.#cached = new CachedState(cache, true);
    this.#state = new GroupState(this.#cached);
    this.#lastStamp = greater(lastStamp, last.stamp);
  }

  get isFull(): boolean {
    return this.calls.length >= GROUP_CALLS_MAX || this.#state.bytes >= GROUP_BYTES_MAX;
  }

  get isCommitNeeded(): boolean {
    return this.#state.size > 0 || this.#tookStamp;
  }

  get lastStamp(): Stamp {
    return this.#lastStamp;
  }

  isNextOf({ number }: RecordCache): boolean {
    return number === this.#last.number;
  }

  /** Runs a body on the writes of those before it, and fetches what it lacks. */
  async run(call: Call): Promise<void> {
    call.beginStampsAfter(this.#lastStamp);
    while (!call.run(this.#cached, this.#state, this.#last.nowMs)) await this.#fetch(call);
    for (const write of call.writes) this.#state.apply(write);
    this.#lastStamp = greater(this.#lastStamp, call.lastStamp);
    if (call.tookStamp) this.#tookStamp = true;
    this.calls.push(call);
  }

  /** Bodies were tried before, so that this is rare: everybody else waits for the lock. */
  async #fetch({ rounds }: Call): Promise<void> {
    const { needs } = this.#cached;
    this.#cached.needs = new Needs();
    const fetching = new Fetching([{ needs, rounds }]);
    const fetch = this.#cache.beginFetch();
    try {
      const answers = await this.#session.write.run(fetching.steps);
      fetching.learn(this.#cache, fetch, this.#last.number, answers as Row[][]);
    } finally {
      this.#cache.endFetch(fetch);
    }
  }

  commitSteps(id: Bytes, sequence: number): Step[] {
    const writes = [...this.#state.writes];
    const steps: Step[] = [];
    const set = writes.filter(({ value }) => value !== null);
    const dead = writes.filter(({ value }) => value === null);
    if (set.length > 0) {
      const values = byteaArray(set.map(({ value }) => value));
      const { heads, digests, rests } = splitKeys(set);
      steps.push({ statement: SET_KEYS, values: [heads, digests, rests, values] });
    }
    if (dead.length > 0) {
      const { heads, digests } = splitKeys(dead);
      steps.push({ statement: DELETE_KEYS, values: [heads, digests] });
    }
    const { nowMs } = this.#last;
    const numbers = [`${sequence}`, `${this.#lastStamp}`, `${Math.floor(nowMs)}`];
    const noted = notedKeys(writes);
    steps.push({ statement: ADVANCE, values: [`${this.number}`, noted, id, ...numbers] });
    steps.push(plain(COMMIT));
    return steps;
  }

  /** Copies, because the buffers belong to the callers again once they are answered. */
  copyOfWrites(): { key: Bytes; value: Bytes | null }[] {
    return [...this.#state.writes].map(({ key, value }) => ({
      key,
      value: value === null ? null : Buffer.from(value),
    }));
  }
}

function splitKeys(writes: readonly GroupWrite[]) {
  const split = writes.map(({ key }) => splitKey(key));
  return {
    heads: byteaArray(split.map(({ head }) => head)),
    digests: byteaArray(split.map(({ digest }) => digest)),
    rests: byteaArray(split.map(({ rest }) => rest)),
  };
}

function notedKeys(writes: readonly GroupWrite[]): Bytes | null {
  let bytes = 0;
  for (const { key } of writes) bytes += key.length;
  return bytes > NOTED_BYTES_MAX ? null : byteaArray(writes.map(({ key }) => key));
}
