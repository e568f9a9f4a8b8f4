import type { BorrowedBuffer, BufferOwner } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Reading } from "../store/contents.ts";
import type { Pin } from "../store/extents.ts";
import type { Store, View } from "../store/store.ts";

/** Where the bytes from some offset up to `until` are, with the extents they lie in held. */
export interface Step<Run> extends Pin {
  readonly runs: readonly Run[];
  readonly until: number;
}

export interface StepReadingSetup<Run> {
  readonly store: Store;
  readonly from: number;
  readonly length: number;
  /** Whether what is read may change meanwhile: later steps would show it. */
  readonly mayChange: boolean;
  /** Looks up as much as should be looked up at one go. */
  find(view: View, from: number): Step<Run>;
  /** All of it, if it is at hand. */
  wholeOf(runs: readonly Run[]): Bytes | null;
  ownerOf(run: Run): BufferOwner;
  areSame(one: Run, other: Run): boolean;
  /** Called when the reading is closed. */
  onClose(): void;
}

/**
 * Bytes that are looked up step by step while they are read, each step in a state of its own. The
 * first is taken in the body that opens the reading.
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
  /** The run of this step that comes next, and what lends the bytes of the one before. */
  #next = 0;
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
      if (this.#next === this.#step.runs.length && !(await this.#goOn())) return null;
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

  /** Looks the next step up; false if there is none, or nobody reads any more. */
  async #goOn(): Promise<boolean> {
    const { until } = this.#step;
    if (until === this.#until) return false;
    this.#step.release();
    this.#step = await this.#setup.store.read((view) => this.#find(view, until));
    this.#next = 0;
    if (this.#closed) this.#step.release();
    return !this.#closed;
  }
}
