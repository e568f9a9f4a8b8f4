import { fulfilled } from "../base/fulfilled.ts";
import type { Address, Extents } from "../store/extents.ts";
import type { Others } from "../store/others.ts";
import type { Store } from "../store/store.ts";
import type { Garbage } from "./content-records.ts";
import { ExtentSweep } from "./sweep-extents.ts";
import { GarbageSweep } from "./sweep-garbage.ts";

/** Rounds for which compaction is postponed, at most, while there is garbage left to free. */
const POSTPONED_ROUNDS_MAX = 256;

export interface SweeperSetup {
  readonly store: Store;
  /** The store for freeing garbage, which only one process does. */
  readonly sweepStore: Store;
  readonly extents: Extents;
  readonly others: Others;
}

/** Frees garbage and compacts extents, with a bounded amount of work per round. */
export class Sweeper {
  readonly #garbage: GarbageSweep;
  readonly #extents: ExtentSweep;
  readonly #sweepMaps: () => Promise<boolean>;
  readonly #others: Others;
  #round: Promise<boolean> | null = null;
  /** How many rounds have postponed compaction. */
  #postponedRounds = 0;

  constructor(
    { store, sweepStore, extents, others }: SweeperSetup,
    isPinned: (garbage: Garbage) => boolean,
    sweepMaps: () => Promise<boolean>,
  ) {
    this.#sweepMaps = sweepMaps;
    this.#others = others;
    this.#extents = new ExtentSweep(store, extents);
    this.#garbage = new GarbageSweep(sweepStore, isPinned, (freed) => this.suspect(freed));
    this.suspectAllFrom(0);
  }

  /** Notes that bytes at these addresses may be dead. */
  suspect(addresses: readonly Address[]): void {
    this.#extents.suspect(addresses);
  }

  /** Notes that any bytes of this extent may be dead. */
  suspectExtent(extent: number): void {
    this.#extents.suspectExtent(extent);
  }

  /** Notes that this extent and all later ones may have dead bytes. */
  suspectAllFrom(extent: number): void {
    this.#extents.suspectAllFrom(extent);
  }

  /** Runs a round, or joins the one under way; returns true while there may be more to do. */
  sweep(): Promise<boolean> {
    this.#round ??= this.#sweep().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** Removes dead extents when a new one is added, so that later ones can use their space. */
  makeRoom(): void {
    if (this.#round !== null) return;
    // After an error, the next full round meets it again and reports it.
    const round = this.#extents.removeDead().catch(() => true);
    // Callers of `sweep` that join this round get a partial sweep, so it reports that there is more.
    this.#round = round.finally(() => {
      this.#round = null;
    });
  }

  /** Throws only after all steps, so that one damaged content does not block the others. */
  async #sweep(): Promise<boolean> {
    if (!this.#others.isSweeper) return this.#sweepExtents(false);
    const maps = await Promise.allSettled([this.#sweepMaps()]);
    const garbage = await Promise.allSettled([this.#garbage.round()]);
    const hasMore = [...maps, ...garbage].some((one) => one.status === "fulfilled" && one.value);
    const extents = await Promise.allSettled([this.#sweepExtents(hasMore)]);
    return [...maps, ...garbage, ...extents].map(fulfilled).includes(true);
  }

  /** Postpones compaction while there is garbage left to free, so that it does not move garbage. */
  #sweepExtents(hasMoreGarbage: boolean): Promise<boolean> {
    const isPostponed = hasMoreGarbage && this.#postponedRounds < POSTPONED_ROUNDS_MAX;
    this.#postponedRounds = isPostponed ? this.#postponedRounds + 1 : 0;
    return isPostponed ? this.#extents.removeDead() : this.#extents.round();
  }
}
