import { fetchesRecords, prefetch } from "../../store/accelerated.ts";
import type { Need } from "../../store/acceleration.ts";
import type { View } from "../../store/store.ts";

/** What a walk needs for one of its items. */
export interface ItemNeeds<Id> {
  readonly id: Id;
  readonly needs: readonly Need[];
}

/**
 * Names what a walk needs for each of its items, many items at a time. Costs nothing on an engine
 * that has all records at hand.
 */
export class BatchedNeeds<Id> {
  readonly #view: View;
  readonly #ahead: () => Iterable<ItemNeeds<Id>>;
  readonly #named: Set<Id> | null;
  #batches = 0;

  /** `ahead` returns what the current item and the next ones need, as far as they are known. */
  constructor(view: View, ahead: () => Iterable<ItemNeeds<Id>>) {
    this.#view = view;
    this.#ahead = ahead;
    this.#named = fetchesRecords(view) ? new Set() : null;
  }

  /** How often it had to name more, each time in a round of its own. */
  get batches(): number {
    return this.#batches;
  }

  /** Whether what this item needs has been named, so that it is at hand. */
  isNamed(id: Id): boolean {
    return this.#named?.has(id) === true;
  }

  /** Called before the body reads what it needs for this item. */
  before(id: Id): void {
    const named = this.#named;
    if (named === null || named.has(id)) return;
    this.#batches++;
    const all: Need[] = [];
    for (const { id: one, needs } of this.#ahead()) {
      named.add(one);
      all.push(...needs);
    }
    prefetch(this.#view, () => all);
  }
}
