import type { Extents } from "./extents.ts";
import { fulfilled } from "./settled.ts";
import type { Store } from "./store.ts";
import { ExtentSweep } from "./sweep-extents.ts";
import { GarbageSweep } from "./sweep-garbage.ts";

/** Gives space back, a bounded piece of work at a time. */
export class Sweeper {
  readonly #garbage: GarbageSweep;
  readonly #extents: ExtentSweep;
  readonly #sweepMaps: () => Promise<boolean>;
  #round: Promise<boolean> | null = null;

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

  /** Bytes in these extents may have died. */
  lookAt(extents: Iterable<number>): void {
    this.#extents.lookAt(extents);
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
    const round = this.#extents.removeDead().catch(() => {}); // The next round will meet it again.
    // Whoever joins in did not get the round that he wanted.
    this.#round = round
      .then(() => true)
      .finally(() => {
        this.#round = null;
      });
  }

  /** What is wrong with one content or extent is told in the end: it keeps nobody from the others. */
  async #sweep(): Promise<boolean> {
    const maps = await Promise.allSettled([this.#sweepMaps()]);
    const garbage = await Promise.allSettled([this.#garbage.round()]);
    const extents = await Promise.allSettled([this.#extents.round()]);
    return [...maps, ...garbage, ...extents].map(fulfilled).includes(true);
  }
}
