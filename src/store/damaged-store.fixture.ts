import type { Bytes } from "../base/bytes.ts";
import type { Entry, RangeOptions } from "./entry.ts";
import { StoreError, type Transaction, type View } from "./store.ts";
import { StoreDecorator } from "./store-decorator.ts";

/** A store some of whose records are damaged on disk, until they are written or deleted. */
export class DamagedStore extends StoreDecorator {
  readonly #damaged = new Set<string>();

  damage(key: Bytes): void {
    this.#damaged.add(nameOf(key));
  }

  override read<T>(body: (view: View) => T): Promise<T> {
    return this.inner.read((view) => body(this.#viewOn(view, new Set())));
  }

  override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    let written = new Set<string>();
    const result = await this.inner.transact((tx) => {
      written = new Set();
      return body(this.#transactionOn(tx, written));
    });
    for (const name of written) this.#damaged.delete(name);
    return result;
  }

  #viewOn(view: View, written: ReadonlySet<string>): View {
    const isDamaged = (key: Bytes) => this.#damaged.has(nameOf(key)) && !written.has(nameOf(key));
    const check = (key: Bytes) => {
      if (isDamaged(key)) throw new StoreError("damaged", `${key.toString("hex")} is damaged`);
    };
    return {
      get: (key) => {
        check(key);
        return view.get(key);
      },
      range: (from, until, options) => {
        const limit = Number.POSITIVE_INFINITY;
        const all = view.range(from, until, { ...options, limit });
        return some(all, options, isDamaged, check);
      },
      now: () => view.now(),
      onDiscard: (release) => view.onDiscard(release),
    };
  }

  #transactionOn(tx: Transaction, written: Set<string>): Transaction {
    return {
      ...this.#viewOn(tx, written),
      set: (key, value) => {
        written.add(nameOf(key));
        tx.set(key, value);
      },
      delete: (key) => {
        written.add(nameOf(key));
        tx.delete(key);
      },
      stamp: () => tx.stamp(),
    };
  }
}

/** The first sound entries; fails at a damaged one unless it is to be skipped. */
function some(
  entries: readonly Entry[],
  { limit, skipsDamaged = false }: RangeOptions,
  isDamaged: (key: Bytes) => boolean,
  check: (key: Bytes) => void,
): Entry[] {
  const found: Entry[] = [];
  for (const entry of entries) {
    if (found.length === limit) break;
    if (!skipsDamaged) check(entry.key);
    if (!isDamaged(entry.key)) found.push(entry);
  }
  return found;
}

function nameOf(key: Bytes): string {
  return key.toString("latin1");
}
