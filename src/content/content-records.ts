import { type Bytes, NO_BYTES } from "../base/bytes.ts";
import { added, bytes, count, format, listOf, oneOf, struct, text, u64 } from "../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../base/keys.ts";
import type { Stamp } from "../base/stamp.ts";
import type { Content } from "../store/content.ts";
import type { Part } from "../store/contents.ts";
import type { Address } from "../store/extents.ts";
import {
  isDamageError,
  StoreError,
  type Transaction,
  unlessDamaged,
  type View,
} from "../store/store.ts";

/** Parts per segment of a list. Segments let a transaction read a part of a long list. */
export const SEGMENT_PARTS_MAX = 256;

const inlineFormat = format(1, { bytes });
const address = struct({
  extent: count,
  offset: count,
  length: count,
  bytesOnDisk: count,
  checksum: count,
});
const EXTENT_FORMAT = 4;
const extentFormat = format(EXTENT_FORMAT, {
  addresses: listOf(address),
  /** Empty unless the leaf is sealed. */
  nonce: added(bytes, NO_BYTES),
});
/** `starts`: the offsets of the list at which its segments begin. */
const listFormat = format(3, { starts: listOf(count) });
const segmentFormat = format(1, {
  parts: listOf(
    struct({
      content: struct({
        id: u64,
        kind: oneOf("inline", "extent", "list", "sealed"),
        length: count,
      }),
      from: count,
      length: count,
      name: text,
    }),
  ),
});
const sharesFormat = format(1, { extra: count });
const garbageFormat = format(1, { kind: oneOf("extent", "list"), died: added(u64, 0n) });

const contentKey = (id: bigint) => key(SPACE.content, id);
const segmentKey = (id: bigint, index: number) => key(SPACE.contentSegment, id, index);
const sharesKey = (id: bigint) => key(SPACE.contentShares, id);
const garbageKey = (id: bigint) => key(SPACE.contentGarbage, id);

/** What a body reads to open these contents. */
export function keysToOpen(contents: readonly Identified[]): Bytes[] {
  return contents.map(({ id }) => contentKey(id));
}

/** What a body reads to add a reference to each of these contents. */
export function keysToShare(contents: readonly Identified[]): Bytes[] {
  return contents.map(({ id }) => sharesKey(id));
}

/** What a body reads to drop these contents. */
export function keysToDrop(contents: readonly Identified[]): Bytes[] {
  return contents.flatMap(({ id }) => [sharesKey(id), contentKey(id)]);
}

/** What a body reads to open the first segment of a list. */
export function keyOfFirstSegment({ id }: Identified): Bytes {
  return segmentKey(id, 0);
}

type Identified = Pick<Content, "id">;

export function writeInline(tx: Transaction, id: bigint, value: Bytes): void {
  tx.set(contentKey(id), inlineFormat.encode({ bytes: value }));
}

export function readInline(view: View, id: bigint): Bytes {
  return inlineFormat.decode(recordOf(view, id)).bytes;
}

/** Where the bytes of a leaf are, and the nonce that a sealed one is encrypted with. */
export interface StoredLeaf {
  readonly addresses: readonly Address[];
  readonly nonce: Bytes;
}

export function writeLeaf(tx: Transaction, id: bigint, leaf: StoredLeaf): void {
  tx.set(contentKey(id), extentFormat.encode(leaf));
}

export function readLeaf(view: View, id: bigint): StoredLeaf {
  return extentFormat.decode(recordOf(view, id));
}

export function readAddresses(view: View, id: bigint): readonly Address[] {
  return readLeaf(view, id).addresses;
}

/** The addresses in the record of a content; none if its bytes are not in extents. */
export function addressesIn(found: Bytes): readonly Address[] {
  return found[0] === EXTENT_FORMAT ? extentFormat.decode(found).addresses : [];
}

/** The addresses of a leaf to free; none if its record is damaged, which the engine reports. */
export function addressesToFree(view: View, id: bigint): readonly Address[] {
  try {
    view.get(contentKey(id));
  } catch (error) {
    if (isDamageError(error)) return [];
    throw error;
  }
  return readAddresses(view, id);
}

/** The address of a leaf that lies in one piece; null for any other, also for a damaged one. */
export function onlyAddress(view: View, id: bigint): Address | null {
  const addresses = unlessDamaged(() => readAddresses(view, id)) ?? [];
  return addresses.length === 1 ? (addresses[0] ?? null) : null;
}

/** Writes a new list and returns its length in bytes. */
export function writeList(tx: Transaction, id: bigint, parts: readonly Part[]): number {
  const starts: number[] = [];
  let length = 0;
  for (let at = 0; at < parts.length; at += SEGMENT_PARTS_MAX) {
    const inSegment = parts.slice(at, at + SEGMENT_PARTS_MAX);
    writeSegment(tx, id, starts.length, inSegment);
    starts.push(length);
    for (const part of inSegment) length += part.length;
  }
  writeStarts(tx, id, starts);
  return length;
}

/** Overwrites a list that has one segment, and returns the new length in bytes. */
export function rewriteList(tx: Transaction, id: bigint, parts: readonly Part[]): number {
  if (parts.length === 0) deleteSegment(tx, id, 0);
  // A list of one segment keeps its record: that segment always starts at 0.
  if (parts.length === 0 || parts.length > SEGMENT_PARTS_MAX) return writeList(tx, id, parts);
  writeSegment(tx, id, 0, parts);
  return parts.reduce((length, part) => length + part.length, 0);
}

export function writeSegment(
  tx: Transaction,
  id: bigint,
  index: number,
  parts: readonly Part[],
): void {
  tx.set(segmentKey(id, index), segmentFormat.encode({ parts: parts.map(storedPart) }));
}

export function writeStarts(tx: Transaction, id: bigint, starts: readonly number[]): void {
  tx.set(contentKey(id), listFormat.encode({ starts }));
}

/** The offsets at which the segments of a list begin. */
export function readStarts(view: View, id: bigint): readonly number[] {
  return listFormat.decode(recordOf(view, id)).starts;
}

export function readSegment(view: View, id: bigint, index: number): readonly Part[] {
  const record = view.get(segmentKey(id, index));
  if (record === undefined) throw missing(`segment ${index} of content ${id}`);
  return segmentFormat.decode(record).parts;
}

/** The parts of a list that has one segment; null for any other. */
export function onlySegment(view: View, id: bigint): readonly Part[] | null {
  return readStarts(view, id).length === 1 ? readSegment(view, id, 0) : null;
}

/**
 * Deletes the first remaining segment of a list and returns its parts; null if there is none.
 * Damaged segments stay behind, and so do their parts.
 */
export function takeSegment(tx: Transaction, id: bigint): readonly Part[] | null {
  const prefix = key(SPACE.contentSegment, id);
  const [entry] = tx.range(prefix, keyAfter(prefix), { limit: 1, skipsDamaged: true });
  if (entry === undefined) return null;
  tx.delete(entry.key);
  return segmentFormat.decode(entry.value).parts;
}

export function deleteSegment(tx: Transaction, id: bigint, index: number): void {
  tx.delete(segmentKey(id, index));
}

export function deleteContent(tx: Transaction, id: bigint): void {
  tx.delete(contentKey(id));
}

export function addReference(tx: Transaction, id: bigint): void {
  tx.set(sharesKey(id), sharesFormat.encode({ extra: extraReferences(tx, id) + 1 }));
}

export function hasOneReference(view: View, id: bigint): boolean {
  return extraReferences(view, id) === 0;
}

/** Removes a reference; true if it was the last one. */
export function dropReference(tx: Transaction, id: bigint): boolean {
  const extra = extraReferences(tx, id);
  if (extra === 0) return true;
  if (extra === 1) tx.delete(sharesKey(id));
  else tx.set(sharesKey(id), sharesFormat.encode({ extra: extra - 1 }));
  return false;
}

/** A content without references that the sweeper has not freed yet. */
export interface Garbage {
  readonly id: bigint;
  readonly kind: "extent" | "list";
  /** Given when it lost its last reference. Readers of older states may have found it. */
  readonly died: Stamp;
}

export function writeGarbage(tx: Transaction, { id, kind }: Omit<Garbage, "died">): void {
  tx.set(garbageKey(id), garbageFormat.encode({ kind, died: tx.stamp() }));
}

export function deleteGarbage(tx: Transaction, id: bigint): void {
  tx.delete(garbageKey(id));
}

export function listGarbage(view: View, from: bigint, limit: number): Garbage[] {
  const until = keyAfter(key(SPACE.contentGarbage));
  return view.range(garbageKey(from), until, { limit }).map((entry) => ({
    id: new KeyReader(entry.key).u64(),
    ...garbageFormat.decode(entry.value),
  }));
}

function extraReferences(view: View, id: bigint): number {
  const record = view.get(sharesKey(id));
  return record === undefined ? 0 : sharesFormat.decode(record).extra;
}

function recordOf(view: View, id: bigint): Bytes {
  const record = view.get(contentKey(id));
  if (record === undefined) throw missing(`content ${id}`);
  return record;
}

function missing(what: string): StoreError {
  return new StoreError("damaged", `${what} is missing in the store`);
}

/** Checks a part before it is stored. Lists nest one level deep, and contain no maps. */
function storedPart(
  part: Part,
): Part & { content: Content & { kind: Exclude<Content["kind"], "map"> } } {
  const { id, kind, length } = part.content;
  if (kind === "map") throw new Error("a map cannot be part of a list");
  if (part.from + part.length > length) throw new RangeError("a part goes beyond its content");
  return { ...part, content: { id, kind, length } };
}
