import type { Bytes } from "../../base/bytes.ts";
import { keyAfter } from "../../base/keys.ts";
import type { TagComparison } from "../../rules/tag-expression.ts";
import type { View } from "../../store/store.ts";
import { EntryCursor } from "../shared/entry-cursor.ts";
import type { ContainerId } from "./records.ts";
import { readTaggedBlobKey, taggedBlobKey, tagKey, tagValueKey } from "./tagged-blobs.ts";

/** Where a search stands within a container. */
export interface TagPosition {
  /** Of the tag by which the blobs are found. */
  readonly value: string;
  readonly blob: string;
  /** Whether this blob is done with. */
  readonly isDone: boolean;
}

/** A blob that may match, or merely some way forward. */
export interface TagStep {
  readonly position: TagPosition;
  readonly isCandidate: boolean;
}

/** More of them are seldom used: the next jump makes the rest worthless. */
const ENTRIES_AHEAD_MAX = 256;

/**
 * Finds what may match in a container. Where tags must have certain values, the blobs of these
 * values are walked through together, each walk jumping to where the others are: that costs no
 * more than the rarest of them. Otherwise the values of one tag are walked through in their order.
 */
export class TagSearch {
  readonly #walks: readonly TagWalk[];
  #turn = 0;
  /** Where all walks must come to, and how many have. */
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

  /** Each reads a bounded number of entries. Null at the end. */
  step(): TagStep | null {
    const walk = this.#walks[this.#turn] as TagWalk;
    const found = walk.head(this.#target);
    if (found === null) return null;
    const { value, blob } = found;
    this.#there = blob === this.#target ? this.#there + 1 : 1;
    this.#target = blob;
    if (this.#there < this.#walks.length) {
      this.#turn = (this.#turn + 1) % this.#walks.length;
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

/** Through the blobs that have one tag, with the values that all of some comparisons allow. */
class TagWalk {
  readonly #container: ContainerId;
  readonly #tag: string;
  /** The only value; null if there may be others. */
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

  /** The next blob; not before `target`, which walks through one value can jump to. */
  head(target: string | null): { value: string; blob: string } | null {
    if (target !== null && this.#value !== null) {
      this.#cursor.jumpTo(taggedBlobKey(this.#container, this.#tag, this.#value, target));
    }
    const entry = this.#cursor.head(ENTRIES_AHEAD_MAX);
    return entry === null ? null : readTaggedBlobKey(entry.key);
  }

  advance(): void {
    this.#cursor.advance();
  }
}

/** The keys of the values that a comparison allows. */
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
