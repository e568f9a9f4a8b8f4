import type { Bytes } from "../../base/bytes.ts";
import type { View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import { keptPrefix, originalKey, sinceOf, stampOfKept, type Tree } from "./kept-records.ts";
import { type DirectoryEntry, decodeEntry, nameInEntryKey } from "./tree-records.ts";

/** Entries that one body passes by, at most: those that came after the snapshot. */
const PASSED_MAX = 1_000;

/**
 * The entries of a directory whose keys lie within bounds, in the order of their names: as they are
 * now, or as a snapshot shows them, which takes what is kept together with what is still there.
 */
export class TreeEntries {
  readonly #tree: Tree;
  readonly #present: EntryCursor;
  readonly #kept: EntryCursor | null;
  #passed = 0;
  #stoppedAt: string | null = null;

  constructor(view: View, tree: Tree, from: Bytes, until: Bytes) {
    this.#tree = tree;
    this.#present = new EntryCursor(view, from, until, false);
    this.#kept =
      tree.snapshot === null
        ? null
        : new EntryCursor(view, keptPrefix(from), keptPrefix(until), false);
  }

  /** The name behind which it goes on, once others had their turn; null if it came to its end. */
  get stoppedAt(): string | null {
    return this.#stoppedAt;
  }

  /**
   * The next one; null at the end, or where it stopped. No more than `most` will be asked for, this
   * one included.
   */
  next(most: number): DirectoryEntry | null {
    if (this.#kept === null) return this.#nextPresent(most);
    while (this.#stoppedAt === null) {
      const present = this.#present.head(most);
      const kept = this.#kept.head(most);
      if (present === null && kept === null) return null;
      const keptAt = kept === null ? null : originalKey(kept.key);
      const order = compare(present?.key ?? null, keptAt);
      const shown = order < 0 ? null : this.#takeKept(keptAt as Bytes, most);
      if (order <= 0) this.#present.advance();
      const found = shown ?? (order <= 0 ? (present?.value ?? null) : null);
      if (found !== null && sinceOf(found) <= (this.#tree.snapshot as bigint)) {
        return decodeEntry(found);
      }
      const at = order <= 0 ? present?.key : keptAt;
      if (++this.#passed === PASSED_MAX) this.#stoppedAt = nameInEntryKey(at as Bytes);
    }
    return null;
  }

  #nextPresent(most: number): DirectoryEntry | null {
    const head = this.#present.head(most);
    if (head === null) return null;
    this.#present.advance();
    return decodeEntry(head.value);
  }

  /** Of the versions of one entry the first that was kept for this snapshot or a later one. */
  #takeKept(at: Bytes, most: number): Bytes | null {
    let shown: Bytes | null = null;
    for (;;) {
      const head = this.#kept?.head(most) ?? null;
      if (head === null || !originalKey(head.key).equals(at)) return shown;
      const isInTime = stampOfKept(head.key) >= (this.#tree.snapshot as bigint);
      if (shown === null && isInTime) shown = head.value;
      this.#kept?.advance();
    }
  }
}

/** The end comes behind everything. */
function compare(one: Bytes | null, other: Bytes | null): number {
  if (one === null || other === null) return one === null ? 1 : -1;
  return one.compare(other);
}
