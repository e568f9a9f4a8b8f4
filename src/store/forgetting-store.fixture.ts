import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import type { Stamp } from "../base/stamp.ts";
import { appendInPlace, DERIVED_BYTES_MAX, derivedRange } from "./accelerated.ts";
import type { Derivation, Derived, DerivedRange, Need } from "./acceleration.ts";
import type { Entry, RangeOptions } from "./entry.ts";
import { OnlyTried, tryOnGuesses } from "./guesses.fixture.ts";
import { isRange, KnownRecords, type Span, spanOf } from "./known-records.fixture.ts";
import type { Store, Transaction, View } from "./store.ts";
import { StoreDecorator } from "./store-decorator.ts";

/** The rounds that a body may take. A database that is far away makes each of them long. */
export const ROUNDS_MAX = 20;

/**
 * Runs bodies again in all ways in which a store may.
 * - If asked for, it first tries a transaction on wrong guesses: that no record exists
 *   (`guesses.fixture.ts`).
 * - It begins every call anew without any record, and fetches one only after a body has asked for it.
 *   Then it runs the body again, as a store over a database does, with the same time and the same
 *   stamps. A call that takes more than `ROUNDS_MAX` such rounds fails.
 * - It discards the writes, result and errors of the first run that lacks nothing, and lets other
 *   bodies run before the last one, which has another time and other stamps.
 * State that a run leaves outside, or a body that catches errors it does not know, fails tests.
 */
export class ForgettingStore extends StoreDecorator {
  /** The most rounds that a call has taken. */
  mostRounds = 0;
  /** Transactions run one after another, so that the rounds of one can have the same stamps. */
  #lastTransaction: Promise<unknown> = Promise.resolve();
  readonly #guesses: boolean;

  constructor(inner: Store, guesses = false) {
    super(inner);
    this.#guesses = guesses;
  }

  /** The store below, for tests that count what a body costs. */
  get once(): Store {
    return this.inner;
  }

  override async read<T>(body: (view: View) => T): Promise<T> {
    const call = new Call();
    const run = <R>(attempt: (view: View) => R) =>
      this.inner.read((view) => attempt(new ForgettingView(view, call)));
    await this.#discarded(call, run, body);
    return this.#inRounds(call, run, body);
  }

  override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    const call = new Call();
    const run = <R>(attempt: (tx: Transaction) => R) =>
      this.inner.transact((tx) => attempt(new ForgettingTransaction(tx, call)));
    if (this.#guesses) await this.#afterOthers(() => this.#try(body));
    await this.#afterOthers(() => this.#discarded(call, run, body));
    return this.#afterOthers(() => this.#inRounds(call, run, body));
  }

  async #try(body: (tx: Transaction) => unknown): Promise<void> {
    const tried = this.inner.transact((tx) => tryOnGuesses(tx, body));
    await tried.catch((error) => {
      if (!(error instanceof OnlyTried)) throw error;
    });
  }

  /** Runs the body until it lacks nothing, and discards that run. */
  async #discarded<V>(call: Call, run: Run<V>, body: (view: V) => unknown): Promise<void> {
    const discarded = this.#inRounds(call, run, (view) => {
      try {
        body(view);
      } catch (error) {
        // The last run decides about any other error.
        if (error instanceof Lack) throw error;
      }
      throw DISCARDED;
    });
    await discarded.catch((error) => {
      if (error !== DISCARDED) throw error;
    });
    call.beginAgain();
    await othersRun();
  }

  async #inRounds<V, T>(call: Call, run: Run<V>, body: (view: V) => T): Promise<T> {
    for (;;) {
      call.lack = null;
      try {
        return await run((view) => call.passLack(() => body(view)));
      } catch (error) {
        if (call.lack === null || error !== call.lack) throw error;
        call.fetch(call.lack);
        if (call.rounds > ROUNDS_MAX) {
          throw new Error(`a body takes more than ${ROUNDS_MAX} rounds`, { cause: error });
        }
        this.mostRounds = Math.max(this.mostRounds, call.rounds);
        await othersRun();
      }
    }
  }

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastTransaction.then(work);
    this.#lastTransaction = done.catch(() => {});
    return done;
  }
}

/** Ends the run that is discarded. One for all, because taking a stack for each call costs much. */
const DISCARDED = new Error("discarded");

/** Resolves once other bodies, and whatever waits for the event loop, had time to run. */
function othersRun(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

type Run<V> = <R>(attempt: (view: V) => R) => Promise<R>;

/** Thrown out of a body that asked for records which are not there yet. */
class Lack extends Error {
  readonly spans: readonly (Bytes | Span)[];

  constructor(spans: readonly (Bytes | Span)[]) {
    super("the store lacks a record");
    this.spans = spans;
  }
}

/** What all runs of one call share. */
class Call {
  readonly #known = new KnownRecords();
  readonly #stamps: Stamp[] = [];
  #now: Instant | null = null;
  rounds = 0;
  /** What the current run lacked first. */
  lack: Lack | null = null;

  require(spans: readonly (Bytes | Span)[]): void {
    const unknown = spans.filter((span) =>
      Buffer.isBuffer(span) ? !this.#known.has(span) : !this.#known.covers(span),
    );
    if (unknown.length === 0) return;
    this.lack ??= new Lack(unknown);
    throw this.lack;
  }

  knows(span: Span): boolean {
    return this.#known.covers(span);
  }

  /** Returns what `run` returns; fails if it went on without a record that it lacked. */
  passLack<T>(run: () => T): T {
    try {
      const result = run();
      if (this.lack === null) return result;
    } catch (error) {
      if (this.lack === null || error === this.lack) throw error;
    }
    throw new Error("a body caught an error that it does not know", { cause: this.lack });
  }

  fetch(lack: Lack): void {
    this.#known.add(lack.spans);
    this.rounds++;
  }

  /** The last run has another time and other stamps. */
  beginAgain(): void {
    this.#now = null;
    this.#stamps.length = 0;
  }

  now(view: View): Instant {
    this.#now ??= view.now();
    return this.#now;
  }

  stamp(index: number, tx: Transaction): Stamp {
    const stamp = this.#stamps[index] ?? tx.stamp();
    this.#stamps[index] = stamp;
    return stamp;
  }
}

class ForgettingView<V extends View = View> implements View {
  protected readonly view: V;
  protected readonly call: Call;

  constructor(view: V, call: Call) {
    this.view = view;
    this.call = call;
  }

  get(key: Bytes): Bytes | undefined {
    const value = this.view.get(key);
    this.requireKey(key);
    return value;
  }

  range(from: Bytes, until: Bytes, options: RangeOptions): Entry[] {
    const entries = this.view.range(from, until, options);
    this.call.require([spanOf({ from, until }, options, entries)]);
    return entries;
  }

  derivedRange<T extends Derived>(
    derivation: Derivation<T>,
    from: Bytes,
    until: Bytes,
    limit: number,
  ): DerivedRange<T> {
    const found = derivedRange(this.view, derivation, from, until, limit);
    const own = { from, until: found.until };
    // Once it fetches, it fetches all that was asked for: pages that are cached below may be shorter.
    if (!this.call.knows(own)) {
      const options = { limit, bytesMax: DERIVED_BYTES_MAX };
      this.call.require([
        own,
        spanOf({ from, until }, options, this.view.range(from, until, options)),
      ]);
    }
    return found;
  }

  prefetch(needs: () => Iterable<Need>, next: () => Iterable<Need> = () => []): void {
    this.#require(needs());
    this.#require(next());
  }

  #require(needs: Iterable<Need>): void {
    const spans: (Bytes | Span)[] = [];
    for (const need of needs) {
      if (isRange(need)) {
        const { from, until, options } = need;
        spans.push(spanOf(need, options, this.view.range(from, until, options)));
      } else if (!this.isWritten(need)) {
        spans.push(need);
      }
    }
    this.call.require(spans);
  }

  now(): Instant {
    return this.call.now(this.view);
  }

  onDiscard(release: () => void): void {
    this.view.onDiscard(release);
  }

  protected isWritten(_key: Bytes): boolean {
    return false;
  }

  protected requireKey(key: Bytes): void {
    if (!this.isWritten(key)) this.call.require([key]);
  }
}

class ForgettingTransaction extends ForgettingView<Transaction> implements Transaction {
  readonly #written = new Set<string>();
  #stamps = 0;

  set(key: Bytes, value: Bytes): void {
    this.view.set(key, value);
    this.#written.add(key.toString("latin1"));
  }

  delete(key: Bytes): void {
    this.view.delete(key);
    this.#written.add(key.toString("latin1"));
  }

  append(key: Bytes, size: number, more: Bytes): boolean {
    this.requireKey(key);
    return appendInPlace(this.view, key, size, more);
  }

  stamp(): Stamp {
    return this.call.stamp(this.#stamps++, this.view);
  }

  protected override isWritten(key: Bytes): boolean {
    return this.#written.has(key.toString("latin1"));
  }
}
