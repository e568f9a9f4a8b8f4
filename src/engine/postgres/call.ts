import type { Clock, Instant } from "../../base/clock.ts";
import { type Stamp, stampAfter } from "../../base/stamp.ts";
import type { Transaction } from "../../store/store.ts";
import { runBody, type State } from "../body-view.ts";
import { WriteView } from "./body-views.ts";
import type { CachedState } from "./cached-state.ts";

/** What a run of a body came to, if it lacked nothing. */
type Ran = { readonly isRefused: boolean; readonly outcome: unknown; readonly view: WriteView };

/** A call of `transact`. Its body runs until it lacks nothing and its writes are committed. */
export class Call {
  readonly #body: (tx: Transaction) => unknown;
  readonly #stamps = new CallStamps();
  readonly #resolve: (result: unknown) => void;
  readonly #reject: (error: unknown) => void;
  #ran: Ran | null = null;
  #triedMs: Instant | null = null;
  /** How often its body ran and lacked something. */
  rounds = 0;

  constructor(
    body: (tx: Transaction) => unknown,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ) {
    this.#body = body;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** The writes of the last run; none if it was refused. */
  get writes(): WriteView["writes"] {
    const ran = this.#ran;
    return ran === null || ran.isRefused ? [] : ran.view.writes;
  }

  /** Whether the last run got stamps, which must not be given again even if it was refused. */
  get tookStamp(): boolean {
    return this.#ran?.view.tookStamp === true;
  }

  /** Chooses stamps that are greater than this one, and keeps those of an earlier run if they are. */
  beginStampsAfter(last: Stamp): void {
    this.#stamps.beginAfter(last);
  }

  get lastStamp(): Stamp {
    return this.#stamps.last;
  }

  /** The time of all runs before the call has the write lock. */
  triedMs(clock: Clock): Instant {
    this.#triedMs ??= clock.now();
    return this.#triedMs;
  }

  /** Runs the body. False if it lacked something, which `cached` has noted. */
  run(cached: CachedState, state: State, nowMs: Instant): boolean {
    this.discard();
    this.#stamps.rewind();
    const view = new WriteView(cached, state, nowMs, this.#stamps.next);
    let ran: Ran;
    try {
      ran = { isRefused: false, outcome: runBody(this.#body, view), view };
    } catch (refusal) {
      ran = { isRefused: true, outcome: refusal, view };
    }
    this.#ran = ran;
    if (cached.lacksNothing) return true;
    this.discard();
    this.rounds++;
    return false;
  }

  /** Takes the last run back. */
  discard(): void {
    this.#ran?.view.discard();
    this.#ran = null;
  }

  /** Answers with the outcome of the last run. */
  settle(): void {
    const ran = this.#ran;
    if (ran === null) throw new Error("a call without an outcome was settled");
    if (ran.isRefused) this.#reject(ran.outcome);
    else this.#resolve(ran.outcome);
  }

  fail(error: unknown): void {
    this.discard();
    this.#reject(error);
  }
}

/** The stamps of one call. A further run gets those of the run before, as far as they go. */
class CallStamps {
  #given: Stamp[] = [];
  #taken = 0;
  #floor: Stamp = 0n;

  /** The greatest stamp given so far. */
  get last(): Stamp {
    return this.#given.at(-1) ?? this.#floor;
  }

  beginAfter(last: Stamp): void {
    const [first] = this.#given;
    if (first !== undefined && first <= last) this.#given = [];
    this.#floor = last;
  }

  rewind(): void {
    this.#taken = 0;
  }

  readonly next = (nowMs: Instant): Stamp => {
    if (this.#taken === this.#given.length) this.#given.push(stampAfter(this.last, nowMs));
    return this.#given[this.#taken++] as Stamp;
  };
}
