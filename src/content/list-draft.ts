import { prefetch } from "../store/accelerated.ts";
import type { Content } from "../store/content.ts";
import type { Draft, Part } from "../store/contents.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import {
  addReference,
  deleteGarbage,
  keysToShare,
  SEGMENT_PARTS_MAX,
  writeGarbage,
  writeSegment,
  writeStarts,
} from "./content-records.ts";

/** Segments that one transaction writes, so that other writers do not wait long. */
const SEGMENTS_PER_TRANSACTION = 4;

/** Pins lists: the sweeper does not free them. */
interface Pins {
  /** Returns the function that unpins it. */
  pin(id: bigint): () => void;
}

/**
 * A list that is written in several transactions. Until it is adopted it is recorded as garbage, so
 * that the sweeper frees it after a crash. A pin keeps the sweeper from it until then.
 */
export class ListDraft implements Draft {
  readonly #pins: Pins;
  #id: bigint | null = null;
  #unpin: () => void = () => {};
  readonly #starts: number[] = [];
  #length = 0;

  private constructor(pins: Pins) {
    this.#pins = pins;
  }

  /** Null if `partsExist` returned false before all parts were written. */
  static async write(
    store: Store,
    pins: Pins,
    parts: readonly Part[],
    partsExist: (view: View) => boolean,
  ): Promise<ListDraft | null> {
    const draft = new ListDraft(pins);
    let isWhole = false;
    try {
      isWhole = await draft.#write(store, parts, partsExist);
    } finally {
      if (!isWhole) draft.release();
    }
    return isWhole ? draft : null;
  }

  adopt(tx: Transaction): Content {
    const id = this.#id as bigint;
    deleteGarbage(tx, id);
    writeStarts(tx, id, this.#starts);
    return { id, kind: "list", length: this.#length };
  }

  release(): void {
    if (this.#id !== null) this.#unpin();
    this.#id = null;
  }

  async #write(
    store: Store,
    parts: readonly Part[],
    partsExist: (view: View) => boolean,
  ): Promise<boolean> {
    await store.transact((tx) => this.#begin(tx));
    for (let at = 0; at < parts.length; ) {
      const segments: (readonly Part[])[] = [];
      while (segments.length < SEGMENTS_PER_TRANSACTION && at < parts.length) {
        segments.push(parts.slice(at, at + SEGMENT_PARTS_MAX));
        at += SEGMENT_PARTS_MAX;
      }
      const first = this.#starts.length;
      const isWritten = await store.transact((tx) => {
        if (!partsExist(tx)) return false;
        for (const [index, segment] of segments.entries()) this.#add(tx, first + index, segment);
        return true;
      });
      if (!isWritten) return false;
      for (const segment of segments) this.#count(segment);
    }
    return true;
  }

  /** Pins the list before its commit. A body that runs again pins another id instead. */
  #begin(tx: Transaction): void {
    this.release();
    const id = tx.stamp();
    this.#unpin = this.#pins.pin(id);
    this.#id = id;
    writeStarts(tx, id, []);
    writeGarbage(tx, { id, kind: "list" });
  }

  #add(tx: Transaction, index: number, parts: readonly Part[]): void {
    prefetch(tx, () => keysToShare(parts.map(({ content }) => content)));
    for (const { content } of parts) addReference(tx, content.id);
    writeSegment(tx, this.#id as bigint, index, parts);
  }

  #count(parts: readonly Part[]): void {
    this.#starts.push(this.#length);
    for (const { length } of parts) this.#length += length;
  }
}
