import type { Clock, Instant } from "../../base/clock.ts";
import { type Stamp, stampAfter } from "../../base/stamp.ts";
import { type Store, StoreError, type Transaction, type View } from "../../store/store.ts";
import { BodyTransaction, BodyView, runBody } from "../body-view.ts";
import { KeptStretches } from "../kept-stretches.ts";
import { SortedEntries } from "./sorted-entries.ts";

/** A store that lives and dies with its process. */
export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #entries = new SortedEntries();
  readonly #kept = new KeptStretches();
  #lastStamp: Stamp = 0n;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read<T>(body: (view: View) => T): Promise<T> {
    await this.#turn();
    return runBody(body, new BodyView(this.#entries, this.#clock.now(), this.#kept));
  }

  async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    await this.#turn();
    const tx = new BodyTransaction(this.#entries, this.#clock.now(), this.#nextStamp);
    const result = runBody(body, tx);
    for (const { key, value } of tx.writes) {
      this.#kept.change(key);
      if (value === null) this.#entries.delete(key);
      else this.#entries.set({ key: Buffer.from(key), value: Buffer.from(value) });
    }
    this.#kept.settle();
    return result;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Bodies run one after another in the order of the calls, never one inside another. */
  async #turn(): Promise<void> {
    if (this.#closed) throw new StoreError("broken", "the store is closed");
  }

  readonly #nextStamp = (nowMs: Instant): Stamp => {
    this.#lastStamp = stampAfter(this.#lastStamp, nowMs);
    return this.#lastStamp;
  };
}
