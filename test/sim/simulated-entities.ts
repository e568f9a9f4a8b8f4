import { type Partition, perform, type Step } from "./entity-model.ts";
import type { EntityAnswer, EntityAsked, EntityWrite } from "./entity-words.ts";
import type { Random } from "./random.ts";
import type { Working } from "./simulate.ts";

/** Bugs that servers have. The checker must find each of them. */
export const ENTITY_BUGS = [
  "stale read",
  "query behind the writes",
  "query of two moments",
  "half-visible batch",
  "failed batch leaves a part",
  "lost update",
  "lost acknowledged write",
  "check outside the transaction",
  "refused but written",
  "merge that replaces",
  "ETag used twice",
] as const;

export type EntityBug = (typeof ENTITY_BUGS)[number];

/** A server without sockets and disks that is correct, except for the bug it is given. */
export class SimulatedEntities {
  readonly #random: Random;
  readonly #bug: EntityBug | null;
  readonly #states = new Map<string, Partition>();
  /** Each as it was before its last change. */
  readonly #previous = new Map<string, Partition>();
  #stamps = 0;
  #lastEtag = "";

  constructor(random: Random, bug: EntityBug | null) {
    this.#random = random;
    this.#bug = bug;
  }

  *answer(key: string | null, asked: EntityAsked): Working<EntityAnswer> {
    const at = key as string;
    switch (this.#bug) {
      case "query of two moments":
        if (asked.operation === "query") return yield* this.#queryTwice(at);
        break;
      case "half-visible batch":
        if (asked.operation === "batch") return yield* this.#oneByOne(at, asked.writes);
        break;
      case "lost update":
        if (asked.operation === "write") return yield* this.#writeWhatWasRead(at, asked);
        break;
      case "check outside the transaction":
        if (asked.operation === "write") return yield* this.#checkThenWrite(at, asked.write);
        break;
    }
    return this.#do(at, asked);
  }

  /** One operation as a whole, with the bugs that need only one moment. */
  #do(key: string, asked: EntityAsked): EntityAnswer {
    const state = this.#stateOf(key);
    if (this.#bug === "stale read" && asked.operation === "get" && this.#random.chance(0.3)) {
      return this.#perform(this.#previous.get(key) ?? {}, asked).answer;
    }
    const isBehind = this.#bug === "query behind the writes" && asked.operation === "query";
    if (isBehind && this.#random.chance(0.4)) {
      return this.#perform(this.#previous.get(key) ?? {}, asked).answer;
    }
    const step = this.#perform(state, this.#mistaken(asked));
    if (step.answer.refused !== null) this.#spoil(key, asked);
    const isLost = this.#bug === "lost acknowledged write" && asked.operation === "write";
    if (isLost && this.#random.chance(0.1)) return step.answer;
    if (step.state !== state) this.#commit(key, step.state);
    return step.answer;
  }

  #mistaken(asked: EntityAsked): EntityAsked {
    if (this.#bug !== "merge that replaces" || asked.operation !== "write") return asked;
    const { write } = asked;
    const kind = write.kind === "merge" ? "update" : write.kind;
    return { operation: "write", write: { ...write, kind } };
  }

  /** Makes a change that a refusal should not make. */
  #spoil(key: string, asked: EntityAsked): void {
    const state = this.#stateOf(key);
    if (this.#bug === "failed batch leaves a part" && asked.operation === "batch") {
      const [first] = asked.writes as [EntityWrite];
      this.#commit(key, this.#perform(state, { operation: "write", write: first }).state);
    }
    if (this.#bug === "refused but written" && asked.operation === "write") {
      const write: EntityWrite = { ...asked.write, kind: "replaceAny", ifMatch: null };
      this.#commit(key, this.#perform(state, { operation: "write", write }).state);
    }
  }

  *#queryTwice(key: string): Working<EntityAnswer> {
    const first = this.#do(key, { operation: "query" });
    yield* others();
    const second = this.#do(key, { operation: "query" });
    if (first.refused !== null || second.refused !== null) return first;
    const { r0: _, ...rest } = second.found;
    const own = first.found.r0 === undefined ? {} : { r0: first.found.r0 };
    return { ...second, found: { ...own, ...rest } };
  }

  *#oneByOne(key: string, writes: readonly EntityWrite[]): Working<EntityAnswer> {
    const whole = this.#perform(this.#stateOf(key), { operation: "batch", writes });
    if (whole.answer.refused !== null) return whole.answer;
    const etags: (string | null)[] = [];
    for (const write of writes) {
      const step = this.#perform(this.#stateOf(key), { operation: "write", write });
      this.#commit(key, step.state);
      etags.push(step.answer.refused === null ? (step.answer.etags[0] ?? null) : null);
      yield* others();
    }
    return { refused: null, etags, found: {} };
  }

  *#writeWhatWasRead(key: string, asked: EntityAsked): Working<EntityAnswer> {
    const { state, answer } = this.#perform(this.#stateOf(key), asked);
    yield* others();
    if (answer.refused === null) this.#commit(key, state);
    return answer;
  }

  *#checkThenWrite(key: string, write: EntityWrite): Working<EntityAnswer> {
    const { answer } = this.#perform(this.#stateOf(key), { operation: "write", write });
    yield* others();
    if (answer.refused !== null || write.ifMatch === null) {
      return this.#do(key, { operation: "write", write });
    }
    return this.#do(key, { operation: "write", write: { ...write, ifMatch: "*" } });
  }

  #perform(state: Partition, asked: EntityAsked): Step {
    return perform(state, asked, () => {
      const isOld = this.#bug === "ETag used twice" && this.#random.chance(0.2);
      if (!isOld || this.#lastEtag === "") this.#lastEtag = `etag-${++this.#stamps}`;
      return this.#lastEtag;
    });
  }

  #commit(key: string, state: Partition): void {
    this.#previous.set(key, this.#stateOf(key));
    this.#states.set(key, state);
  }

  #stateOf(key: string): Partition {
    return this.#states.get(key) ?? {};
  }
}

/** Long enough for others to come between. */
function* others(): Working<void> {
  yield;
  yield;
}
