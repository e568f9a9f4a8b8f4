import { type Clock, systemClock } from "../base/clock.ts";
import { KIB, MIB } from "../base/limits.ts";
import { MemoryBudget } from "../base/memory-budget.ts";
import { UnsentAnswers } from "./unsent-answers.ts";

export interface SendBudgetSizes {
  /** For answers that are read from disk in large parts, while there are few of them. */
  readonly largeBytesMax: number;
  /** For answers in small parts, when there are many, or clients that do not read. */
  readonly smallBytesMax: number;
  /** For answers that are whole in memory until their clients read them. */
  readonly unsentBytesMax: number;
  /** For long documents while they are rendered. */
  readonly renderingBytesMax: number;
  /** For the data of SMB READ answers. */
  readonly smbBytesMax: number;
}

const DEFAULT_SIZES: SendBudgetSizes = {
  largeBytesMax: 24 * MIB,
  smallBytesMax: 96 * MIB,
  unsentBytesMax: 64 * MIB,
  renderingBytesMax: 32 * MIB,
  smbBytesMax: 64 * MIB,
};

/** The first two clients get this much at once; then each gets less. */
const LARGEST_BYTES = 4 * MIB;
const LARGE_BYTES = 1 * MIB;
const SMALL_BYTES = 64 * KIB;
/** TLS copies bytes twice: joined, and encrypted. */
const COPIES_OF_SECURE = 3;

/** Memory for the next bytes of an answer. */
export interface Share {
  readonly bytes: number;
  /** Call once, when the system has taken the bytes or they are not sent. */
  release(): void;
}

/** How much of a part of the budget is taken, and how many wait for some. */
export interface BudgetUsage {
  readonly pool: string;
  readonly taken: number;
  readonly bytesMax: number;
  readonly waiting: number;
}

/**
 * The memory of a whole server for answers on their way to clients. A client that does not read
 * keeps a small share until `Pace` cuts its connection. So shares come free again, and everybody
 * who waits for one gets it.
 */
export class SendBudget {
  readonly unsent: UnsentAnswers;
  readonly rendering: MemoryBudget;
  readonly smb: MemoryBudget;
  readonly #large: MemoryBudget;
  readonly #small: MemoryBudget;

  constructor(sizes: Partial<SendBudgetSizes> = {}, clock: Clock = systemClock) {
    const { largeBytesMax, smallBytesMax, unsentBytesMax, renderingBytesMax, smbBytesMax } = {
      ...DEFAULT_SIZES,
      ...sizes,
    };
    this.#large = new MemoryBudget(largeBytesMax);
    this.#small = new MemoryBudget(smallBytesMax);
    this.unsent = new UnsentAnswers(unsentBytesMax, clock);
    this.rendering = new MemoryBudget(renderingBytesMax);
    this.smb = new MemoryBudget(smbBytesMax);
  }

  /** How much of each part is taken now, for operators. */
  usage(): readonly BudgetUsage[] {
    const { unsent } = this;
    return [
      usageOf("large", this.#large),
      usageOf("small", this.#small),
      { pool: "unsent", taken: unsent.bytes, bytesMax: unsent.bytesMax, waiting: 0 },
      usageOf("rendering", this.rendering),
      usageOf("smb", this.smb),
    ];
  }

  /**
   * For an answer with `left` bytes to send. Waits in a fair queue if small shares are all taken.
   */
  share(left: number, isSecure: boolean): Share | Promise<Share> {
    const large = this.tryLarge(left, isSecure);
    if (large !== null) return large;
    const bytes = Math.min(left, SMALL_BYTES);
    const taken = bytes * copiesOf(isSecure);
    const share = { bytes, release: () => this.#small.release(taken) };
    const wait = this.#small.take(taken);
    return wait === undefined ? share : wait.then(() => share);
  }

  /** A large share, to read ahead with; null unless the budget has plenty. */
  tryLarge(left: number, isSecure: boolean): Share | null {
    const isLittleTaken = this.#large.taken < this.#large.bytesMax / 2;
    const bytes = Math.min(left, isLittleTaken ? LARGEST_BYTES : LARGE_BYTES);
    const taken = bytes * copiesOf(isSecure);
    if (!this.#large.tryTake(taken)) return null;
    return { bytes, release: () => this.#large.release(taken) };
  }
}

function usageOf(pool: string, { taken, bytesMax, waiting }: MemoryBudget): BudgetUsage {
  return { pool, taken, bytesMax, waiting };
}

function copiesOf(isSecure: boolean): number {
  return isSecure ? COPIES_OF_SECURE : 1;
}
