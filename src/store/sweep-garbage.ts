import {
  deleteContent,
  deleteGarbage,
  dropReference,
  type Garbage,
  listGarbage,
  readAddresses,
  takeSegment,
  writeGarbage,
} from "./content-records.ts";
import { deleteUses } from "./content-uses.ts";
import type { Part } from "./contents.ts";
import { fulfilled } from "./settled.ts";
import type { Store, Transaction } from "./store.ts";

/** Contents that are freed at the same time; the engine commits them together. */
const CONTENTS_PER_ROUND = 128;
/** Transactions that one list takes in one round, each for one of its segments. */
const SEGMENTS_PER_ROUND = 16;

/** Frees contents that nobody refers to any more, but not those that are being read. */
export class GarbageSweep {
  readonly #store: Store;
  readonly #isPinned: (id: bigint) => boolean;
  readonly #onFreed: (extents: Iterable<number>) => void;
  /** Where the next round begins, so that what is pinned does not keep it from the rest. */
  #next = 0n;

  constructor(
    store: Store,
    isPinned: (id: bigint) => boolean,
    onFreed: (extents: Iterable<number>) => void,
  ) {
    this.#store = store;
    this.#isPinned = isPinned;
    this.#onFreed = onFreed;
  }

  /**
   * Garbage is looked up in a committed state: whoever reads from now on cannot come across it, and
   * whoever came across it before has pinned it by now.
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

  /** False if there is more to do at once. */
  async #free(garbage: Garbage): Promise<boolean> {
    for (let step = 0; step < SEGMENTS_PER_ROUND; step++) {
      if (this.#isPinned(garbage.id)) return true;
      const extents = new Set<number>();
      const done = await this.#store.transact((tx) =>
        garbage.kind === "list"
          ? freeSegment(tx, garbage.id, extents)
          : freeLeaf(tx, garbage.id, extents),
      );
      this.#onFreed(extents);
      if (done) return true;
    }
    return false;
  }
}

function freeLeaf(tx: Transaction, id: bigint, extents: Set<number>): boolean {
  deleteGarbage(tx, id);
  deleteAddresses(tx, id, extents);
  return true;
}

/** Frees a list piece by piece; true when all of it is gone. */
function freeSegment(tx: Transaction, id: bigint, extents: Set<number>): boolean {
  const parts = takeSegment(tx, id);
  if (parts === null) {
    deleteContent(tx, id);
    deleteGarbage(tx, id);
    return true;
  }
  for (const part of parts) dropPart(tx, part, extents);
  return false;
}

function dropPart(tx: Transaction, { content }: Part, extents: Set<number>): void {
  if (!dropReference(tx, content.id)) return;
  if (content.kind === "extent") deleteAddresses(tx, content.id, extents);
  else if (content.kind === "list") writeGarbage(tx, { id: content.id, kind: "list" });
  else deleteContent(tx, content.id);
}

function deleteAddresses(tx: Transaction, id: bigint, extents: Set<number>): void {
  const addresses = readAddresses(tx, id);
  deleteUses(tx, id, addresses);
  for (const { extent } of addresses) extents.add(extent);
  deleteContent(tx, id);
}
