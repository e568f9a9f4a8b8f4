import { KIB, MIB } from "../base/limits.ts";
import { MemoryBudget } from "../base/memory-budget.ts";
import { UnsentAnswers } from "./unsent-answers.ts";

export interface SendBudgetSizes {
  /** For answers that are read from disk in large bits, as long as there are few of them. */
  readonly largeBytesMax: number;
  /** For those that have to do with small bits, since there are many, or clients that do not read. */
  readonly smallBytesMax: number;
  /** For answers that are whole in memory, and that their clients do not take. */
  readonly unsentBytesMax: number;
  /** For answers of SMB to READ. */
  readonly smbBytesMax: number;
}

const DEFAULT_SIZES: SendBudgetSizes = {
  largeBytesMax: 24 * MIB,
  smallBytesMax: 96 * MIB,
  unsentBytesMax: 64 * MIB,
  smbBytesMax: 64 * MIB,
};

/** A single client gets so much at once; a second one too, and then there is less for each. */
const LARGEST_BYTES = 4 * MIB;
const LARGE_BYTES = 1 * MIB;
const SMALL_BYTES = 64 * KIB;
/** What is encrypted is copied twice: put together, and as it goes over the wire. */
const COPIES_OF_SECURE = 3;

/** Memory for the next bytes of an answer. */
export interface Share {
  readonly bytes: number;
  /** Once, when the system has taken them, or nobody wants them any more. */
  release(): void;
}

/**
 * The memory of a whole server for answers on their way to clients. Those who read fast never notice. A
 * client that does not read keeps a small share, and loses it with its connection when the pace is checked:
 * so there is always something for others, and whoever waits for a share gets one.
 */
export class SendBudget {
  readonly unsent: UnsentAnswers;
  readonly smb: MemoryBudget;
  readonly #large: MemoryBudget;
  readonly #small: MemoryBudget;

  constructor(sizes: Partial<SendBudgetSizes> = {}) {
    const { largeBytesMax, smallBytesMax, unsentBytesMax, smbBytesMax } = {
      ...DEFAULT_SIZES,
      ...sizes,
    };
    this.#large = new MemoryBudget(largeBytesMax);
    this.#small = new MemoryBudget(smallBytesMax);
    this.unsent = new UnsentAnswers(unsentBytesMax);
    this.smb = new MemoryBudget(smbBytesMax);
  }

  /** For an answer of which so much is left. Waits in a fair queue if even small shares are all taken. */
  share(left: number, isSecure: boolean): Share | Promise<Share> {
    const large = this.tryLarge(left, isSecure);
    if (large !== null) return large;
    const bytes = Math.min(left, SMALL_BYTES);
    const taken = bytes * copiesOf(isSecure);
    const share = { bytes, release: () => this.#small.release(taken) };
    const wait = this.#small.take(taken);
    return wait === undefined ? share : wait.then(() => share);
  }

  /** The same for what is read ahead: null unless there is plenty. */
  tryLarge(left: number, isSecure: boolean): Share | null {
    const isLittleTaken = this.#large.taken < this.#large.bytesMax / 2;
    const bytes = Math.min(left, isLittleTaken ? LARGEST_BYTES : LARGE_BYTES);
    const taken = bytes * copiesOf(isSecure);
    if (!this.#large.tryTake(taken)) return null;
    return { bytes, release: () => this.#large.release(taken) };
  }
}

function copiesOf(isSecure: boolean): number {
  return isSecure ? COPIES_OF_SECURE : 1;
}
