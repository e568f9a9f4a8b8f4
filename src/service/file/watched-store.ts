import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import type { Stamp } from "../../base/stamp.ts";
import { appendInPlace, derivedRange, fetchesRecords, prefetch } from "../../store/accelerated.ts";
import type {
  Derivation,
  Derived,
  DerivedRange,
  ViewAcceleration,
} from "../../store/acceleration.ts";
import type { Entry, RangeOptions } from "../../store/entry.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import { StoreDecorator } from "../../store/store-decorator.ts";
import type { FileContext } from "./context.ts";
import { changesBetween, type FileChange, shareToTell } from "./file-changes.ts";
import { encodeMessage } from "./peer-messages.ts";
import type { Peers } from "./peers.ts";
import { deleteWatch, watchesOf, writeWatch } from "./watched-shares.ts";

/** The context of the File service with a store that reports changes. */
export interface WatchedFiles extends FileContext {
  readonly store: WatchedStore;
}

/** Tells another front end of changes that its clients watch for. */
export interface ChangesMessage {
  readonly kind: "changes";
  readonly changes: readonly FileChange[];
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
  readonly #peers: Peers | null;
  /** Shares of whose changes the other front ends tell us, or soon will. */
  readonly #heard = new Map<bigint, Promise<void>>();
  /** Shares of which we do not want to hear any more, until the others know it. */
  readonly #leaving = new Map<bigint, Promise<void>>();

  /** `peers` is null for a process that is alone. */
  constructor(inner: Store, peers: Peers | null = null) {
    super(inner);
    this.#peers = peers;
  }

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

  /**
   * Resolves when other front ends know that this one watches a share: watchers hear of all commits
   * from then on. Call it after `watch`.
   */
  async heard(share: bigint): Promise<void> {
    const peers = this.#peers;
    if (peers === null) return;
    const known = this.#heard.get(share) ?? this.#listenTo(share, peers.epoch());
    this.#heard.set(share, known);
    await known;
  }

  /** Tells watchers what another front end has told. */
  hear(changes: readonly FileChange[]): void {
    this.#tell(changes);
    for (const { share } of changes) if (!this.#watchers.has(share)) this.#stopHearing(share);
  }

  /** Forgets what other front ends know of this one, because its epoch is over. */
  beginEpoch(): void {
    this.#heard.clear();
  }

  override transact<T>(body: (tx: Transaction) => T): Promise<T> {
    const isPlain = this.#watchers.size === 0 && this.#peers === null;
    return isPlain ? this.inner.transact(body) : this.#transactAndTell(body);
  }

  async #transactAndTell<T>(body: (tx: Transaction) => T): Promise<T> {
    let changes: readonly FileChange[] = [];
    const result = await this.inner.transact((tx) => {
      const elsewhere = new Map<bigint, readonly bigint[]>();
      const noting = new NotingTransaction(tx, (share) => this.#isWatched(tx, share, elsewhere));
      const done = body(noting);
      changes = changesBetween(noting.before, tx);
      for (const [share, epochs] of elsewhere) this.#post(tx, share, epochs, changes);
      return done;
    });
    if (changes.length > 0) this.#tell(changes);
    return result;
  }

  /** Whether anybody watches a share; `elsewhere` gets the epochs of other front ends that do. */
  #isWatched(view: View, share: bigint, elsewhere: Map<bigint, readonly bigint[]>): boolean {
    const peers = this.#peers;
    if (peers !== null && !elsewhere.has(share)) {
      const epochs = watchesOf(view, share);
      elsewhere.set(
        share,
        epochs.filter((epoch) => epoch !== peers.epoch()),
      );
    }
    return this.#watchers.has(share) || (elsewhere.get(share)?.length ?? 0) > 0;
  }

  #post(
    tx: Transaction,
    share: bigint,
    epochs: readonly bigint[],
    changes: readonly FileChange[],
  ): void {
    const ofShare = changes.filter((change) => change.share === share);
    if (epochs.length === 0 || ofShare.length === 0) return;
    const message = encodeMessage<ChangesMessage>({ kind: "changes", changes: ofShare });
    for (const epoch of epochs) this.#peers?.post(tx, epoch, message);
  }

  async #listenTo(share: bigint, epoch: bigint): Promise<void> {
    await this.#leaving.get(share);
    try {
      await this.inner.transact((tx) => writeWatch(tx, share, epoch));
    } catch (error) {
      this.#heard.delete(share);
      throw error;
    }
  }

  #stopHearing(share: bigint): void {
    const epoch = this.#peers?.epoch();
    if (epoch === undefined || !this.#heard.delete(share)) return;
    const left = this.inner
      .transact((tx) => deleteWatch(tx, share, epoch))
      // The leader does it when this epoch is over.
      .catch(() => {})
      .then(() => void this.#leaving.delete(share));
    this.#leaving.set(share, left);
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
  readonly prefetch?: ViewAcceleration["prefetch"];
  readonly #tx: Transaction;
  readonly #isWatched: (share: bigint) => boolean;

  constructor(tx: Transaction, isWatched: (share: bigint) => boolean) {
    this.#tx = tx;
    this.#isWatched = isWatched;
    if (fetchesRecords(tx)) this.prefetch = (needs, next) => prefetch(tx, needs, next);
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
