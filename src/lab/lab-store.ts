import type { AsyncLocalStorage } from "node:async_hooks";
import type { Instant } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { StoreDecorator } from "../store/store-decorator.ts";
import type { LabCall } from "./lab-call.ts";
import type { LabClock } from "./lab-clock.ts";
import type { Point } from "./rule.ts";

/** What a store asks its lab. */
export interface PointsOfCall {
  /** The request that the current code runs for. */
  readonly current: AsyncLocalStorage<LabCall>;
  mayAct(point: Point, call: LabCall): boolean;
  /** Lets rules act. Throws what the request is answered instead. */
  reach(point: Point, call: LabCall): Promise<void>;
}

/** Ends a trial run of a body, which writes nothing. */
class TrialOver extends Error {}

/**
 * The store of a lab: bodies see the time of their account, and rules act between what a request
 * has read and what it commits. A write is then tried without effect first: what counts is what its
 * body decides on the state at the end, as on every store.
 */
export class LabStore extends StoreDecorator {
  readonly #points: PointsOfCall;
  readonly #clock: LabClock;

  constructor(inner: Store, points: PointsOfCall, clock: LabClock) {
    super(inner);
    this.#points = points;
    this.#clock = clock;
  }

  override async read<T>(body: (view: View) => T): Promise<T> {
    const call = this.#points.current.getStore();
    if (call === undefined) return this.inner.read(body);
    const timed = this.#inTimeOf(call, body);
    if (call.hasRead || !this.#points.mayAct("read", call)) {
      call.hasRead = true;
      return this.inner.read(timed);
    }
    let releases: (() => void)[] = [];
    const found = await this.inner.read((view) => {
      releases = [];
      const onDiscard = view.onDiscard.bind(view);
      view.onDiscard = (release) => {
        releases.push(release);
        onDiscard(release);
      };
      return timed(view);
    });
    call.hasRead = true;
    try {
      await this.#points.reach("read", call);
    } catch (error) {
      for (const release of releases.reverse()) release();
      throw error;
    }
    return found;
  }

  override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    const call = this.#points.current.getStore();
    if (call === undefined) return this.inner.transact(body);
    const timed = this.#inTimeOf(call, body);
    if (!call.hasRead && this.#points.mayAct("read", call)) {
      await this.#try(timed);
      call.hasRead = true;
      await this.#points.reach("read", call);
    }
    call.hasRead = true;
    if (!call.hasDecided && this.#points.mayAct("commit", call)) {
      await this.#try(timed);
      call.hasDecided = true;
      await this.#points.reach("commit", call);
    }
    return this.inner.transact(timed);
  }

  /**
   * Runs a body, and takes back what it did. A refusal counts as well as a decision; a body that
   * first needs client caches broken has neither, and is tried again after that.
   */
  async #try<T>(body: (tx: Transaction) => T): Promise<void> {
    try {
      await this.inner.transact((tx) => {
        body(tx);
        throw new TrialOver();
      });
    } catch (error) {
      if (!(error instanceof TrialOver || error instanceof Fault)) throw error;
    }
  }

  #inTimeOf<V extends View, T>({ clockOf }: LabCall, body: (view: V) => T): (view: V) => T {
    if (clockOf === null || !this.#clock.has(clockOf)) return body;
    return (view) => body(atTime(view, () => this.#clock.of(clockOf)));
  }
}

/** The store of background work, which goes by the clock that is furthest behind. */
export class SlowestClockStore extends StoreDecorator {
  readonly #clock: LabClock;

  constructor(inner: Store, clock: LabClock) {
    super(inner);
    this.#clock = clock;
  }

  override read<T>(body: (view: View) => T): Promise<T> {
    return this.inner.read((view) => body(atTime(view, () => this.#clock.earliest())));
  }

  override transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.inner.transact((tx) => body(atTime(tx, () => this.#clock.earliest())));
  }
}

/** Gives a body another time. Stamps go by the server's: they rise for all accounts together. */
function atTime<V extends View>(view: V, time: () => Instant): V {
  const serverMs = view.now();
  const nowMs = time();
  view.now = () => nowMs;
  if (!("stamp" in view)) return view;
  const tx = view as unknown as Transaction;
  const stamp = tx.stamp.bind(tx);
  tx.stamp = () => {
    view.now = () => serverMs;
    try {
      return stamp();
    } finally {
      view.now = () => nowMs;
    }
  };
  return view;
}
