import type { Stamp } from "../base/stamp.ts";
import type { LeftExtents } from "../store/left-extents.ts";
import type { Others } from "../store/others.ts";
import type { Store } from "../store/store.ts";
import { unusedOf } from "./extent-makers.ts";

/** Extents that one step looks at. */
const EXTENTS_PER_STEP = 10_000;
const EXTENTS_PER_READ = 256;

/** Extents of an ended process without bytes in use, which others may still read. */
interface Plan {
  readonly maker: number;
  readonly unused: readonly number[];
  /** Given when they were found to be unused. */
  readonly died: Stamp;
  /** Whether no other extents of this process are left. */
  readonly isAll: boolean;
}

export interface ExtentCollectionSetup {
  /** The leader's store. */
  readonly store: Store;
  readonly extents: LeftExtents;
  readonly others: Others;
  /** Called when an ended process has no extents any more. */
  readonly onEmpty: (maker: number) => Promise<void>;
}

/**
 * Frees what ended processes have left behind: uploads that they did not finish, and extents that
 * have no bytes in use. Extents that lose their last use later are swept like any other.
 */
export class ExtentCollection {
  readonly #setup: ExtentCollectionSetup;
  readonly #looked = new Set<number>();
  #plan: Plan | null = null;

  constructor(setup: ExtentCollectionSetup) {
    this.#setup = setup;
  }

  /** One step; true while there may be more to do now. */
  async round(ended: readonly number[]): Promise<boolean> {
    if (this.#plan !== null) return this.#carryOut(this.#plan);
    const maker = ended.find((one) => !this.#looked.has(one));
    if (maker === undefined) return false;
    this.#plan = await this.#look(maker);
    return true;
  }

  async #look(maker: number): Promise<Plan> {
    const { store, extents } = this.#setup;
    await extents.abortUploads(maker);
    const unused: number[] = [];
    let isAll = true;
    for await (const page of extents.extentsOf(maker)) {
      for (let at = 0; at < page.length && unused.length < EXTENTS_PER_STEP; ) {
        const some = page.slice(at, at + EXTENTS_PER_READ);
        at += some.length;
        const found = await store.read((view) => unusedOf(view, some));
        if (found.length < some.length) isAll = false;
        unused.push(...found);
      }
      if (unused.length < EXTENTS_PER_STEP) continue;
      isAll = false;
      break;
    }
    const died = await store.transact((tx) => tx.stamp());
    return { maker, unused, died, isAll };
  }

  async #carryOut({ maker, unused, died, isAll }: Plan): Promise<boolean> {
    const { extents, others, onEmpty } = this.#setup;
    if (!others.isUnread(died)) return false;
    for (const extent of unused) await extents.discard(extent);
    this.#plan = null;
    if (unused.length >= EXTENTS_PER_STEP) return true;
    this.#looked.add(maker);
    if (isAll) await onEmpty(maker);
    return true;
  }
}
