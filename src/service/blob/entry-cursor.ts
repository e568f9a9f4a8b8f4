import type { Bytes } from "../../base/bytes.ts";
import { keyAfter, keyBehind } from "../../base/keys.ts";
import type { Entry, View } from "../../store/store.ts";

/** To read where nobody knows how many will be used, as behind a jump. */
const FEW_ENTRIES = 8;
const PAGE_ENTRIES_MAX = 1_024;

/**
 * The entries of one key range, in order, within one body. They are read in pages that grow as
 * long as everything is used, so that a walk with jumps reads little more than it returns.
 */
export class EntryCursor {
  readonly #view: View;
  readonly #until: Bytes;
  #from: Bytes;
  #page: readonly Entry[] = [];
  #at = 0;
  #limit: number;
  #ended = false;

  constructor(view: View, from: Bytes, until: Bytes, mayJump: boolean) {
    this.#view = view;
    this.#from = from;
    this.#until = until;
    this.#limit = mayJump ? FEW_ENTRIES : PAGE_ENTRIES_MAX;
  }

  /** The entry that is next; null at the end. No more than `most` will be used, this one included. */
  head(most: number): Entry | null {
    if (this.#at >= this.#page.length && !this.#ended) this.#readPage(most);
    return this.#page[this.#at] ?? null;
  }

  advance(): void {
    this.#at++;
  }

  /** Leaves out everything that begins with `prefix`; the head is among that. */
  jumpPast(prefix: Bytes): void {
    this.jumpTo(keyAfter(prefix));
  }

  /** Leaves out everything before `target`. */
  jumpTo(target: Bytes): void {
    while (this.#at < this.#page.length) {
      const { key } = this.#page[this.#at] as Entry;
      if (key.compare(target) >= 0) return;
      this.#at++;
    }
    if (target.compare(this.#from) <= 0) return;
    this.#from = target;
    this.#limit = FEW_ENTRIES;
  }

  #readPage(most: number): void {
    if (this.#from.compare(this.#until) >= 0) {
      this.#ended = true;
      return;
    }
    const limit = Math.min(this.#limit, most);
    this.#page = this.#view.range(this.#from, this.#until, { limit });
    this.#at = 0;
    this.#ended = this.#page.length < limit;
    const last = this.#page.at(-1);
    if (last !== undefined) this.#from = keyBehind(last.key);
    this.#limit = Math.min(this.#limit * 2, PAGE_ENTRIES_MAX);
  }
}
