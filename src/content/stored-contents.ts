import { type Body, type Bytes, collect, NO_BYTES } from "../base/bytes.ts";
import { SPACE } from "../base/keys.ts";
import type { Machine } from "../machine/machine.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Need } from "../store/acceleration.ts";
import type { Content, ContentKey, Reading, Taken } from "../store/content.ts";
import {
  type Contents,
  type Digests,
  type Draft,
  INLINE_BYTES_MAX,
  type Part,
} from "../store/contents.ts";
import {
  type Address,
  type Extents,
  type ExtentWrites,
  isSamePlace,
  type Written,
} from "../store/extents.ts";
import { NO_OTHERS, type Others } from "../store/others.ts";
import { type Store, type Transaction, unlessDamaged, type View } from "../store/store.ts";
import { digestsOf, StreamingMd5 } from "./content-digests.ts";
import { PARTS_PER_LOOKUP, readContent } from "./content-reading.ts";
import {
  addReference,
  deleteContent,
  deleteSegment,
  dropReference,
  type Garbage,
  hasOneReference,
  keyOfFirstSegment,
  keysToDrop,
  keysToShare,
  onlyAddress,
  onlySegment,
  readAddresses,
  readInline,
  readSegment,
  readStarts,
  rewriteList,
  SEGMENT_PARTS_MAX,
  writeGarbage,
  writeInline,
  writeLeaf,
  writeList,
} from "./content-records.ts";
import { leavesOver } from "./content-slices.ts";
import { deleteUses, extentOfUse, isUsedBy, writeUses } from "./content-uses.ts";
import { ListDraft } from "./list-draft.ts";
import { keysOfLayers } from "./range-records.ts";
import { SealedBody } from "./sealing.ts";
import { StoredRangeMaps } from "./stored-range-maps.ts";
import { Sweeper } from "./sweeper.ts";
import { NO_LEAF, TakenBytes } from "./taken-bytes.ts";
import { WholeReading } from "./whole-reading.ts";

const NO_PARTS: readonly Part[] = [];

/** Records that several processes use. */
export interface SharedRecords {
  readonly others: Others;
  /** The store for sweeping, which refuses to write if another process sweeps. */
  readonly sweepStore: Store;
}

const NO_DIGESTS: Digests = { md5: false, crc64: false };

/**
 * Contents whose records lie in a store and whose large bodies lie in extents.
 *
 * This file is the entrance to the folder. Read on in the order of a body's life:
 * 1. Upload: `content-digests.ts` hashes bytes on their way to the extents, `sealing.ts` encrypts
 *    those that come with a key, `taken-bytes.ts` is what has arrived.
 * 2. Records: `content-records.ts` (leaves, lists, reference counts) and `content-uses.ts` (which
 *    contents have bytes in which extent). `list-draft.ts` writes lists of very many parts,
 *    `content-slices.ts` shares parts of contents instead of copying them.
 * 3. Download: `content-reading.ts`, on top of `step-reading.ts` and `whole-reading.ts`.
 * 4. Space: `sweeper.ts` runs `sweep-garbage.ts` (frees dropped contents) and `sweep-extents.ts`
 *    (removes and compacts extents).
 *
 * Maps are the second half. Enter at `stored-range-maps.ts`; then `range-records.ts`,
 * `range-writes.ts`, `range-pieces.ts` (which layer is visible where), `range-reading.ts`,
 * `appended-entries.ts` with `move-appended-entries.ts` (appending in place), and
 * `sweep-ranges.ts`.
 */
export class StoredContents implements Contents {
  readonly maps: StoredRangeMaps;
  readonly #store: Store;
  readonly #extents: Extents;
  readonly #incoming: ExtentWrites;
  readonly #sweeper: Sweeper;
  readonly #machine: Machine;
  readonly #others: Others;
  /** The number of pins of each list that is being read or drafted. */
  readonly #pins = new Map<bigint, number>();
  /** The highest extent at the last upload. When one is added, dead extents are removed. */
  #lastExtent: number;

  /** `incoming` stores uploads, and may refuse them. The sweeper writes to `extents` directly. */
  constructor(
    store: Store,
    extents: Extents,
    machine: Machine,
    incoming: ExtentWrites = extents,
    { others, sweepStore }: SharedRecords = { others: NO_OTHERS, sweepStore: store },
  ) {
    this.#store = store;
    this.#machine = machine;
    this.#extents = extents;
    this.#incoming = incoming;
    this.#others = others;
    this.#lastExtent = extents.lastExtent;
    this.maps = new StoredRangeMaps(
      { store, sweepStore, extents, others },
      {
        take: (body) => this.#take(body, NO_DIGESTS, extents),
        takeToExtent: (body) => this.#takeToExtents(body, NO_DIGESTS, extents),
        keep: (tx, taken) => this.keep(tx, taken),
        share: (tx, content) => this.share(tx, content),
        drop: (tx, content) => this.drop(tx, content),
      },
    );
    const isPinned = ({ id, died }: Garbage) => this.#pins.has(id) || !others.isUnread(died);
    this.#sweeper = new Sweeper({ store, sweepStore, extents, others }, isPinned, () =>
      this.maps.sweep(),
    );
    if (others.areThere) store.changes((keys) => this.#hear(keys));
  }

  take(body: Body, digests: Digests, key: ContentKey | null = null): Promise<Taken> {
    return key === null || body.length === 0
      ? this.#take(body, digests, this.#incoming)
      : this.#takeSealed(new SealedBody(body, key, digests));
  }

  keep(tx: Transaction, taken: Taken): Content {
    return this.#keepAs(tx, tx.stamp(), taken);
  }

  replace(tx: Transaction, content: Content, taken: Taken): Content {
    if (this.#freeAllButRecord(tx, content)) return this.#keepAs(tx, content.id, taken);
    this.drop(tx, content);
    return this.keep(tx, taken);
  }

  compose(tx: Transaction, parts: readonly Part[]): Content {
    const id = tx.stamp();
    return { id, kind: "list", length: writeList(tx, id, parts) };
  }

  recompose(
    tx: Transaction,
    content: Content,
    parts: readonly Part[],
    shared: readonly Content[],
    replaced?: readonly Part[],
  ): Content {
    const { id, kind } = content;
    const isOnly = kind === "list" && hasOneReference(tx, id);
    const old = isOnly ? this.#shortList(tx, id, replaced) : null;
    if (old !== null) {
      this.#passOnReferences(tx, old, shared);
      return { id, kind, length: rewriteList(tx, id, parts) };
    }
    prefetch(tx, () => keysToShare(shared));
    for (const other of shared) this.share(tx, other);
    this.drop(tx, content);
    return this.compose(tx, parts);
  }

  draft(parts: readonly Part[], partsExist: (view: View) => boolean): Promise<Draft | null> {
    const pins = { pin: (id: bigint) => this.#pinEverywhere(id) };
    return ListDraft.write(this.#store, pins, parts, partsExist);
  }

  slice(tx: Transaction, content: Content, from: number, length: number): Content | null {
    const { id, kind } = content;
    if (kind === "map") return null;
    if (kind === "inline") {
      return this.#keepInline(tx, tx.stamp(), readInline(tx, id).subarray(from, from + length));
    }
    if (kind !== "list" && length === content.length) {
      this.share(tx, content);
      return content;
    }
    const parts = leavesOver(tx, content, from, from + length);
    if (parts === null) return null;
    prefetch(tx, () => keysToShare(parts.map((part) => part.content)));
    for (const part of parts) this.share(tx, part.content);
    return this.compose(tx, parts);
  }

  share(tx: Transaction, content: Content): void {
    if (content.kind === "map") this.maps.share(tx, content);
    else addReference(tx, content.id);
  }

  drop(tx: Transaction, content: Content): void {
    const parts = this.#dropOne(tx, content);
    if (parts.length > 1) prefetch(tx, () => keysToDrop(parts.map((part) => part.content)));
    for (const part of parts) this.drop(tx, part.content);
  }

  needsToShare(content: Content): readonly Need[] {
    return content.kind === "map" ? keysOfLayers([content.id]) : keysToShare([content]);
  }

  needsToDrop(content: Content): readonly Need[] {
    const { kind } = content;
    if (kind === "map") return this.maps.needsToDrop(content);
    return kind === "list"
      ? [...keysToDrop([content]), keyOfFirstSegment(content)]
      : keysToDrop([content]);
  }

  prefetchDrops(tx: Transaction, contents: () => readonly Content[]): void {
    prefetch(tx, () => contents().flatMap((content) => this.needsToDrop(content)));
    prefetch(tx, () => keysToDrop(contents().flatMap((content) => this.#droppedWith(tx, content))));
  }

  partsOf(view: View, content: Content, skip: number, limit: number): Part[] {
    if (content.kind !== "list") return [];
    const segments = readStarts(view, content.id).length;
    const parts: Part[] = [];
    let index = Math.floor(skip / SEGMENT_PARTS_MAX);
    let behind = skip % SEGMENT_PARTS_MAX;
    for (; index < segments && parts.length < limit; index++) {
      const found = readSegment(view, content.id, index);
      parts.push(...found.slice(behind, behind + limit - parts.length));
      behind = 0;
    }
    return parts;
  }

  open(
    view: View,
    content: Content,
    from: number,
    length: number,
    key: ContentKey | null = null,
  ): Reading {
    if (from < 0 || length < 0 || from + length > content.length) {
      throw new RangeError(`bytes ${from} to ${from + length} of ${content.length}`);
    }
    if (content.kind === "map") return this.maps.open(view, content, from, length, key);
    if (content.kind === "inline") {
      return new WholeReading(readInline(view, content.id).subarray(from, from + length));
    }
    let unpinElsewhere = () => {};
    const reading = readContent(view, {
      store: this.#store,
      extents: this.#extents,
      content,
      from,
      length,
      key,
      onClose: () => {
        unpinElsewhere();
        this.#unpin(content.id);
      },
    });
    unpinElsewhere = this.#others.pin();
    if (content.kind === "list") this.#pin(content.id);
    return reading;
  }

  /** Looks through all extents for dead bytes again, after records were replaced as a whole. */
  recheckSpace(): void {
    this.#sweeper.suspectAllFrom(0);
  }

  sweep(): Promise<boolean> {
    return this.#sweeper.sweep();
  }

  /** Removes a reference. If this frees a list, returns its parts, which the caller drops. */
  #dropOne(tx: Transaction, content: Content): readonly Part[] {
    const { id, kind } = content;
    if (kind === "map") {
      this.maps.drop(tx, content);
      return NO_PARTS;
    }
    if (this.#freeAllButRecord(tx, content)) {
      deleteContent(tx, id);
      return NO_PARTS;
    }
    if (!dropReference(tx, id)) return NO_PARTS;
    const parts = kind === "list" ? this.#shortList(tx, id) : null;
    if (parts === null) {
      writeGarbage(tx, { id, kind: kind === "list" ? kind : "extent" });
      return NO_PARTS;
    }
    deleteContent(tx, id);
    deleteSegment(tx, id, 0);
    return parts;
  }

  /** What loses a reference too if a content loses its last one, as far as `drop` does that. */
  #droppedWith(tx: Transaction, content: Content): readonly Content[] {
    if (content.kind === "map") return this.maps.leavesIfSmall(tx, content);
    if (content.kind !== "list") return [];
    return (this.#shortList(tx, content.id) ?? NO_PARTS).map((part) => part.content);
  }

  /** Passes a list's references on to `shared`, adds missing ones, and drops the others. */
  #passOnReferences(tx: Transaction, parts: readonly Part[], shared: readonly Content[]): void {
    const left = parts.map(({ content }) => content);
    prefetch(tx, () => [...keysToDrop(left), ...keysToShare(shared)]);
    for (const other of shared) {
      const at = left.findIndex(({ id }) => id === other.id);
      if (at < 0) this.share(tx, other);
      else left.splice(at, 1);
    }
    for (const content of left) this.drop(tx, content);
  }

  /**
   * Frees a leaf with one reference, except for its record: the caller deletes or overwrites that.
   * The leaf must lie in one piece, so that a reader has pinned all of its bytes. Returns false,
   * and does nothing, for any other content.
   */
  #freeAllButRecord(tx: Transaction, { id, kind }: Content): boolean {
    if (kind === "list" || kind === "map" || !hasOneReference(tx, id)) return false;
    if (kind === "inline") return true;
    const at = onlyAddress(tx, id);
    if (at === null) return false;
    deleteUses(tx, id, [at]);
    this.#sweeper.suspect([at]);
    return true;
  }

  /** The parts of a list that a reader finds with one lookup; null for a longer or damaged one. */
  #shortList(view: View, id: bigint, known?: readonly Part[]): readonly Part[] | null {
    const parts = known ?? unlessDamaged(() => onlySegment(view, id));
    // All segments but the last are full, so a list of this few known parts has one segment.
    if (parts === null || parts.length === 0 || parts.length > PARTS_PER_LOOKUP) return null;
    return parts.some(({ content }) => content.kind === "list") ? null : parts;
  }

  #keepAs(tx: Transaction, id: bigint, taken: Taken): Content {
    if (!(taken instanceof TakenBytes)) throw new Error("only what `take` returned can be kept");
    const { inline, leaf } = taken.stored();
    if (inline !== null) return this.#keepInline(tx, id, inline);
    const { addresses, nonce } = leaf;
    // A body that runs again keeps the same bytes again, under another id. All ids are tried: a run
    // on wrong guesses may come between one that was committed and one that keeps them once more.
    if ([...taken.contentIds].some((kept) => liesAt(tx, kept, addresses))) {
      throw new Error("taken bytes can be kept only once");
    }
    taken.contentIds.add(id);
    writeLeaf(tx, id, leaf);
    writeUses(tx, id, addresses);
    return { id, kind: nonce.length === 0 ? "extent" : "sealed", length: taken.length };
  }

  #keepInline(tx: Transaction, id: bigint, bytes: Bytes): Content {
    writeInline(tx, id, bytes);
    return { id, kind: "inline", length: bytes.length };
  }

  #take(body: Body, digests: Digests, writes: ExtentWrites): Promise<Taken> {
    return body.length <= INLINE_BYTES_MAX
      ? this.#takeInline(body, digests)
      : this.#takeToExtents(body, digests, writes);
  }

  async #takeInline(body: Body, digests: Digests): Promise<Taken> {
    const bytes = body.takeWhole?.() ?? (await collect(body));
    const computed = await digestsOf(bytes, digests, this.#machine.md5Batches);
    return new TakenBytes(bytes.length, computed, bytes, NO_LEAF, () => {});
  }

  async #takeSealed(body: SealedBody): Promise<Taken> {
    const taken = await this.#takeToExtents(body, NO_DIGESTS, this.#incoming, body.nonce);
    return taken.withDigests(body.digests());
  }

  async #takeToExtents(
    body: Body,
    asked: Digests,
    writes: ExtentWrites,
    nonce: Bytes = NO_BYTES,
  ): Promise<TakenBytes> {
    const before = this.#extents.lastExtent;
    const md5 = asked.md5 ? new StreamingMd5(body.length, this.#machine.md5Thread) : null;
    const tap = md5 === null ? null : (parts: readonly Bytes[]) => md5.update(parts);
    let written: Written;
    try {
      written = await writes.write(body, { crc64: asked.crc64, tap });
    } catch (error) {
      md5?.abandon();
      this.#sweeper.suspectAllFrom(before);
      throw error;
    }
    if (this.#extents.reusesSpace && this.#extents.lastExtent !== this.#lastExtent) {
      this.#lastExtent = this.#extents.lastExtent;
      this.#sweeper.makeRoom();
    }
    // The sweeper finds out whether a content was made of the bytes.
    const release = () => {
      written.release();
      this.#sweeper.suspect(written.addresses);
    };
    const digests = { md5: md5?.finish() ?? null, crc64: written.crc64 };
    const leaf = { addresses: written.addresses, nonce };
    return new TakenBytes(body.length, digests, null, leaf, release);
  }

  /** Learns what other processes have freed. */
  #hear(keys: readonly Bytes[] | null): void {
    if (keys === null) this.#sweeper.suspectAllFrom(0);
    for (const key of keys ?? []) {
      if (key[0] === SPACE.extentUse) this.#sweeper.suspectExtent(extentOfUse(key));
      if (key[0] === SPACE.rangeLayer) this.maps.recheckLayers();
    }
  }

  /** Pins a list until the returned function is called. */
  #pinEverywhere(id: bigint): () => void {
    const unpinElsewhere = this.#others.pin();
    this.#pin(id);
    return () => {
      unpinElsewhere();
      this.#unpin(id);
    };
  }

  #pin(id: bigint): void {
    this.#pins.set(id, (this.#pins.get(id) ?? 0) + 1);
  }

  #unpin(id: bigint): void {
    const pins = (this.#pins.get(id) ?? 0) - 1;
    if (pins > 0) this.#pins.set(id, pins);
    else this.#pins.delete(id);
  }
}

/** Whether a content exists and has its bytes at these addresses. */
function liesAt(view: View, id: bigint, addresses: readonly Address[]): boolean {
  const [first] = addresses as readonly [Address, ...Address[]];
  if (!isUsedBy(view, first.extent, id)) return false;
  return readAddresses(view, id).some((at) => isSamePlace(at, first));
}
