import { type Lender, WholeLender } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { Content, Part, Reading } from "../store/contents.ts";
import { type Address, type Extents, type Hold, isSamePlace } from "../store/extents.ts";
import { type Store, StoreError, type View } from "../store/store.ts";
import { readAddresses, readInline, readSegment, readStarts } from "./content-records.ts";
import { StepReading } from "./step-reading.ts";

/** Parts of a list that are looked up at one go; inline ones are in memory from then on. */
export const PARTS_PER_LOOKUP = 64;

/** Bytes to read one after another: at hand, or behind an address. */
export type Stretch =
  | Bytes
  | { readonly at: Address; readonly from: number; readonly length: number };

export interface ReadingSetup {
  readonly store: Store;
  readonly extents: Extents;
  readonly content: Content;
  readonly from: number;
  readonly length: number;
  /** Called when the reading is closed. */
  readonly onClose: () => void;
}

/**
 * Bytes of a content, from the state in which it was opened. A long list is looked up step by step
 * while it is read: its leaves stay, but may have moved.
 */
export function readContent(view: View, setup: ReadingSetup): Reading {
  const { store, extents, content, from, length, onClose } = setup;
  const until = from + length;
  return new StepReading<Stretch>(view, {
    store,
    from,
    length,
    mayChange: false,
    find(state, at) {
      const found =
        content.kind === "list"
          ? stretchesOfList(state, content, at, until)
          : { stretches: stretchesOfLeaf(state, content, at, until), until };
      const hold = holdAll(extents, found.stretches);
      return { stretches: found.stretches, until: found.until, release: () => hold.release() };
    },
    wholeOf: bytesAtHand,
    lenderOf: (stretch) => lenderOfStretch(extents, stretch),
    areSame: areSameStretches,
    onClose,
  });
}

export function lenderOfStretch(extents: Extents, stretch: Stretch): Lender {
  if (Buffer.isBuffer(stretch)) return new WholeLender([stretch]);
  return extents.lender(stretch.at, stretch.from, stretch.length);
}

export function areSameStretches(one: Stretch, other: Stretch): boolean {
  if (Buffer.isBuffer(one)) return Buffer.isBuffer(other) && one.equals(other);
  if (Buffer.isBuffer(other) || one.from !== other.from || one.length !== other.length)
    return false;
  return isSamePlace(one.at, other.at);
}

/** Keeps the extents of these stretches where they are. */
export function holdAll(extents: Extents, stretches: readonly Stretch[]): Hold {
  const held = new Set<number>();
  for (const stretch of stretches) {
    if (!Buffer.isBuffer(stretch)) held.add(stretch.at.extent);
  }
  return extents.hold(held);
}

export function stretchesOfLeaf(view: View, leaf: Content, from: number, until: number): Stretch[] {
  if (leaf.kind === "inline") {
    return from < until ? [readInline(view, leaf.id).subarray(from, until)] : [];
  }
  const stretches: Stretch[] = [];
  let start = 0;
  for (const at of readAddresses(view, leaf.id)) {
    const first = Math.max(from - start, 0);
    const length = Math.min(until - start, at.length) - first;
    if (length > 0) stretches.push({ at, from: first, length });
    start += at.length;
  }
  return stretches;
}

interface Lookup {
  readonly stretches: Stretch[];
  /** How far they reach. */
  readonly until: number;
  /** How many leaves were looked up for them. */
  readonly leaves: number;
}

function stretchesOfList(view: View, list: Content, from: number, until: number): Lookup {
  const stretches: Stretch[] = [];
  let leaves = 0;
  let at = from;
  for (const { content, first, end } of partsOver(view, list, from, until)) {
    if (leaves >= PARTS_PER_LOOKUP) break;
    const found = lookUpPart(view, content, first, end);
    stretches.push(...found.stretches);
    leaves += found.leaves;
    at += found.until - first;
    if (found.until < end) break;
  }
  if (at === from && from < until) {
    throw new StoreError("damaged", `content ${list.id} ends at byte ${at} of ${list.length}`);
  }
  return { stretches, until: at, leaves };
}

function lookUpPart(view: View, content: Content, from: number, until: number): Lookup {
  if (content.kind === "list") return stretchesOfList(view, content, from, until);
  return { stretches: stretchesOfLeaf(view, content, from, until), until, leaves: 1 };
}

/** What of which contents makes up the bytes of a list between two offsets. */
export function* partsOver(
  view: View,
  list: Content,
  from: number,
  until: number,
): Iterable<{ content: Content; first: number; end: number }> {
  for (const { part, start } of partsFrom(view, list, from)) {
    if (start >= until) return;
    const first = part.from + Math.max(from - start, 0);
    const end = part.from + Math.min(until - start, part.length);
    if (first < end) yield { content: part.content, first, end };
  }
}

/** The parts of a list from the segment on in which an offset lies, with the offset of each. */
function* partsFrom(
  view: View,
  list: Content,
  from: number,
): Iterable<{ part: Part; start: number }> {
  const starts = readStarts(view, list.id);
  const first = Math.max(
    starts.findLastIndex((start) => start <= from),
    0,
  );
  let start = starts[first] ?? 0;
  for (let index = first; index < starts.length; index++) {
    for (const part of readSegment(view, list.id, index)) {
      yield { part, start };
      start += part.length;
    }
  }
}

export function bytesAtHand(stretches: readonly Stretch[]): Bytes | null {
  if (!stretches.every((stretch) => Buffer.isBuffer(stretch))) return null;
  return stretches.length === 1 ? (stretches[0] as Bytes) : Buffer.concat(stretches as Bytes[]);
}
