import type { FrontEnd } from "../cluster/front-end.ts";
import { forgetEnded, listFrontEnds, readFrontEnd } from "../cluster/front-end-records.ts";
import { clearMessages } from "../cluster/messages.ts";
import { ExtentCollection } from "../content/collect-extents.ts";
import { failInterruptedCopies } from "../service/blob/fail-interrupted-copies.ts";
import { clearHandles, type Runs } from "../service/file/clear-handles.ts";
import type { FileContext } from "../service/file/context.ts";
import { failInterruptedCopies as failInterruptedFileCopies } from "../service/file/fail-interrupted-copies.ts";
import type { Peers } from "../service/file/peers.ts";
import { clearWatches } from "../service/file/watched-shares.ts";
import { WatchedStore } from "../service/file/watched-store.ts";
import type { LeftExtents } from "../store/left-extents.ts";
import type { View } from "../store/store.ts";
import type { Member } from "./shared-data.ts";

/**
 * What the leader does for front ends that have ended: their handles and locks end, their copies
 * fail, and what they stored without a name is freed. Each step can be repeated by another leader.
 */
export class LeaderWork {
  readonly #frontEnd: FrontEnd;
  readonly #files: FileContext;
  readonly #extents: LeftExtents;
  #collection: ExtentCollection;
  /** The epochs that ran when handles were last cleared. */
  #epochs: ReadonlySet<bigint> | null = null;
  /** Takes over handles that clients may reclaim; nothing, unless the server has SMB. */
  adopt: (runs: Runs) => Promise<void> = async () => {};
  /** The ended front ends that were cleaned up after. */
  #cleaned: readonly number[] | null = null;

  constructor({ frontEnd, leaderStore, messages, extents }: Member, files: FileContext) {
    this.#frontEnd = frontEnd;
    this.#extents = extents;
    // Its own watchers get a message, too: they do not know of this store.
    const peers: Peers = {
      epoch: () => 0n,
      post: (tx, epoch, message) => messages.post(tx, epoch, message),
      listen() {},
    };
    this.#files = { ...files, store: new WatchedStore(leaderStore, peers) };
    this.#collection = this.#newCollection();
  }

  /** One round of background work, if this front end leads. True while there may be more to do. */
  async round(): Promise<boolean> {
    if (!this.#frontEnd.isSweeper) {
      // A front end that leads again does not know what happened meanwhile.
      this.#epochs = null;
      this.#cleaned = null;
      this.#collection = this.#newCollection();
      return false;
    }
    const { epochs, ended } = this.#frontEnd;
    const hasEnded = ended.some((one) => this.#cleaned?.includes(one) !== true);
    if (hasEnded || this.#epochs === null || !isSubset(this.#epochs, epochs)) {
      const { store } = this.#files;
      await clearHandles(this.#files, runsEpoch);
      await clearWatches(store, runsEpoch);
      await clearMessages(store, runsEpoch);
      await this.adopt(runsEpoch);
    }
    this.#epochs = epochs;
    if (hasEnded || this.#cleaned === null) {
      await failInterruptedCopies(this.#files, runs);
      await failInterruptedFileCopies(this.#files, runs);
    }
    this.#cleaned = ended;
    return await this.#collection.round(ended);
  }

  #newCollection(): ExtentCollection {
    const { store } = this.#files;
    return new ExtentCollection({
      store,
      extents: this.#extents,
      others: this.#frontEnd,
      onEmpty: (maker) => store.transact((tx) => forgetEnded(tx, maker)),
    });
  }
}

function runsEpoch(view: View, epoch: bigint): boolean {
  return listFrontEnds(view).some((one) => one.epoch === epoch);
}

function runs(view: View, frontEnd: number): boolean {
  return readFrontEnd(view, frontEnd) !== null;
}

function isSubset(some: ReadonlySet<bigint>, all: ReadonlySet<bigint>): boolean {
  return [...some].every((one) => all.has(one));
}
