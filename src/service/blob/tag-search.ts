import type { Bytes } from "../../base/bytes.ts";
import { keyAfter } from "../../base/keys.ts";
import type { TagComparison } from "../../rules/tag-expression.ts";
import type { View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import type { ContainerId } from "./records.ts";
import { readTaggedBlobKey, taggedBlobKey, tagKey, tagValueKey } from "./tagged-blobs.ts";

/** A position of a search within a container. */
export interface TagPosition {
  /** The value of the tag that the search walks through. */
  readonly value: string;
  readonly blob: string;
  /** Whether the search continues after this blob. */
  readonly isDone: boolean;
}

/** A blob that may match, or mere progress. */
export interface TagStep {
  readonly position: TagPosition;
  readonly isCandidate: boolean;
}

/** Entries to read ahead. More are seldom used, because the next jump skips them. */
const ENTRIES_AHEAD_MAX = 256;

/**
 * Finds the blobs in a container that may match a query. For comparisons by `=`, intersects the
 * blobs of all values: each walk jumps to where the others are, so the cost is that of the rarest
 * value. Otherwise walks through the values of one tag in order.
 */
export class TagSearch {
  readonly #walks: readonly TagWalk[];
  #next = 0;
  /** The blob that all walks must reach, and how many have. */
  #target: string | null = null;
  #there = 0;

  constructor(
    view: View,
    container: ContainerId,
    comparisons: readonly TagComparison[],
    from: TagPosition | null,
  ) {
    const points = comparisons.filter(({ operator }) => operator === "=");
    const tags = new Set((points.length > 0 ? points : comparisons.slice(0, 1)).map(tagOf));
    this.#walks = [...tags].map((tag) => {
      const own = comparisons.filter((one) => one.tag === tag);
      return new TagWalk(view, container, own, from);
    });
  }

  /** How often it has read from the store. */
  get lookups(): number {
    return this.#walks.reduce((sum, walk) => sum + walk.lookups, 0);
  }

  /** Blobs that it may find next, as far as they are read already. */
  ahead(limit: number): string[] {
    return (this.#walks[this.#next] as TagWalk).ahead(limit);
  }

  /** Advances the search, reading a bounded number of entries. Null at the end. */
  step(): TagStep | null {
    const walk = this.#walks[this.#next] as TagWalk;
    const found = walk.head(this.#target);
    if (found === null) return null;
    const { value, blob } = found;
    this.#there = blob === this.#target ? this.#there + 1 : 1;
    this.#target = blob;
    if (this.#there < this.#walks.length) {
      this.#next = (this.#next + 1) % this.#walks.length;
      return { position: { value, blob, isDone: false }, isCandidate: false };
    }
    walk.advance();
    this.#target = null;
    return { position: { value, blob, isDone: true }, isCandidate: true };
  }
}

function tagOf({ tag }: TagComparison): string {
  return tag;
}

/** Walks through the blobs with one tag whose values satisfy the bounds of all comparisons. */
class TagWalk {
  readonly #container: ContainerId;
  readonly #tag: string;
  /** The only value to match; null if there may be several. */
  readonly #value: string | null;
  readonly #cursor: EntryCursor;

  constructor(
    view: View,
    container: ContainerId,
    comparisons: readonly TagComparison[],
    from: TagPosition | null,
  ) {
    this.#container = container;
    this.#tag = (comparisons[0] as TagComparison).tag;
    this.#value = comparisons.find(({ operator }) => operator === "=")?.value ?? null;
    const bounds = comparisons.map((one) => boundsOf(container, one));
    const starts = bounds.map(({ start }) => start);
    if (from !== null) {
      const at = taggedBlobKey(container, this.#tag, this.#value ?? from.value, from.blob);
      starts.push(from.isDone ? keyAfter(at) : at);
    }
    const start = starts.reduce((one, other) => (one.compare(other) > 0 ? one : other));
    const end = bounds
      .map((bound) => bound.end)
      .reduce((one, other) => (one.compare(other) < 0 ? one : other));
    this.#cursor = new EntryCursor(view, start, end, true);
  }

  /** The next blob. A walk through a single value jumps to `target` first. */
  head(target: string | null): { value: string; blob: string } | null {
    if (target !== null && this.#value !== null) {
      this.#cursor.jumpTo(taggedBlobKey(this.#container, this.#tag, this.#value, target));
    }
    const entry = this.#cursor.head(ENTRIES_AHEAD_MAX);
    return entry === null ? null : readTaggedBlobKey(entry.key);
  }

  get lookups(): number {
    return this.#cursor.lookups;
  }

  ahead(limit: number): string[] {
    return this.#cursor.ahead(limit).map(({ key }) => readTaggedBlobKey(key).blob);
  }

  advance(): void {
    this.#cursor.advance();
  }
}

/** The range of keys whose values may satisfy a comparison. */
function boundsOf(
  container: ContainerId,
  { tag, operator, value }: TagComparison,
): { start: Bytes; end: Bytes } {
  const all = tagKey(container, tag);
  const same = tagValueKey(container, tag, value);
  const behind = keyAfter(same);
  switch (operator) {
    case "=":
      return { start: same, end: behind };
    case ">":
      return { start: behind, end: keyAfter(all) };
    case ">=":
      return { start: same, end: keyAfter(all) };
    case "<":
      return { start: all, end: same };
    case "<=":
      return { start: all, end: behind };
    case "<>":
      return { start: all, end: keyAfter(all) };
  }
}
