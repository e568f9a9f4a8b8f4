import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Need } from "../../store/acceleration.ts";
import type { Entry, RangeOptions } from "../../store/entry.ts";
import { BodyTransaction, BodyView, type State } from "../body-view.ts";
import type { CachedRanges } from "../cached-ranges.ts";
import type { CachedState } from "./cached-state.ts";

/** A view that tells the state how much of a range the body asks for. */
export class ReadView extends BodyView {
  readonly #cached: CachedState;

  constructor(cached: CachedState, nowMs: Instant, derived: CachedRanges) {
    super(cached, nowMs, derived);
    this.#cached = cached;
  }

  override range(from: Bytes, until: Bytes, options: RangeOptions): Entry[] {
    this.#cached.scanLimit = options.limit;
    return super.range(from, until, options);
  }

  prefetch(needs: () => Iterable<Need>, next?: () => Iterable<Need>): void {
    this.#cached.prefetch(needs(), next);
  }
}

/** The same for a transaction, which runs on `state` above the cached one. */
export class WriteView extends BodyTransaction {
  readonly #cached: CachedState;

  constructor(
    cached: CachedState,
    state: State,
    nowMs: Instant,
    nextStamp: (nowMs: Instant) => Stamp,
  ) {
    super(state, nowMs, nextStamp);
    this.#cached = cached;
  }

  override range(from: Bytes, until: Bytes, options: RangeOptions): Entry[] {
    this.#cached.scanLimit = options.limit;
    return super.range(from, until, options);
  }

  prefetch(needs: () => Iterable<Need>, next?: () => Iterable<Need>): void {
    this.#cached.prefetch(needs(), next);
  }
}
