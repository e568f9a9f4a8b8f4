import { perform } from "./blob-model.ts";
import type { BlobAnswer, BlobAsked, Listed, PutPageAsked } from "./blob-words.ts";
import { EMPTY_ANSWER } from "./blob-words.ts";
import { type BlobState, type Chosen, emptyState, type Step } from "./modelled-blob.ts";
import type { Random } from "./random.ts";
import type { Working } from "./simulate.ts";

/** Bugs that servers have. The checker must find each of them. */
export const BUGS = [
  "stale read",
  "listing behind the writes",
  "read of two versions",
  "lost update",
  "lost acknowledged write",
  "refused but written",
  "check outside the transaction",
  "lease ignored",
  "lease judged by an old time",
  "ETag used twice",
  "half-visible block list",
  "two appends at one offset",
  "page write over another",
  "sequence number checked too early",
  "snapshot that goes on changing",
  "copy of something newer",
] as const;

export type Bug = (typeof BUGS)[number];

/** A server without sockets and disks that is correct, except for the bug it is given. */
export class SimulatedBlobs {
  readonly #random: Random;
  readonly #bug: Bug | null;
  readonly #states = new Map<string, BlobState>();
  /** Each as it was before its last change. */
  readonly #previous = new Map<string, BlobState>();
  #nowMs: number;
  /** The time before the clock was last advanced. */
  #oldMs: number;
  #names = 0;
  #lastEtag = "";

  constructor(random: Random, keys: readonly string[], startMs: number, bug: Bug | null) {
    this.#random = random;
    this.#bug = bug;
    this.#nowMs = startMs;
    this.#oldMs = startMs;
    for (const key of keys) {
      this.#states.set(key, emptyState(startMs));
      this.#previous.set(key, emptyState(startMs));
    }
  }

  *answer(key: string | null, asked: BlobAsked): Working<BlobAnswer> {
    if (key === null)
      return asked.operation === "advance" ? this.#advance(asked.byMs) : this.#list();
    switch (this.#bug) {
      case "read of two versions":
        if (asked.operation === "get") return yield* this.#readTwice(key, asked);
        break;
      case "two appends at one offset":
        if (asked.operation === "append") return yield* this.#writeWhatWasRead(key, asked);
        break;
      case "page write over another":
        if (asked.operation === "put-page") return yield* this.#writeWhatWasRead(key, asked);
        break;
      case "sequence number checked too early":
        if (asked.operation === "put-page") return yield* this.#checkSequenceThenWrite(key, asked);
        break;
      case "lost update":
        if (asked.operation === "set-metadata") return yield* this.#writeWhatWasRead(key, asked);
        break;
      case "check outside the transaction":
        return yield* this.#checkThenWrite(key, asked);
      case "lease judged by an old time":
        if (this.#random.chance(0.3)) return this.#judgeByOldTime(key, asked);
        break;
      case "half-visible block list":
        if (asked.operation === "commit") return yield* this.#commitInTwo(key, asked);
        break;
    }
    return this.#do(key, asked);
  }

  /** One operation as a whole, with the bugs that need only one moment. */
  #do(key: string, asked: BlobAsked): BlobAnswer {
    const state = this.#stateOf(key);
    const step = this.#perform(this.#seenBy(key, asked), asked, key);
    if (this.#bug === "refused but written" && step.answer.refused?.includes("ConditionNotMet")) {
      const unguarded = this.#perform(state, withoutConditions(asked), key);
      if (this.#random.chance(0.2)) this.#commit(key, unguarded.state);
      return step.answer;
    }
    const isLost = this.#bug === "lost acknowledged write" && "write" in asked;
    if (isLost && this.#random.chance(0.1)) return step.answer;
    const changed = step.state !== state && !isRead(asked);
    if (changed)
      this.#commit(key, this.#bug === "lease ignored" ? keepLease(state, step) : step.state);
    return step.answer;
  }

  /** The state that an operation is judged by. */
  #seenBy(key: string, asked: BlobAsked): BlobState {
    const state = this.#stateOf(key);
    if (this.#bug === "stale read" && isRead(asked) && this.#random.chance(0.2)) {
      return { ...(this.#previous.get(key) as BlobState), nowMs: state.nowMs };
    }
    if (state.blob !== null && "snapshot" in asked && asked.operation === this.#mixedUp) {
      const snapshot = state.snapshots[asked.snapshot];
      if (snapshot === undefined) return state;
      const wrong = { ...snapshot, pieces: state.blob.pieces };
      return { ...state, snapshots: { ...state.snapshots, [asked.snapshot]: wrong } };
    }
    const ignoresLease =
      this.#bug === "lease ignored" && "write" in asked && asked.leaseId === null;
    if (ignoresLease && state.blob !== null && this.#random.chance(0.3)) {
      return { ...state, blob: { ...state.blob, lease: null } };
    }
    return state;
  }

  *#checkSequenceThenWrite(key: string, asked: PutPageAsked): Working<BlobAnswer> {
    const { answer } = this.#perform(this.#stateOf(key), asked, key);
    for (let round = 0; round < 5; round++) yield* others();
    return answer.refused !== null ? answer : this.#do(key, { ...asked, sequence: null });
  }

  /** The operation that takes the blob's pieces for its snapshot's. */
  get #mixedUp(): BlobAsked["operation"] | null {
    if (this.#bug === "snapshot that goes on changing") return "get-snapshot";
    return this.#bug === "copy of something newer" ? "copy-snapshot" : null;
  }

  #advance(byMs: number): BlobAnswer {
    this.#oldMs = this.#nowMs;
    this.#nowMs += byMs;
    for (const states of [this.#states, this.#previous]) {
      for (const [key, state] of states) states.set(key, { ...state, nowMs: state.nowMs + byMs });
    }
    return EMPTY_ANSWER;
  }

  #list(): BlobAnswer {
    const isBehind = this.#bug === "listing behind the writes" && this.#random.chance(0.3);
    const listed: Record<string, Listed> = {};
    for (const [key, state] of isBehind ? this.#previous : this.#states) {
      const { answer } = this.#perform(state, { operation: "list" }, key);
      if (answer.refused === null) Object.assign(listed, answer.listed);
    }
    return { ...EMPTY_ANSWER, listed };
  }

  *#readTwice(key: string, asked: BlobAsked): Working<BlobAnswer> {
    const first = this.#do(key, asked);
    yield* others();
    const second = this.#do(key, asked);
    if (first.refused !== null || second.refused !== null) return first;
    return { ...first, pieces: second.pieces };
  }

  *#writeWhatWasRead(key: string, asked: BlobAsked): Working<BlobAnswer> {
    const step = this.#perform(this.#stateOf(key), asked, key);
    yield* others();
    if (step.answer.refused === null) this.#commit(key, step.state);
    return step.answer;
  }

  *#checkThenWrite(key: string, asked: BlobAsked): Working<BlobAnswer> {
    const { answer } = this.#perform(this.#stateOf(key), asked, key);
    yield* others();
    return answer.refused !== null || isRead(asked)
      ? answer
      : this.#do(key, withoutConditions(asked));
  }

  #judgeByOldTime(key: string, asked: BlobAsked): BlobAnswer {
    const { nowMs } = this.#stateOf(key);
    const step = this.#perform({ ...this.#stateOf(key), nowMs: this.#oldMs }, asked, key);
    if (step.answer.refused === null) this.#commit(key, { ...step.state, nowMs });
    return step.answer;
  }

  *#commitInTwo(key: string, asked: BlobAsked): Working<BlobAnswer> {
    const { state, answer } = this.#perform(this.#stateOf(key), asked, key);
    if (answer.refused !== null || state.blob === null) return answer;
    const half = { ...state.blob, pieces: state.blob.pieces.slice(0, -1) };
    this.#commit(key, { ...state, blob: half });
    yield* others();
    const now = this.#stateOf(key);
    if (now.blob?.write === half.write) {
      this.#commit(key, { ...now, blob: { ...now.blob, pieces: state.blob.pieces } });
    }
    return answer;
  }

  #perform(state: BlobState, asked: BlobAsked, key: string): Step {
    return perform(state, asked, this.#chosen, key);
  }

  readonly #chosen: Chosen = {
    etagOf: () => {
      const isOld = this.#bug === "ETag used twice" && this.#random.chance(0.2);
      if (!isOld || this.#lastEtag === "") this.#lastEtag = `etag-${++this.#names}`;
      return this.#lastEtag;
    },
    leaseId: () => `lease-${++this.#names}`,
    snapshot: () => `snapshot-${++this.#names}`,
  };

  #commit(key: string, state: BlobState): void {
    this.#previous.set(key, this.#stateOf(key));
    this.#states.set(key, state);
  }

  #stateOf(key: string): BlobState {
    return this.#states.get(key) as BlobState;
  }
}

/** Long enough for others to come between. */
function* others(): Working<void> {
  yield;
  yield;
}

function isRead({ operation }: BlobAsked): boolean {
  return ["get", "head", "get-snapshot", "list"].includes(operation);
}

function withoutConditions(asked: BlobAsked): BlobAsked {
  return "ifMatch" in asked ? { ...asked, ifMatch: null, ifNoneMatch: null } : asked;
}

/** A write that ignores a lease does not end it. */
function keepLease(before: BlobState, { state }: Step): BlobState {
  if (state.blob === null || before.blob === null) return state;
  const lease = state.blob.lease ?? before.blob.lease;
  return { ...state, blob: { ...state.blob, lease } };
}
