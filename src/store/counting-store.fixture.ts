import type { Bytes } from "../base/bytes.ts";
import { appendInPlace, derivedRange, fetchesRecords, prefetch } from "./accelerated.ts";
import type { RangeOptions } from "./entry.ts";
import type { Transaction, View } from "./store.ts";
import { StoreDecorator } from "./store-decorator.ts";

/** Counts the records that bodies read or write, and the bodies themselves. */
export class CountingStore extends StoreDecorator {
  #used = 0;

  /** The count since the last call. */
  used(): number {
    const used = this.#used;
    this.#used = 0;
    return used;
  }

  override read<T>(body: (view: View) => T): Promise<T> {
    return this.inner.read((view) => body(this.#counted(view)));
  }

  override transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.inner.transact((tx) =>
      body({
        ...this.#counted(tx),
        set: (key, value) => this.#count(1, tx.set(key, value)),
        delete: (key) => this.#count(1, tx.delete(key)),
        append: (key, size, more) => this.#count(1, appendInPlace(tx, key, size, more)),
        stamp: () => tx.stamp(),
      }),
    );
  }

  #counted(view: View): View {
    this.#used++;
    return {
      get: (key) => this.#count(1, view.get(key)),
      range: (from: Bytes, until: Bytes, options: RangeOptions) => {
        const entries = view.range(from, until, options);
        return this.#count(1 + entries.length, entries);
      },
      now: () => view.now(),
      onDiscard: (release) => view.onDiscard(release),
      derivedRange: (derivation, from, until, limit) =>
        derivedRange(view, derivation, from, until, limit),
      ...(fetchesRecords(view) && { prefetch: (needs, next) => prefetch(view, needs, next) }),
    };
  }

  #count<T>(records: number, result: T): T {
    this.#used += records;
    return result;
  }
}
