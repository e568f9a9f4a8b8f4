import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { keyAfter } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction } from "../../store/store.ts";

/** The most records that one round of a sweep removes. */
export const ROUND_RECORDS_MAX = 256;
/** Records read at a time, because each of them may be as long as a body may read in all. */
const PAGE_RECORDS = 8;

/**
 * The work that one round of a sweep may do in its transaction, in records and in bytes. Nothing
 * else runs during a transaction, so a sweep takes many short rounds.
 */
export class SweepRound {
  readonly #tx: Transaction;
  readonly #budget = new BodyBudget();
  #records = ROUND_RECORDS_MAX;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  /** Whether the round has ended, so that there may be more to remove. */
  get isOver(): boolean {
    return this.#records === 0 || this.#budget.isSpent;
  }

  /** Yields the entries whose keys begin with `prefix`, until there are no more or the round ends. */
  *entries(prefix: Bytes): Generator<Entry, void, void> {
    const until = keyAfter(prefix);
    let from = prefix;
    while (!this.isOver) {
      const page = this.#tx.range(from, until, { limit: PAGE_RECORDS });
      for (const entry of page) {
        if (this.isOver) return;
        this.#records--;
        this.#budget.spend(entry.value.length);
        yield entry;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_RECORDS) return;
      from = keyAfter(last.key);
    }
  }

  /** Removes the records whose keys begin with `prefix`, until the round ends. */
  remove(prefix: Bytes): void {
    for (const { key } of this.entries(prefix)) this.#tx.delete(key);
  }
}
