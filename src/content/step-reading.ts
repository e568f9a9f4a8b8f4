import type { BorrowedBuffer, BufferOwner } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Reading } from "../store/content.ts";
import type { Pin } from "../store/extents.ts";
import type { Store, View } from "../store/store.ts";

/** The result of one lookup: the runs up to `until`, whose extents stay pinned until `release`. */
export interface Step<Run> extends Pin {
  readonly runs: readonly Run[];
  readonly until: number;
}

export interface StepReadingSetup<Run> {
  readonly store: Store;
  readonly from: number;
  readonly length: number;
  /** Whether the content may change while it is read: later steps then show the change. */
  readonly mayChange: boolean;
  /** Looks up the next step, which is a bounded amount of work. */
  find(view: View, from: number): Step<Run>;
  /** The bytes of all runs, if they are in memory. */
  wholeOf(runs: readonly Run[]): Bytes | null;
  ownerOf(run: Run): BufferOwner;
  areSame(one: Run, other: Run): boolean;
  /** Called when the reading is closed. */
  onClose(): void;
}

/**
 * A reading that looks up its runs step by step, each step in a read of the store. The first step
 * is part of the transaction that opens the reading.
 */
export class StepReading<Run> implements Reading {
  readonly length: number;
  readonly whole: Bytes | null;
  readonly isStable: boolean;
  readonly #setup: StepReadingSetup<Run>;
  readonly #until: number;
  /** Whether the first step found everything. */
  readonly #isComplete: boolean;
  #step: Step<Run>;
  /** The index of the next run in this step. */
  #next = 0;
  /** The owner of the current run's bytes. */
  #owner: BufferOwner | null = null;
  #closed = false;

  constructor(view: View, setup: StepReadingSetup<Run>) {
    this.length = setup.length;
    this.#setup = setup;
    this.#until = setup.from + setup.length;
    this.#step = this.#find(view, setup.from);
    view.onDiscard(() => this.close());
    this.#isComplete = this.#step.until === this.#until;
    this.isStable = this.#isComplete || !setup.mayChange;
    this.whole = this.#isComplete ? setup.wholeOf(this.#step.runs) : null;
  }

  async borrow(bytes: number): Promise<BorrowedBuffer | null> {
    for (;;) {
      const borrowed = await this.#owner?.borrow(bytes);
      if (borrowed) return borrowed;
      if (this.#next === this.#step.runs.length && !(await this.#findNext())) return null;
      const run = this.#step.runs[this.#next++];
      if (run !== undefined) this.#owner = this.#setup.ownerOf(run);
    }
  }

  isSameAs(other: Reading): boolean {
    if (!(other instanceof StepReading) || other.length !== this.length) return false;
    const { runs } = this.#step;
    const others: readonly Run[] = other.#step.runs;
    return (
      this.#isComplete &&
      other.#isComplete &&
      runs.length === others.length &&
      runs.every((run, at) => this.#setup.areSame(run, others[at] as Run))
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#step.release();
    this.#setup.onClose();
  }

  #find(view: View, from: number): Step<Run> {
    const step = this.#setup.find(view, from);
    view.onDiscard(() => step.release());
    return step;
  }

  /** Looks up the next step; false if there is none, or if the reading was closed meanwhile. */
  async #findNext(): Promise<boolean> {
    const { until } = this.#step;
    if (until === this.#until) return false;
    this.#step.release();
    this.#step = await this.#setup.store.read((view) => this.#find(view, until));
    this.#next = 0;
    if (this.#closed) this.#step.release();
    return !this.#closed;
  }
}
