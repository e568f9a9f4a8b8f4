import { type BufferOwner, WholeBuffer } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Content, ContentKey, Reading } from "../store/content.ts";
import type { Part } from "../store/contents.ts";
import { type Address, type Extents, isSamePlace, type Pin } from "../store/extents.ts";
import { type Store, StoreError, type View } from "../store/store.ts";
import {
  keyOfFirstSegment,
  keysToOpen,
  readInline,
  readLeaf,
  readSegment,
  readStarts,
} from "./content-records.ts";
import { type Sealed, UnsealedOwner } from "./sealing.ts";
import { StepReading } from "./step-reading.ts";

/** Parts of a list that one lookup finds. The inline ones among them are in memory from then on. */
export const PARTS_PER_LOOKUP = 64;
/** Lists within a list that one lookup finds. Each may take a round of the store. */
const LISTS_PER_LOOKUP = 8;

/** Consecutive bytes of a content: in memory, or at an address. */
export type Run = Bytes | StoredRun;

interface StoredRun {
  readonly at: Address;
  readonly from: number;
  readonly length: number;
  readonly sealed: Sealed | null;
}

export interface ReadingSetup {
  readonly store: Store;
  readonly extents: Extents;
  readonly content: Content;
  readonly from: number;
  readonly length: number;
  /** For sealed bytes. Null to read them as they are stored. */
  readonly key: ContentKey | null;
  /** Called when the reading is closed. */
  readonly onClose: () => void;
}

/**
 * Opens bytes of a leaf or list. A long list is looked up step by step while it is read, because
 * the sweeper may move its leaves meanwhile.
 */
export function readContent(view: View, setup: ReadingSetup): Reading {
  const { store, extents, content, from, length, key, onClose } = setup;
  const until = from + length;
  return new StepReading<Run>(view, {
    store,
    from,
    length,
    mayChange: false,
    find(state, at) {
      const found =
        content.kind === "list"
          ? runsOfList(state, content, at, until)
          : { runs: runsOfLeaf(state, content, at, until), until };
      const pin = pinAll(extents, found.runs);
      return { runs: found.runs, until: found.until, release: () => pin.release() };
    },
    wholeOf: bytesInMemory,
    ownerOf: (run) => ownerOfRun(extents, run, key),
    areSame: areSameRuns,
    onClose,
  });
}

export function ownerOfRun(extents: Extents, run: Run, key: ContentKey | null): BufferOwner {
  if (Buffer.isBuffer(run)) return new WholeBuffer([run]);
  const owner = extents.read(run.at, run.from, run.length);
  return run.sealed === null || key === null ? owner : new UnsealedOwner(owner, key, run.sealed);
}

export function areSameRuns(one: Run, other: Run): boolean {
  if (Buffer.isBuffer(one)) return Buffer.isBuffer(other) && one.equals(other);
  if (Buffer.isBuffer(other) || one.from !== other.from || one.length !== other.length)
    return false;
  return isSamePlace(one.at, other.at);
}

/** Pins the extents in which these runs lie. */
export function pinAll(extents: Extents, runs: readonly Run[]): Pin {
  const pinned = new Set<number>();
  for (const run of runs) {
    if (!Buffer.isBuffer(run)) pinned.add(run.at.extent);
  }
  return extents.pin(pinned);
}

export function runsOfLeaf(view: View, leaf: Content, from: number, until: number): Run[] {
  if (leaf.kind === "inline") {
    return from < until ? [readInline(view, leaf.id).subarray(from, until)] : [];
  }
  const runs: Run[] = [];
  let start = 0;
  const { addresses, nonce } = readLeaf(view, leaf.id);
  for (const at of addresses) {
    const first = Math.max(from - start, 0);
    const length = Math.min(until - start, at.length) - first;
    const sealed = nonce.length === 0 ? null : { nonce, offset: start + first };
    if (length > 0) runs.push({ at, from: first, length, sealed });
    start += at.length;
  }
  return runs;
}

interface Lookup {
  readonly runs: Run[];
  /** The offset at which the runs end. */
  readonly until: number;
  /** The number of leaves that were looked up. */
  readonly leaves: number;
}

function runsOfList(view: View, list: Content, from: number, until: number): Lookup {
  const runs: Run[] = [];
  let leaves = 0;
  let lists = 0;
  let at = from;
  const parts = firstParts(view, list, from, until);
  prefetch(view, () => keysOfParts(parts));
  for (const { content, first, end } of parts) {
    if (content.kind === "list" && lists++ === LISTS_PER_LOOKUP) break;
    if (leaves >= PARTS_PER_LOOKUP) break;
    const found = lookUpPart(view, content, first, end);
    runs.push(...found.runs);
    leaves += found.leaves;
    at += found.until - first;
    if (found.until < end) break;
  }
  if (at === from && from < until) {
    throw new StoreError("damaged", `content ${list.id} ends at byte ${at} of ${list.length}`);
  }
  return { runs, until: at, leaves };
}

function firstParts(view: View, list: Content, from: number, until: number): PartOver[] {
  const parts: PartOver[] = [];
  for (const part of partsOver(view, list, from, until)) {
    if (parts.push(part) === PARTS_PER_LOOKUP) break;
  }
  return parts;
}

function keysOfParts(parts: readonly PartOver[]): Bytes[] {
  const contents = parts.map(({ content }) => content);
  const lists = contents.filter(({ kind }) => kind === "list");
  return [...keysToOpen(contents), ...lists.map(keyOfFirstSegment)];
}

function lookUpPart(view: View, content: Content, from: number, until: number): Lookup {
  if (content.kind === "list") return runsOfList(view, content, from, until);
  return { runs: runsOfLeaf(view, content, from, until), until, leaves: 1 };
}

/** A content that is part of a list, and which bytes of it are wanted. */
interface PartOver {
  readonly content: Content;
  readonly first: number;
  readonly end: number;
}

/** The contents, and the bytes of each, that a list consists of between two offsets. */
export function* partsOver(
  view: View,
  list: Content,
  from: number,
  until: number,
): Iterable<PartOver> {
  for (const { part, start } of partsFrom(view, list, from)) {
    if (start >= until) return;
    const first = part.from + Math.max(from - start, 0);
    const end = part.from + Math.min(until - start, part.length);
    if (first < end) yield { content: part.content, first, end };
  }
}

/** The parts of a list, each with its offset, beginning with the segment in which `from` lies. */
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

/** The bytes of all runs, or null unless all of them are in memory. */
export function bytesInMemory(runs: readonly Run[]): Bytes | null {
  if (!runs.every((run) => Buffer.isBuffer(run))) return null;
  return runs.length === 1 ? (runs[0] as Bytes) : Buffer.concat(runs as Bytes[]);
}
