import type { Lender, Loan } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Reading } from "../store/contents.ts";
import type { Hold } from "../store/extents.ts";
import type { Store, View } from "../store/store.ts";

/** Where the bytes from some offset up to `until` are, with the extents they lie in held. */
export interface Step<Stretch> extends Hold {
  readonly stretches: readonly Stretch[];
  readonly until: number;
}

export interface StepReadingSetup<Stretch> {
  readonly store: Store;
  readonly from: number;
  readonly length: number;
  /** Whether what is read may change meanwhile: later steps would show it. */
  readonly mayChange: boolean;
  /** Looks up as much as should be looked up at one go. */
  find(view: View, from: number): Step<Stretch>;
  /** All of it, if it is at hand. */
  wholeOf(stretches: readonly Stretch[]): Bytes | null;
  lenderOf(stretch: Stretch): Lender;
  areSame(one: Stretch, other: Stretch): boolean;
  /** Called when the reading is closed. */
  onClose(): void;
}

/**
 * Bytes that are looked up step by step while they are read, each step in a state of its own. The
 * first is taken in the body that opens the reading.
 */
export class StepReading<Stretch> implements Reading {
  readonly length: number;
  readonly whole: Bytes | null;
  readonly isSettled: boolean;
  readonly #setup: StepReadingSetup<Stretch>;
  readonly #until: number;
  /** Whether the first step found everything. */
  readonly #isComplete: boolean;
  #step: Step<Stretch>;
  /** The stretch of this step that comes next, and what lends the bytes of the one before. */
  #next = 0;
  #lender: Lender | null = null;
  #closed = false;

  constructor(view: View, setup: StepReadingSetup<Stretch>) {
    this.length = setup.length;
    this.#setup = setup;
    this.#until = setup.from + setup.length;
    this.#step = this.#find(view, setup.from);
    view.onDiscard(() => this.close());
    this.#isComplete = this.#step.until === this.#until;
    this.isSettled = this.#isComplete || !setup.mayChange;
    this.whole = this.#isComplete ? setup.wholeOf(this.#step.stretches) : null;
  }

  async lend(bytes: number): Promise<Loan | null> {
    for (;;) {
      const loan = await this.#lender?.lend(bytes);
      if (loan) return loan;
      if (this.#next === this.#step.stretches.length && !(await this.#goOn())) return null;
      const stretch = this.#step.stretches[this.#next++];
      if (stretch !== undefined) this.#lender = this.#setup.lenderOf(stretch);
    }
  }

  isSameAs(other: Reading): boolean {
    if (!(other instanceof StepReading) || other.length !== this.length) return false;
    const { stretches } = this.#step;
    const others: readonly Stretch[] = other.#step.stretches;
    return (
      this.#isComplete &&
      other.#isComplete &&
      stretches.length === others.length &&
      stretches.every((stretch, at) => this.#setup.areSame(stretch, others[at] as Stretch))
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#step.release();
    this.#setup.onClose();
  }

  #find(view: View, from: number): Step<Stretch> {
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
