import type { Bytes } from "../../base/bytes.ts";
import type { Clock, Instant } from "../../base/clock.ts";
import { KEY_BYTES_MAX } from "../../base/keys.ts";
import { type Stamp, stampAfter } from "../../base/stamp.ts";
import type { Entry } from "../../store/entry.ts";
import type { SavableStore, SavedState } from "../../store/saved-state.ts";
import {
  type ChangeListener,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../../store/store.ts";
import { BodyTransaction, BodyView, runBody, type State, type Write } from "../body-view.ts";
import { CachedRanges } from "../cached-ranges.ts";
import { ChangeListeners } from "../change-listeners.ts";
import { type Named, nameOf, type SavedItems, SortedItems } from "../sorted-items.ts";

/** An ephemeral store, in memory. It needs no lock, since bodies are synchronous. */
export class MemoryStore implements Store, SavableStore {
  readonly keyBytesMax = KEY_BYTES_MAX;
  readonly #clock: Clock;
  readonly #records = new Records();
  readonly #cache = new CachedRanges();
  readonly #listeners = new ChangeListeners();
  #lastStamp: Stamp = 0n;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read<T>(body: (view: View) => T): Promise<T> {
    await this.#checkOpen();
    return runBody(body, new BodyView(this.#records, this.#clock.now(), this.#cache));
  }

  async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    await this.#checkOpen();
    const tx = new BodyTransaction(this.#records, this.#clock.now(), this.#nextStamp);
    const result = runBody(body, tx);
    for (const write of tx.writes) {
      this.#cache.change(write.key);
      this.#records.apply(write);
    }
    if (this.#listeners.areThere && tx.writes.length > 0) {
      this.#listeners.tell(tx.writes.map(({ key }) => key));
    }
    return result;
  }

  changes(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Takes some microseconds for each thousand records, as does going back. Stamps go on after a
   * restore: none is given twice.
   */
  save(): SavedState {
    let saved: SavedItems<Item> | null = this.#records.save();
    return {
      restore: () => {
        if (saved === null) throw new Error("a state was restored after it was forgotten");
        this.#records.restore(saved);
        this.#cache.clear();
        this.#listeners.tell(null);
      },
      forget: () => {
        saved = null;
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Asynchronous, so that a body that another body starts runs after it, not inside it. */
  async #checkOpen(): Promise<void> {
    if (this.#closed) throw new StoreError("broken", "the store is closed");
  }

  readonly #nextStamp = (nowMs: Instant): Stamp => {
    this.#lastStamp = stampAfter(this.#lastStamp, nowMs);
    return this.#lastStamp;
  };
}

type Item = Named & { readonly entry: Entry };

class Records implements State {
  /** Always 0, because nothing here has to become durable. */
  newest = 0;
  readonly #items = new SortedItems<Item>();

  save(): SavedItems<Item> {
    return this.#items.save();
  }

  restore(saved: SavedItems<Item>): void {
    this.#items.restore(saved);
  }

  get(key: Bytes, name = nameOf(key)): Bytes | undefined {
    return this.#items.get(name)?.entry.value;
  }

  *scan(from: Bytes, until: Bytes, reverse: boolean): Generator<Entry> {
    for (const { entry } of this.#items.scan(nameOf(from), nameOf(until), reverse)) yield entry;
  }

  canAppend(name: string, size: number): boolean {
    return this.#items.get(name)?.entry.value.length === size;
  }

  apply({ name, key, value, isAppend }: Write): void {
    const before = isAppend ? this.#items.get(name)?.entry.value : undefined;
    this.#items.delete(name);
    if (value === null) return;
    const copy = before === undefined ? Buffer.from(value) : Buffer.concat([before, value]);
    this.#items.add({ name, entry: { key: Buffer.from(key), value: copy } });
  }
}
