import { HELD_BLOBS } from "../../service/blob/held-blobs.ts";
import { HELD_FILES, HELD_OPENS } from "../../service/file/held-files.ts";
import { HELD_MESSAGES } from "../../service/queue/held-messages.ts";
import type { HolderList } from "../../service/shared/holder.ts";
import { HolderScan } from "../../service/shared/holder-scan.ts";
import { isUnreachable, type Store } from "../../store/store.ts";

/** Quick ones first. */
const PARTS = [HELD_OPENS, HELD_MESSAGES, HELD_BLOBS, HELD_FILES];

/**
 * Everything that is held, in all services. Each part has a scan of its own, so that millions of
 * blobs do not delay the news about open files.
 */
export class Holders {
  readonly #scans: readonly HolderScan[];
  readonly #areSeveral: boolean;

  constructor(stores: readonly Pick<Store, "read">[]) {
    this.#areSeveral = stores.length > 1;
    this.#scans = stores.flatMap((store) => PARTS.map((part) => new HolderScan(store, part)));
  }

  async list(): Promise<HolderList> {
    const lists: HolderList[] = [];
    // One after the other, so that all of them together take no more than one of them.
    for (const scan of this.#scans) lists.push(await this.#listOf(scan));
    const times = lists.map(({ atMs }) => atMs);
    return {
      holders: lists.flatMap(({ holders }) => holders),
      atMs: times.includes(null) ? null : Math.min(...times.map((ms) => ms ?? 0)),
      isCut: lists.some(({ isCut }) => isCut),
    };
  }

  /** One of several databases that cannot be reached hides its own holders only. */
  async #listOf(scan: HolderScan): Promise<HolderList> {
    try {
      return await scan.list();
    } catch (error) {
      if (this.#areSeveral && isUnreachable(error)) return { holders: [], atMs: null, isCut: true };
      throw error;
    }
  }
}
