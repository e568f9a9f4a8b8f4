import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import { appendInPlace, derivedRange, fetchesRecords, prefetch } from "../../store/accelerated.ts";
import type { Derivation, Derived, DerivedRange, Need } from "../../store/acceleration.ts";
import type { Entry, RangeOptions } from "../../store/entry.ts";
import type { Transaction } from "../../store/store.ts";
import { StoreDecorator } from "../../store/store-decorator.ts";
import type { FileContext } from "./context.ts";
import { changesBetween, type FileChange, shareToTell } from "./file-changes.ts";

/** The context of the File service with a store that reports changes. */
export interface WatchedFiles extends FileContext {
  readonly store: WatchedStore;
}

/** Receives the changes that one transaction made to a share, once it is committed. */
export type Watcher = (changes: readonly FileChange[]) => void;

/**
 * The store of the File service, which reports changes in a share to its watchers. The changes come
 * from the records themselves, so no operation of any front end can forget to report one. Costs
 * nothing while there are no watchers.
 */
export class WatchedStore extends StoreDecorator {
  readonly #watchers = new Map<bigint, Set<Watcher>>();

  /** Reports changes in a share to `watcher` until the returned function is called. */
  watch(share: bigint, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(share) ?? new Set();
    this.#watchers.set(share, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(share) === watchers) {
        this.#watchers.delete(share);
      }
    };
  }

  override transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.#watchers.size === 0 ? this.inner.transact(body) : this.#transactAndTell(body);
  }

  async #transactAndTell<T>(body: (tx: Transaction) => T): Promise<T> {
    let changes: readonly FileChange[] = [];
    const result = await this.inner.transact((tx) => {
      const noting = new NotingTransaction(tx, (share) => this.#watchers.has(share));
      const done = body(noting);
      changes = changesBetween(noting.before, tx);
      return done;
    });
    if (changes.length > 0) this.#tell(changes);
    return result;
  }

  #tell(changes: readonly FileChange[]): void {
    for (const [share, watchers] of [...this.#watchers]) {
      const ofShare = changes.filter((change) => change.share === share);
      if (ofShare.length === 0) continue;
      for (const watcher of [...watchers]) watcher(ofShare);
    }
  }
}

/** Notes the value of each record before it is first written. */
class NotingTransaction implements Transaction {
  readonly before = new Map<string, { readonly key: Bytes; readonly value: Bytes | undefined }>();
  readonly prefetch?: (needs: () => Iterable<Need>) => void;
  readonly #tx: Transaction;
  readonly #isWatched: (share: bigint) => boolean;

  constructor(tx: Transaction, isWatched: (share: bigint) => boolean) {
    this.#tx = tx;
    this.#isWatched = isWatched;
    if (fetchesRecords(tx)) this.prefetch = (needs) => prefetch(tx, needs);
  }

  get(key: Bytes): Bytes | undefined {
    return this.#tx.get(key);
  }

  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[] {
    return this.#tx.range(from, until, options);
  }

  derivedRange<T extends Derived>(
    derivation: Derivation<T>,
    from: Bytes,
    until: Bytes,
    limit: number,
  ): DerivedRange<T> {
    return derivedRange(this.#tx, derivation, from, until, limit);
  }

  now(): Instant {
    return this.#tx.now();
  }

  stamp(): Stamp {
    return this.#tx.stamp();
  }

  onDiscard(release: () => void): void {
    this.#tx.onDiscard(release);
  }

  set(key: Bytes, value: Bytes): void {
    this.#note(key);
    this.#tx.set(key, value);
  }

  delete(key: Bytes): void {
    this.#note(key);
    this.#tx.delete(key);
  }

  append(key: Bytes, size: number, more: Bytes): boolean {
    this.#note(key);
    return appendInPlace(this.#tx, key, size, more);
  }

  #note(key: Bytes): void {
    const share = shareToTell(this.#tx, key);
    if (share === null || !this.#isWatched(share)) return;
    const name = key.toString("latin1");
    if (!this.before.has(name)) this.before.set(name, { key, value: this.#tx.get(key) });
  }
}
