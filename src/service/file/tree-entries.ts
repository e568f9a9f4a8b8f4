import type { Bytes } from "../../base/bytes.ts";
import type { View } from "../../store/store.ts";
import { BatchedNeeds, type ItemNeeds } from "../shared/batched-needs.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import {
  originalKey,
  preservedPrefix,
  sinceOf,
  stampOfPreserved,
  type Tree,
} from "./preserved-records.ts";
import { type DirectoryEntry, decodeEntry, itemNeeds, nameInEntryKey } from "./tree-records.ts";

/** Limit of entries that one body skips because they are newer than the snapshot. */
const PASSED_MAX = 1_000;
/** Items whose records are fetched together. */
const ITEMS_AHEAD = 256;

/**
 * The entries of a directory between two keys, in the order of their names, current or as a
 * snapshot shows them: then preserved entries are merged with current ones.
 */
export class TreeEntries {
  readonly #tree: Tree;
  readonly #present: EntryCursor;
  readonly #preserved: EntryCursor | null;
  /** The records of the items, which every caller reads. */
  readonly #items: BatchedNeeds<bigint>;
  #last: DirectoryEntry | null = null;
  #passed = 0;
  #stoppedAt: string | null = null;

  constructor(view: View, tree: Tree, from: Bytes, until: Bytes) {
    this.#tree = tree;
    this.#items = new BatchedNeeds(view, () => this.#ahead());
    this.#present = new EntryCursor(view, from, until, false);
    this.#preserved =
      tree.snapshot === null
        ? null
        : new EntryCursor(view, preservedPrefix(from), preservedPrefix(until), false);
  }

  /** The name after which the next body continues; null if the end was reached. */
  get stoppedAt(): string | null {
    return this.#stoppedAt;
  }

  /**
   * The next entry; null at the end, or where it stopped. The caller uses at most `most` more, this
   * one included.
   */
  next(most: number): DirectoryEntry | null {
    if (this.#preserved === null) return this.#nextPresent(most);
    while (this.#stoppedAt === null) {
      const present = this.#present.head(most);
      const preserved = this.#preserved.head(most);
      if (present === null && preserved === null) return null;
      const preservedAt = preserved === null ? null : originalKey(preserved.key);
      const order = compare(present?.key ?? null, preservedAt);
      const shown = order < 0 ? null : this.#takePreserved(preservedAt as Bytes, most);
      if (order <= 0) this.#present.advance();
      const found = shown ?? (order <= 0 ? (present?.value ?? null) : null);
      if (found !== null && sinceOf(found) <= (this.#tree.snapshot as bigint)) {
        return this.#found(decodeEntry(found));
      }
      const at = order <= 0 ? present?.key : preservedAt;
      if (++this.#passed === PASSED_MAX) this.#stoppedAt = nameInEntryKey(at as Bytes);
    }
    return null;
  }

  #nextPresent(most: number): DirectoryEntry | null {
    const head = this.#present.head(most);
    if (head === null) return null;
    this.#present.advance();
    return this.#found(decodeEntry(head.value));
  }

  #found(entry: DirectoryEntry): DirectoryEntry {
    this.#last = entry;
    this.#items.before(entry.id);
    return entry;
  }

  #ahead(): ItemNeeds<bigint>[] {
    const next = [this.#present, this.#preserved].flatMap(
      (cursor) => cursor?.ahead(ITEMS_AHEAD).map(({ value }) => decodeEntry(value)) ?? [],
    );
    const entries = this.#last === null ? next : [this.#last, ...next];
    return entries.map((entry) => ({ id: entry.id, needs: itemNeeds(this.#tree, entry) }));
  }

  /**
   * Of the versions of one entry, the first that was preserved for this snapshot or a later one.
   */
  #takePreserved(at: Bytes, most: number): Bytes | null {
    let shown: Bytes | null = null;
    for (;;) {
      const head = this.#preserved?.head(most) ?? null;
      if (head === null || !originalKey(head.key).equals(at)) return shown;
      const isInTime = stampOfPreserved(head.key) >= (this.#tree.snapshot as bigint);
      if (shown === null && isInTime) shown = head.value;
      this.#preserved?.advance();
    }
  }
}

/** Compares keys; null, the end, comes last. */
function compare(one: Bytes | null, other: Bytes | null): number {
  if (one === null || other === null) return one === null ? 1 : -1;
  return one.compare(other);
}
