import type { Bytes } from "../../base/bytes.ts";
import { key, keyAfter, type Space } from "../../base/keys.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Entry } from "../../store/entry.ts";
import type { Store, Transaction, View } from "../../store/store.ts";

const PAGE_RECORDS_MAX = 256;

/** Walks through a space page by page, in endless rounds, and removes expired records. */
export class ExpirySearch {
  readonly #all: Bytes;
  readonly #isExpired: (view: View, entry: Entry) => boolean;
  readonly #remove: (tx: Transaction, entry: Entry) => void;
  #from: Bytes;

  constructor(
    space: Space,
    isExpired: (view: View, entry: Entry) => boolean,
    remove: (tx: Transaction, entry: Entry) => void,
  ) {
    this.#all = key(space);
    this.#from = this.#all;
    this.#isExpired = isExpired;
    this.#remove = remove;
  }

  /** Searches one page. True until it reaches the end of the space. */
  async search(store: Store): Promise<boolean> {
    const { expired, next } = await store.read((view) => this.#page(view));
    if (expired.length > 0) await store.transact((tx) => this.#removeFrom(tx, expired));
    this.#from = next ?? this.#all;
    return next !== null;
  }

  #page(view: View): { expired: readonly Bytes[]; next: Bytes | null } {
    const page = view.range(this.#from, keyAfter(this.#all), { limit: PAGE_RECORDS_MAX });
    const last = page.length < PAGE_RECORDS_MAX ? undefined : page.at(-1);
    return {
      expired: page.filter((entry) => this.#isExpired(view, entry)).map((entry) => entry.key),
      next: last === undefined ? null : keyAfter(last.key),
    };
  }

  /** Reads the records again, because some may have been removed or renewed meanwhile. */
  #removeFrom(tx: Transaction, keys: readonly Bytes[]): void {
    prefetch(tx, () => keys);
    for (const at of keys) {
      const value = tx.get(at);
      if (value === undefined) continue;
      const entry = { key: at, value };
      if (this.#isExpired(tx, entry)) this.#remove(tx, entry);
    }
  }
}
