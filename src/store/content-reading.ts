import type { Bytes } from "../base/bytes.ts";
import { readAddresses, readInline, readSegment, readStarts } from "./content-records.ts";
import type { Content, Part, Reading } from "./contents.ts";
import type { Address, Extents, Hold } from "./extents.ts";
import { type Store, StoreError, type View } from "./store.ts";

/** Parts of a list that are looked up at one go; inline ones are in memory from then on. */
const PARTS_PER_LOOKUP = 64;

/** Bytes to read one after another: at hand, or behind an address. */
export type Stretch =
  | Bytes
  | { readonly at: Address; readonly from: number; readonly length: number };

/** Where the bytes from some offset up to `until` are, with the extents they lie in held. */
interface Found extends Hold {
  readonly stretches: readonly Stretch[];
  readonly until: number;
}

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
 * while it is read, each step in a state of its own: its leaves stay, but may have moved.
 */
export class ContentReading implements Reading {
  readonly length: number;
  readonly whole: Bytes | null;
  readonly isSettled = true;
  readonly #setup: ReadingSetup;
  readonly #until: number;
  #found: Found;
  #closed = false;

  constructor(view: View, setup: ReadingSetup) {
    this.length = setup.length;
    this.#setup = setup;
    this.#until = setup.from + setup.length;
    this.#found = this.#find(view, setup.from);
    this.whole = this.#found.until < this.#until ? null : bytesAtHand(this.#found.stretches);
  }

  async *parts(): AsyncIterable<Bytes> {
    for (;;) {
      for (const stretch of this.#found.stretches) yield* this.#partsOf(stretch);
      const { until } = this.#found;
      if (until === this.#until) return;
      this.#found.release();
      this.#found = await this.#setup.store.read((view) => this.#find(view, until));
      if (this.#closed) {
        this.#found.release();
        return;
      }
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#found.release();
    this.#setup.onClose();
  }

  async *#partsOf(stretch: Stretch): AsyncIterable<Bytes> {
    if (Buffer.isBuffer(stretch)) yield stretch;
    else yield* this.#setup.extents.parts(stretch.at, stretch.from, stretch.length);
  }

  #find(view: View, from: number): Found {
    const { content, extents } = this.#setup;
    const found =
      content.kind === "list"
        ? stretchesOfList(view, content, from, this.#until)
        : { stretches: stretchesOfLeaf(view, content, from, this.#until), until: this.#until };
    const hold = holdAll(extents, found.stretches);
    return { ...found, release: () => hold.release() };
  }
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

function stretchesOfList(
  view: View,
  list: Content,
  from: number,
  until: number,
): { stretches: Stretch[]; until: number } {
  const stretches: Stretch[] = [];
  let lookups = 0;
  let at = from;
  for (const { part, start } of partsFrom(view, list, from)) {
    if (start >= until || lookups === PARTS_PER_LOOKUP) break;
    const first = part.from + Math.max(from - start, 0);
    const end = part.from + Math.min(until - start, part.length);
    if (first >= end) continue;
    stretches.push(...stretchesOfLeaf(view, part.content, first, end));
    at += end - first;
    lookups++;
  }
  if (at === from && from < until) {
    throw new StoreError("damaged", `content ${list.id} ends at byte ${at} of ${list.length}`);
  }
  return { stretches, until: at };
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
