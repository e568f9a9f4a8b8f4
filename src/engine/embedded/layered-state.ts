import type { Bytes } from "../../base/bytes.ts";
import type { Entry } from "../../store/store.ts";
import type { State } from "../body-view.ts";
import { nameOf } from "../sorted-items.ts";
import { type Cell, Overlay } from "./overlay.ts";
import type { SealedRecords } from "./sealed-records.ts";

/** The newest state: what lmdb has, and over it what it does not have yet. */
export class LayeredState implements State {
  newest = 0;
  readonly #records: SealedRecords;
  #top = new Overlay();
  /** On its way into lmdb. */
  #settling: Overlay | null = null;

  constructor(records: SealedRecords) {
    this.#records = records;
  }

  get top(): Overlay {
    return this.#top;
  }

  get isSettling(): boolean {
    return this.#settling !== null;
  }

  get(key: Bytes): Bytes | undefined {
    if (this.#top.size > 0 || this.#settling !== null) {
      const name = nameOf(key);
      const cell = this.#top.get(name) ?? this.#settling?.get(name);
      if (cell !== undefined) {
        this.#see(cell);
        return cell.value ?? undefined;
      }
    }
    return this.#records.get(key);
  }

  scan(from: Bytes, until: Bytes, reverse: boolean): Iterable<Entry> {
    let entries = this.#records.scan(from, until, reverse);
    for (const overlay of [this.#settling, this.#top]) {
      if (overlay !== null) entries = overlay.layOver(entries, from, until, reverse, this.#see);
    }
    return entries;
  }

  /** Lays a new overlay on top. The one before goes into lmdb; until it is there nothing else may. */
  beginSettling(): Overlay {
    const settling = this.#top;
    this.#settling = settling;
    this.#top = new Overlay();
    return settling;
  }

  /** Everything that was settling is what lmdb reads. */
  endSettling(): void {
    this.#settling = null;
  }

  readonly #see = (cell: Cell): void => {
    if (cell.awaited > this.newest) this.newest = cell.awaited;
  };
}
