import type { Operation } from "./operation.ts";

/** The sequential behaviour of one object. */
export interface Model<State, Asked, Answer> {
  readonly initial: State;
  /**
   * The states that an operation may lead to if it happens now with the answer it got; none if that
   * answer is impossible now. Without an answer: all states it may lead to. An operation that
   * changes nothing returns the very `state` it was given, and nothing else.
   */
  steps(state: State, operation: Operation<Asked, Answer>): readonly State[];
  /** Equal for states that will answer alike. */
  identify(state: State): string;
}

export type Verdict<State, Asked, Answer> =
  | {
      readonly kind: "explained";
      readonly statesSeen: number;
      /** Uncertain operations that explain nothing are not in it. */
      readonly order: readonly Operation<Asked, Answer>[];
    }
  | { readonly kind: "unexplained"; readonly dead: DeadEnd<State, Asked, Answer> }
  /** Neither proved nor refuted within the limit of states. */
  | { readonly kind: "undecided"; readonly statesSeen: number };

/**
 * The longest order that explains its operations, and those that might come next but do not fit.
 */
export interface DeadEnd<State, Asked, Answer> {
  readonly explained: number;
  readonly state: State;
  readonly next: readonly Operation<Asked, Answer>[];
}

/**
 * Searches for an order of the operations that agrees with their times and in which the model gives
 * every actual answer (Wing and Gong's search, with Lowe's cache of visited states).
 */
export function linearize<State, Asked, Answer>(
  model: Model<State, Asked, Answer>,
  operations: readonly Operation<Asked, Answer>[],
  statesMax: number,
): Verdict<State, Asked, Answer> {
  return new Search(model, operations, statesMax).run();
}

/** Whether an operation has surely happened. Otherwise the search may leave it out. */
function isCertain({ returned }: Operation<unknown, unknown>): boolean {
  return returned !== Number.POSITIVE_INFINITY;
}

/** An operation, and whether the order in progress contains it. */
interface Slot<Asked, Answer> {
  /** Its index in its list. */
  readonly at: number;
  readonly operation: Operation<Asked, Answer>;
  isPlaced: boolean;
}

/** A point in the order from which several continuations are possible. */
interface Frame<State, Asked, Answer> {
  /** The operations placed to get here, to be taken back if no continuation works. */
  readonly placed: readonly Slot<Asked, Answer>[];
  readonly choices: readonly Choice<State, Asked, Answer>[];
  tried: number;
}

interface Choice<State, Asked, Answer> {
  readonly slot: Slot<Asked, Answer>;
  readonly state: State;
}

class Search<State, Asked, Answer> {
  readonly #model: Model<State, Asked, Answer>;
  readonly #statesMax: number;
  /** Ordered by the time they were invoked. */
  readonly #certain: readonly Slot<Asked, Answer>[];
  readonly #uncertain: readonly Slot<Asked, Answer>[];
  /** Visited states, each with the sets of uncertain operations that were placed. */
  readonly #seen = new Map<string, bigint[]>();
  #statesSeen = 0;
  /** One bit for each. */
  #placedUncertain = 0n;
  /** All certain operations before this one are placed. */
  #first = 0;
  #placedCertain = 0;
  #dead: DeadEnd<State, Asked, Answer>;

  constructor(
    model: Model<State, Asked, Answer>,
    operations: readonly Operation<Asked, Answer>[],
    statesMax: number,
  ) {
    this.#model = model;
    this.#statesMax = statesMax;
    const sorted = operations.toSorted((a, b) => a.invoked - b.invoked);
    this.#certain = slotsOf(sorted.filter(isCertain));
    this.#uncertain = slotsOf(sorted.filter((one) => !isCertain(one)));
    this.#dead = { explained: -1, state: model.initial, next: [] };
  }

  run(): Verdict<State, Asked, Answer> {
    const frames = [this.#enter(this.#model.initial, null)];
    while (this.#placedCertain < this.#certain.length) {
      if (this.#statesSeen > this.#statesMax) {
        return { kind: "undecided", statesSeen: this.#statesSeen };
      }
      const frame = frames.at(-1);
      if (frame === undefined) return { kind: "unexplained", dead: this.#dead };
      const choice = frame.choices[frame.tried++];
      if (choice !== undefined) {
        frames.push(this.#enter(choice.state, choice.slot));
      } else {
        for (const slot of frame.placed) this.#take(slot);
        frames.pop();
      }
    }
    const order = frames.flatMap(({ placed }) => placed.map(({ operation }) => operation));
    return { kind: "explained", statesSeen: this.#statesSeen, order };
  }

  #enter(state: State, by: Slot<Asked, Answer> | null): Frame<State, Asked, Answer> {
    const placed = by === null ? [] : [by];
    if (by !== null) this.#place(by);
    placed.push(...this.#placeWhatChangesNothing(state));
    if (this.#wasTried(state)) return { placed, choices: [], tried: 0 };
    const choices = this.#choices(state);
    this.#note(state);
    return { placed, choices, tried: 0 };
  }

  /**
   * Whether everything from here was tried before: from the same state, with no more of the
   * uncertain operations placed.
   */
  #wasTried(state: State): boolean {
    const placed = this.#placedUncertain;
    const key = this.#identify(state);
    const before = this.#seen.get(key) ?? [];
    if (before.some((other) => (other & placed) === other)) return true;
    this.#seen.set(key, [...before, placed]);
    this.#statesSeen++;
    return false;
  }

  /**
   * Places operations that fit now and change nothing, without trying them later: any order that
   * has one later is equally good with it moved here.
   */
  #placeWhatChangesNothing(state: State): Slot<Asked, Answer>[] {
    const placed: Slot<Asked, Answer>[] = [];
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const slot of this.#possible(this.#certain, this.#first)) {
        if (this.#steps(state, slot)[0] !== state) continue;
        this.#place(slot);
        placed.push(slot);
        isMore = true;
      }
    }
    return placed;
  }

  /** Tries operations in the order of their answers, uncertain ones last. */
  #choices(state: State): Choice<State, Asked, Answer>[] {
    const possible = this.#possible(this.#certain, this.#first);
    possible.sort((a, b) => a.operation.returned - b.operation.returned);
    const uncertain = this.#possible(this.#uncertain, 0);
    return [...possible, ...uncertain].flatMap((slot) => {
      const changed = this.#steps(state, slot).filter((next) => next !== state);
      return changed.map((next) => ({ slot, state: next }));
    });
  }

  /** The operations that may come next: invoked before any missing one had returned. */
  #possible(slots: readonly Slot<Asked, Answer>[], from: number): Slot<Asked, Answer>[] {
    const until = this.#firstReturn();
    const possible: Slot<Asked, Answer>[] = [];
    for (let at = from; at < slots.length; at++) {
      const slot = slots[at] as Slot<Asked, Answer>;
      if (slot.operation.invoked > until) break;
      if (!slot.isPlaced) possible.push(slot);
    }
    return possible;
  }

  #firstReturn(): number {
    let until = Number.POSITIVE_INFINITY;
    for (let at = this.#first; at < this.#certain.length; at++) {
      const { operation, isPlaced } = this.#certain[at] as Slot<Asked, Answer>;
      if (operation.invoked > until) break;
      if (!isPlaced) until = Math.min(until, operation.returned);
    }
    return until;
  }

  #steps(state: State, { operation }: Slot<Asked, Answer>): readonly State[] {
    return this.#model.steps(state, operation);
  }

  #place(slot: Slot<Asked, Answer>): void {
    slot.isPlaced = true;
    if (!isCertain(slot.operation)) {
      this.#placedUncertain |= 1n << BigInt(slot.at);
      return;
    }
    this.#placedCertain++;
    while (this.#certain[this.#first]?.isPlaced) this.#first++;
  }

  #take(slot: Slot<Asked, Answer>): void {
    slot.isPlaced = false;
    if (!isCertain(slot.operation)) {
      this.#placedUncertain &= ~(1n << BigInt(slot.at));
      return;
    }
    this.#placedCertain--;
    this.#first = Math.min(this.#first, slot.at);
  }

  #identify(state: State): string {
    let placed = `${this.#first}`;
    const until = this.#firstReturn();
    for (let at = this.#first; at < this.#certain.length; at++) {
      const { operation, isPlaced } = this.#certain[at] as Slot<Asked, Answer>;
      if (operation.invoked > until) break;
      if (isPlaced) placed += `,${at}`;
    }
    return `${placed} ${this.#model.identify(state)}`;
  }

  #note(state: State): void {
    if (this.#placedCertain <= this.#dead.explained) return;
    const next = this.#possible(this.#certain, this.#first).map(({ operation }) => operation);
    this.#dead = { explained: this.#placedCertain, state, next };
  }
}

function slotsOf<Asked, Answer>(
  operations: readonly Operation<Asked, Answer>[],
): Slot<Asked, Answer>[] {
  return operations.map((operation, at) => ({ at, operation, isPlaced: false }));
}
