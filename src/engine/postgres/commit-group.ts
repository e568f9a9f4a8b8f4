import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { MIB } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { byteaArray } from "./bytea.ts";
import { CachedState, GroupState, type GroupWrite } from "./cached-state.ts";
import type { Call } from "./call.ts";
import type { Row } from "./driver.ts";
import { Fetching } from "./fetching.ts";
import type { LastCommit } from "./news.ts";
import type { RecordCache } from "./record-cache.ts";
import { splitKey } from "./split-key.ts";
import { ADVANCE, DELETE_KEYS, SET_KEYS } from "./statements.ts";
import type { Step, Wire } from "./wire.ts";

/** A group ends with the body that brings it to one of these. */
const CALLS_MAX = 1_000;
const BYTES_MAX = 16 * MIB;
/** Larger lists of keys are not noted: other front ends forget everything instead. */
const NOTED_BYTES_MAX = MIB;

/** The row of a front end that a commit changes, too. */
export interface CommitOf {
  /** Identifies the front end. */
  readonly id: Bytes;
  /** The number of the commit among those of the front end. */
  readonly sequence: number;
}

/** Calls whose writes are committed together, on top of the last commit. */
export class CommitGroup {
  readonly calls: Call[] = [];
  readonly number: number;
  /** The time of the database from which on it commits nothing; null if it has the write lock. */
  readonly untilMs: Instant | null;
  readonly #last: LastCommit;
  readonly #cache: RecordCache;
  readonly #cached: CachedState;
  readonly #state: GroupState;
  #lastStamp: Stamp;
  #tookStamp = false;

  constructor(cache: RecordCache, last: LastCommit, untilMs: Instant | null) {
    this.#cache = cache;
    this.#last = last;
    this.untilMs = untilMs;
    this.number = last.number + 1;
    this.#cached = new CachedState(cache, true);
    this.#state = new GroupState(this.#cached);
    this.#lastStamp = last.stamp;
  }

  get isFull(): boolean {
    return this.calls.length >= CALLS_MAX || this.#state.bytes >= BYTES_MAX;
  }

  get isCommitNeeded(): boolean {
    return this.#state.size > 0 || this.#tookStamp;
  }

  get lastStamp(): Stamp {
    return this.#lastStamp;
  }

  get nowMs(): Instant {
    return this.#last.nowMs;
  }

  isNextOf({ number }: RecordCache): boolean {
    return number === this.#last.number;
  }

  /** Runs a body on the writes of those before it. False if it lacks something. */
  run(call: Call): boolean {
    call.beginStampsAfter(this.#lastStamp);
    if (!call.run(this.#cached, this.#state, this.#last.nowMs)) return false;
    for (const write of call.writes) this.#state.apply(write);
    if (call.lastStamp > this.#lastStamp) this.#lastStamp = call.lastStamp;
    if (call.tookStamp) this.#tookStamp = true;
    this.calls.push(call);
    return true;
  }

  /** Fetches what the last run lacked, under the write lock: everybody else waits for it. */
  async fetch({ rounds }: Call, wire: Wire): Promise<void> {
    const needs = this.#cached.takeNeeds();
    const fetching = new Fetching([{ needs, rounds }], this.#cache);
    const fetch = this.#cache.beginFetch();
    try {
      const answers = await wire.run(fetching.steps);
      fetching.learn(this.#cache, fetch, this.#last.number, answers as Row[][]);
    } finally {
      this.#cache.endFetch(fetch);
    }
  }

  /** The first of the steps has a row in its answer if the writes of all of them took effect. */
  commitSteps({ id, sequence }: CommitOf): Step[] {
    const writes = [...this.#state.writes];
    const { number, untilMs } = this;
    const mark = { id, sequence };
    const last = { number, stamp: this.#lastStamp, nowMs: this.#last.nowMs };
    const steps = [advance(last, mark, { keys: notedKeys(writes), untilMs })];
    const set = writes.filter(({ value }) => value !== null);
    const dead = writes.filter(({ value }) => value === null);
    if (set.length > 0) {
      const values = byteaArray(set.map(({ value }) => value));
      const { heads, digests, rests } = splitKeys(set);
      const keys = [heads, digests, rests, values];
      steps.push({ statement: SET_KEYS, values: [...keys, id, `${sequence}`] });
    }
    if (dead.length > 0) {
      const { heads, digests } = splitKeys(dead);
      steps.push({ statement: DELETE_KEYS, values: [heads, digests, id, `${sequence}`] });
    }
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

/** Makes a commit the last one. Without `untilMs` the write lock must have been taken before. */
export function advance(
  { number, stamp, nowMs }: LastCommit,
  { id, sequence }: CommitOf,
  { keys, untilMs }: { readonly keys: Bytes | null; readonly untilMs: Instant | null },
): Step {
  const until = untilMs === null ? null : `${Math.floor(untilMs)}`;
  const numbers = [`${sequence}`, `${stamp}`, `${Math.floor(nowMs)}`, until];
  return { statement: ADVANCE, values: [`${number}`, keys, id, ...numbers] };
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
