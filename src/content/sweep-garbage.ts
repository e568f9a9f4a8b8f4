import { fulfilled } from "../base/fulfilled.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Part } from "../store/contents.ts";
import type { Address } from "../store/extents.ts";
import type { Store, Transaction } from "../store/store.ts";
import {
  addressesToFree,
  deleteContent,
  deleteGarbage,
  dropReference,
  type Garbage,
  keysToDrop,
  listGarbage,
  takeSegment,
  writeGarbage,
} from "./content-records.ts";
import { deleteUses } from "./content-uses.ts";

/** Contents that are freed concurrently; the engine commits them as a group. */
const CONTENTS_PER_ROUND = 128;
/** Segments of one list that a round frees, with a transaction for each. */
const SEGMENTS_PER_ROUND = 16;

/** Frees contents without references, except those that are pinned by a reader or draft. */
export class GarbageSweep {
  readonly #store: Store;
  readonly #isPinned: (garbage: Garbage) => boolean;
  readonly #onFreed: (addresses: readonly Address[]) => void;
  /** The id at which the next round begins, so that pinned contents do not block the others. */
  #next = 0n;

  constructor(
    store: Store,
    isPinned: (garbage: Garbage) => boolean,
    onFreed: (addresses: readonly Address[]) => void,
  ) {
    this.#store = store;
    this.#isPinned = isPinned;
    this.#onFreed = onFreed;
  }

  /**
   * Frees some garbage; true while there may be more. The garbage records are committed, so later
   * reads cannot find these contents, and earlier reads have already pinned them.
   */
  async round(): Promise<boolean> {
    const found = await this.#store.read((view) =>
      listGarbage(view, this.#next, CONTENTS_PER_ROUND),
    );
    const freed = await Promise.allSettled(found.map((garbage) => this.#free(garbage)));
    const last = found.length < CONTENTS_PER_ROUND ? undefined : found.at(-1);
    this.#next = last === undefined ? 0n : last.id + 1n;
    const finished = freed.map(fulfilled);
    return last !== undefined || finished.includes(false);
  }

  /** Frees a content, or some segments of a list; false if segments are left. */
  async #free(garbage: Garbage): Promise<boolean> {
    for (let step = 0; step < SEGMENTS_PER_ROUND; step++) {
      if (this.#isPinned(garbage)) return true;
      const { done, freed } = await this.#store.transact((tx) => {
        const freed: Address[] = [];
        const isList = garbage.kind === "list";
        const done = isList ? freeSegment(tx, garbage.id, freed) : freeLeaf(tx, garbage.id, freed);
        return { done, freed };
      });
      this.#onFreed(freed);
      if (done) return true;
    }
    return false;
  }
}

function freeLeaf(tx: Transaction, id: bigint, freed: Address[]): boolean {
  deleteGarbage(tx, id);
  deleteAddresses(tx, id, freed);
  return true;
}

/** Frees one segment of a list, or the empty list; true once the list is gone. */
function freeSegment(tx: Transaction, id: bigint, freed: Address[]): boolean {
  const parts = takeSegment(tx, id);
  if (parts === null) {
    deleteContent(tx, id);
    deleteGarbage(tx, id);
    return true;
  }
  prefetch(tx, () => keysToDrop(parts.map(({ content }) => content)));
  for (const part of parts) dropPart(tx, part, freed);
  return false;
}

function dropPart(tx: Transaction, { content }: Part, freed: Address[]): void {
  if (!dropReference(tx, content.id)) return;
  const { id, kind } = content;
  if (kind === "extent" || kind === "sealed") deleteAddresses(tx, id, freed);
  else if (kind === "list") writeGarbage(tx, { id, kind });
  else deleteContent(tx, id);
}

/** Without its record, nobody knows where a damaged content has its bytes: they stay in use. */
function deleteAddresses(tx: Transaction, id: bigint, freed: Address[]): void {
  const addresses = addressesToFree(tx, id);
  deleteUses(tx, id, addresses);
  freed.push(...addresses);
  deleteContent(tx, id);
}
