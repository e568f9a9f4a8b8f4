import { fulfilled } from "../base/fulfilled.ts";
import type { Address, Extents } from "../store/extents.ts";
import type { Store } from "../store/store.ts";
import { ExtentSweep } from "./sweep-extents.ts";
import { GarbageSweep } from "./sweep-garbage.ts";

/** Rounds that go by, at most, until the living are moved although others are dying. */
const PUT_OFF_MAX = 256;

/** Gives space back, a bounded piece of work at a time. */
export class Sweeper {
  readonly #garbage: GarbageSweep;
  readonly #extents: ExtentSweep;
  readonly #sweepMaps: () => Promise<boolean>;
  #round: Promise<boolean> | null = null;
  /** How many rounds ago extents were last looked at. */
  #putOff = 0;

  constructor(
    store: Store,
    extents: Extents,
    isPinned: (id: bigint) => boolean,
    sweepMaps: () => Promise<boolean>,
  ) {
    this.#sweepMaps = sweepMaps;
    this.#extents = new ExtentSweep(store, extents);
    this.#garbage = new GarbageSweep(store, isPinned, (freed) => this.lookAt(freed));
    this.lookAtAllFrom(0);
  }

  /** What lay there may have died. */
  lookAt(addresses: readonly Address[]): void {
    this.#extents.lookAt(addresses);
  }

  /** Bytes may have died in this extent or in any that was added after it. */
  lookAtAllFrom(extent: number): void {
    this.#extents.lookAtAllFrom(extent);
  }

  /** True while there may be more to do. Who calls while a round is under way joins it. */
  sweep(): Promise<boolean> {
    this.#round ??= this.#sweep().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** An extent is full: those that are dead by now may be of use for the next one. */
  makeRoom(): void {
    if (this.#round !== null) return;
    const round = this.#extents.removeDead().catch(() => true); // The next round will meet it again.
    // Whoever joins in did not get the round that he wanted.
    this.#round = round.finally(() => {
      this.#round = null;
    });
  }

  /** What is wrong with one content or extent is told in the end: it keeps nobody from the others. */
  async #sweep(): Promise<boolean> {
    const maps = await Promise.allSettled([this.#sweepMaps()]);
    const garbage = await Promise.allSettled([this.#garbage.round()]);
    const isMore = [...maps, ...garbage].some((one) => one.status === "fulfilled" && one.value);
    const extents = await Promise.allSettled([this.#sweepExtents(isMore)]);
    return [...maps, ...garbage, ...extents].map(fulfilled).includes(true);
  }

  /** What is about to die need not be moved before: while there is more of it, that waits a while. */
  #sweepExtents(isMoreDying: boolean): Promise<boolean> {
    this.#putOff = isMoreDying && this.#putOff < PUT_OFF_MAX ? this.#putOff + 1 : 0;
    return this.#putOff === 0 ? this.#extents.round() : this.#extents.removeDead();
  }
}
