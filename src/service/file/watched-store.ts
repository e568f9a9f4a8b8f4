import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import {
  appendInPlace,
  type Derivation,
  type Derived,
  type DerivedRange,
  derivedRange,
} from "../../store/acceleration.ts";
import type { Entry, RangeOptions, Store, Transaction, View } from "../../store/store.ts";
import type { FileContext } from "./context.ts";
import { changesBetween, type FileChange, shareToTell } from "./file-changes.ts";

/** What the File service works with, where somebody may want to know what changes. */
export interface WatchedFiles extends FileContext {
  readonly store: WatchedStore;
}

/** Told what one transaction changed in a share, once it is committed. */
export type Watcher = (changes: readonly FileChange[]) => void;

/**
 * The store of the File service, which tells whoever watches a share what changes in it. What is told
 * comes from the records themselves, so that no operation, through whichever door, can forget to say
 * it. While nobody watches, it costs nothing.
 */
export class WatchedStore implements Store {
  readonly #store: Store;
  readonly #watchers = new Map<bigint, Set<Watcher>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Begins to tell of a share; what comes back ends it. */
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

  read<T>(body: (view: View) => T): Promise<T> {
    return this.#store.read(body);
  }

  transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.#watchers.size === 0 ? this.#store.transact(body) : this.#transactAndTell(body);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #transactAndTell<T>(body: (tx: Transaction) => T): Promise<T> {
    let changes: readonly FileChange[] = [];
    const result = await this.#store.transact((tx) => {
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

/** Notes what records were before they are written for the first time. */
class NotingTransaction implements Transaction {
  readonly before = new Map<string, { readonly key: Bytes; readonly value: Bytes | undefined }>();
  readonly #tx: Transaction;
  readonly #isWatched: (share: bigint) => boolean;

  constructor(tx: Transaction, isWatched: (share: bigint) => boolean) {
    this.#tx = tx;
    this.#isWatched = isWatched;
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
