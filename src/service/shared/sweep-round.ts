import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import { keyAfter } from "../../base/keys.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction } from "../../store/store.ts";

/** The most records that one round of a sweep removes. */
export const ROUND_RECORDS_MAX = 256;

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

  /**
   * The entries whose keys begin with `prefix`, as many as the round still takes. Damaged records
   * are skipped, and left behind: one of them must not keep the others.
   */
  entries(prefix: Bytes): readonly Entry[] {
    const found: Entry[] = [];
    let from = prefix;
    while (!this.isOver) {
      const limits = { limit: this.#records, bytesMax: this.#budget.bytesLeft };
      const page = this.#tx.range(from, keyAfter(prefix), { ...limits, skipsDamaged: true });
      this.#records -= page.length;
      for (const { value } of page) this.#budget.spend(value.length);
      found.push(...page);
      const last = page.at(-1);
      if (last === undefined) break;
      from = keyAfter(last.key);
    }
    return found;
  }

  /** Removes the records whose keys begin with `prefix`, until the round ends. */
  remove(prefix: Bytes): void {
    for (const { key } of this.entries(prefix)) this.#tx.delete(key);
  }
}
