import { ManualClock } from "../base/clock.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import { ForgettingStore } from "../store/forgetting-store.fixture.ts";
import { type Store, StoreError } from "../store/store.ts";
import { StoreDecorator } from "../store/store-decorator.ts";
import { BEAT_MS, FrontEnd } from "./front-end.ts";
import { LeaderStore, MemberStore } from "./member-store.ts";

/** Timers by the time of a manual clock. */
export class ManualTimers {
  readonly #clock: ManualClock;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void | Promise<void> }>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  readonly schedule = (run: () => void | Promise<void>, afterMs: number) => {
    const timer = { atMs: this.#clock.elapsedMs() + afterMs, run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  };

  /** Calls what is due, once, and waits for it. */
  async runDue(): Promise<void> {
    const running: (void | Promise<void>)[] = [];
    for (const timer of [...this.#timers]) {
      if (timer.atMs > this.#clock.elapsedMs() || !this.#timers.delete(timer)) continue;
      running.push(timer.run());
    }
    await Promise.all(running);
  }
}

/** A store that cannot be reached while `isOut`. */
export class Outage extends StoreDecorator {
  isOut = false;

  override read: Store["read"] = (body) =>
    this.isOut ? Promise.reject(unreachable()) : this.inner.read(body);

  override transact: Store["transact"] = (body) =>
    this.isOut ? Promise.reject(unreachable()) : this.inner.transact(body);
}

function unreachable(): StoreError {
  return new StoreError("unreachable", "the records cannot be reached");
}

/** One front end of a test. */
export interface TestFrontEnd {
  readonly frontEnd: FrontEnd;
  /** For all that it does. */
  readonly store: Store;
  readonly leaderStore: Store;
  /** Cuts it off from the records. */
  readonly outage: Outage;
  /** What others have told of its end. */
  readonly ends: StoreError[];
}

/** Front ends on the same records, in one process and with one manual clock. */
export class FrontEnds {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly timers = new ManualTimers(this.clock);
  readonly records: Store;
  readonly all: TestFrontEnd[] = [];
  #numbers = 0;

  /** By default, records that are in memory and have to be fetched. */
  constructor(records?: (clock: ManualClock) => Store) {
    this.records = records?.(this.clock) ?? new ForgettingStore(new MemoryStore(this.clock));
  }

  async add(mayLead = true): Promise<TestFrontEnd> {
    const outage = new Outage(this.records);
    const ends: StoreError[] = [];
    const frontEnd = await FrontEnd.join({
      store: outage,
      number: ++this.#numbers,
      clock: this.clock,
      schedule: this.timers.schedule,
      mayLead,
      onEnded: (error) => ends.push(error),
    });
    const store = new MemberStore(outage, frontEnd);
    const leaderStore = new LeaderStore(store, frontEnd);
    const added = { frontEnd, store, leaderStore, outage, ends };
    this.all.push(added);
    return added;
  }

  /** Lets time pass, in which these front ends beat and the others do not. */
  async pass(ms: number, beating: readonly TestFrontEnd[] = this.all): Promise<void> {
    for (let left = ms; left > 0; left -= BEAT_MS) {
      this.clock.advance(Math.min(left, BEAT_MS));
      for (const { frontEnd } of beating) await frontEnd.beat();
      await this.timers.runDue();
    }
  }
}
