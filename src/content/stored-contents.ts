import { type Body, type Bytes, collect } from "../base/bytes.ts";
import { Md5Thread } from "../machine/md5-thread.ts";
import { Md5Together } from "../machine/md5-together.ts";
import {
  type Content,
  type Contents,
  type Digests,
  type Draft,
  INLINE_BYTES_MAX,
  type Part,
  type Reading,
  type Taken,
} from "../store/contents.ts";
import {
  type Address,
  type Extents,
  type ExtentWrites,
  isSamePlace,
  type Written,
} from "../store/extents.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { type Computed, digestsOf, Md5UnderWay } from "./content-digests.ts";
import { PARTS_PER_LOOKUP, readContent } from "./content-reading.ts";
import {
  addReference,
  deleteContent,
  deleteSegment,
  dropReference,
  hasOneReference,
  onlyAddress,
  readAddresses,
  readInline,
  readSegment,
  readStarts,
  rewriteList,
  SEGMENT_PARTS_MAX,
  writeAddresses,
  writeGarbage,
  writeInline,
  writeList,
} from "./content-records.ts";
import { leavesOver } from "./content-slices.ts";
import { deleteUses, isUsedBy, writeUses } from "./content-uses.ts";
import { ListDraft } from "./list-draft.ts";
import { StoredRangeMaps } from "./stored-range-maps.ts";
import { Sweeper } from "./sweeper.ts";
import { WholeReading } from "./whole-reading.ts";

const NO_PARTS: readonly Part[] = [];

const NO_DIGESTS: Digests = { md5: false, crc64: false };

/** Contents whose records lie in a store, and their bytes in extents. */
export class StoredContents implements Contents {
  readonly maps: StoredRangeMaps;
  readonly #store: Store;
  readonly #extents: Extents;
  readonly #incoming: ExtentWrites;
  readonly #sweeper: Sweeper;
  readonly #md5Thread = new Md5Thread();
  readonly #md5Together = new Md5Together();
  /** Lists that are being read or drafted, and how often. */
  readonly #pins = new Map<bigint, number>();
  /** When another one is added, it is time to look for those that are dead. */
  #lastExtent: number;

  /** `incoming` may refuse what is taken. What the sweeper copies goes to the extents themselves. */
  constructor(store: Store, extents: Extents, incoming: ExtentWrites = extents) {
    this.#store = store;
    this.#extents = extents;
    this.#incoming = incoming;
    this.#lastExtent = extents.lastExtent;
    this.maps = new StoredRangeMaps(store, extents, {
      take: (body) => this.#take(body, NO_DIGESTS, extents),
      takeOut: (body) => this.#takeToExtents(body, NO_DIGESTS, extents),
      keep: (tx, taken) => this.keep(tx, taken),
      share: (tx, content) => this.share(tx, content),
      drop: (tx, content) => this.drop(tx, content),
    });
    const isPinned = (id: bigint) => this.#pins.has(id);
    this.#sweeper = new Sweeper(store, extents, isPinned, () => this.maps.sweep());
  }

  take(body: Body, digests: Digests): Promise<Taken> {
    return this.#take(body, digests, this.#incoming);
  }

  keep(tx: Transaction, taken: Taken): Content {
    return this.#keepAs(tx, tx.stamp(), taken);
  }

  replace(tx: Transaction, content: Content, taken: Taken): Content {
    if (this.#vacate(tx, content)) return this.#keepAs(tx, content.id, taken);
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
      this.#handOver(tx, old, shared);
      return { id, kind, length: rewriteList(tx, id, parts) };
    }
    for (const heir of shared) this.share(tx, heir);
    this.drop(tx, content);
    return this.compose(tx, parts);
  }

  draft(parts: readonly Part[], holds: (view: View) => boolean): Promise<Draft | null> {
    const pins = { pin: (id: bigint) => this.#pin(id), unpin: (id: bigint) => this.#unpin(id) };
    return ListDraft.write(this.#store, pins, parts, holds);
  }

  slice(tx: Transaction, content: Content, from: number, length: number): Content | null {
    const { id, kind } = content;
    if (kind === "map") return null;
    if (kind === "inline") {
      return this.#keepInline(tx, tx.stamp(), readInline(tx, id).subarray(from, from + length));
    }
    if (kind === "extent" && length === content.length) {
      this.share(tx, content);
      return content;
    }
    const parts = leavesOver(tx, content, from, from + length);
    if (parts === null) return null;
    for (const part of parts) this.share(tx, part.content);
    return this.compose(tx, parts);
  }

  share(tx: Transaction, content: Content): void {
    if (content.kind === "map") this.maps.share(tx, content);
    else addReference(tx, content.id);
  }

  drop(tx: Transaction, content: Content): void {
    for (const part of this.#letGo(tx, content)) this.drop(tx, part.content);
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

  open(view: View, content: Content, from: number, length: number): Reading {
    if (from < 0 || length < 0 || from + length > content.length) {
      throw new RangeError(`bytes ${from} to ${from + length} of ${content.length}`);
    }
    if (content.kind === "map") return this.maps.open(view, content, from, length);
    if (content.kind === "inline") {
      return new WholeReading(readInline(view, content.id).subarray(from, from + length));
    }
    const reading = readContent(view, {
      store: this.#store,
      extents: this.#extents,
      content,
      from,
      length,
      onClose: () => this.#unpin(content.id),
    });
    if (content.kind === "list") this.#pin(content.id);
    return reading;
  }

  sweep(): Promise<boolean> {
    return this.#sweeper.sweep();
  }

  /** One reference less, and the parts to which there is one too many if that was the last. */
  #letGo(tx: Transaction, content: Content): readonly Part[] {
    const { id, kind } = content;
    if (kind === "map") {
      this.maps.drop(tx, content);
      return NO_PARTS;
    }
    if (this.#vacate(tx, content)) {
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

  /** The references that a list had to its parts: heirs take them over, and those left are dropped. */
  #handOver(tx: Transaction, parts: readonly Part[], heirs: readonly Content[]): void {
    const left = parts.map(({ content }) => content);
    for (const heir of heirs) {
      const at = left.findIndex(({ id }) => id === heir.id);
      if (at < 0) this.share(tx, heir);
      else left.splice(at, 1);
    }
    for (const content of left) this.drop(tx, content);
  }

  /**
   * Frees a leaf to which there is one reference, but for its record, which is for the caller to delete
   * or to write anew. It must lie in one piece: whoever reads it holds its extent. False, and nothing
   * is done, for any other content.
   */
  #vacate(tx: Transaction, { id, kind }: Content): boolean {
    if (kind === "list" || kind === "map" || !hasOneReference(tx, id)) return false;
    if (kind === "inline") return true;
    const at = onlyAddress(tx, id);
    if (at === null) return false;
    deleteUses(tx, id, [at]);
    this.#sweeper.lookAt([at]);
    return true;
  }

  /** The parts of a list that every reader finds whole at his first look; null if it is longer. */
  #shortList(view: View, id: bigint, known?: readonly Part[]): readonly Part[] | null {
    const hasOneSegment = known !== undefined || readStarts(view, id).length === 1;
    if (!hasOneSegment) return null;
    const parts = known ?? readSegment(view, id, 0);
    // All segments but the last are full: where there are so few, there is one.
    if (parts.length === 0 || parts.length > PARTS_PER_LOOKUP) return null;
    return parts.some(({ content }) => content.kind === "list") ? null : parts;
  }

  #keepAs(tx: Transaction, id: bigint, taken: Taken): Content {
    if (!(taken instanceof TakenBytes)) throw new Error("only what `take` returned can be kept");
    const { inline, addresses } = taken.stored();
    if (inline !== null) return this.#keepInline(tx, id, inline);
    // A body that runs again keeps them again.
    if (taken.keptAs !== null && isWhere(tx, taken.keptAs, addresses)) {
      throw new Error("bytes can be given a name only once");
    }
    taken.keptAs = id;
    writeAddresses(tx, id, addresses);
    writeUses(tx, id, addresses);
    return { id, kind: "extent", length: taken.length };
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
    const computed = await digestsOf(bytes, digests, this.#md5Together);
    return new TakenBytes(bytes.length, computed, bytes, [], () => {});
  }

  async #takeToExtents(body: Body, asked: Digests, writes: ExtentWrites): Promise<Taken> {
    const before = this.#extents.lastExtent;
    const md5 = asked.md5 ? new Md5UnderWay(body.length, this.#md5Thread) : null;
    const tap = md5 === null ? null : (parts: readonly Bytes[]) => md5.update(parts);
    let written: Written;
    try {
      written = await writes.write(body, { crc64: asked.crc64, tap });
    } catch (error) {
      md5?.abandon();
      this.#sweeper.lookAtAllFrom(before);
      throw error;
    }
    if (this.#extents.lastExtent !== this.#lastExtent) {
      this.#lastExtent = this.#extents.lastExtent;
      this.#sweeper.makeRoom();
    }
    // Nobody knows here whether the bytes got a name: the sweeper finds out.
    const release = () => {
      written.release();
      this.#sweeper.lookAt(written.addresses);
    };
    const digests = { md5: md5?.finish() ?? null, crc64: written.crc64 };
    return new TakenBytes(body.length, digests, null, written.addresses, release);
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

/** Whether a content has its bytes in these places. */
function isWhere(view: View, id: bigint, addresses: readonly Address[]): boolean {
  const [first] = addresses as readonly [Address, ...Address[]];
  if (!isUsedBy(view, first.extent, id)) return false;
  return readAddresses(view, id).some((at) => isSamePlace(at, first));
}

class TakenBytes implements Taken {
  readonly length: number;
  readonly md5: Bytes | null;
  readonly crc64: Bytes | null;
  readonly #inline: Bytes | null;
  readonly #addresses: readonly Address[];
  readonly #release: () => void;
  /** The content that they were given to last, by a body that may have come to nothing. */
  keptAs: bigint | null = null;
  #released = false;

  constructor(
    length: number,
    { md5, crc64 }: Computed,
    inline: Bytes | null,
    addresses: readonly Address[],
    release: () => void,
  ) {
    this.length = length;
    this.md5 = md5;
    this.crc64 = crc64;
    this.#inline = inline;
    this.#addresses = addresses;
    this.#release = release;
  }

  get inline(): Bytes | null {
    return this.#inline;
  }

  /** Once released, bytes may be gone at any time: too late to give them a name. */
  stored(): { inline: Bytes | null; addresses: readonly Address[] } {
    if (this.#released) throw new Error("taken bytes were released before they were kept");
    return { inline: this.#inline, addresses: this.#addresses };
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#release();
  }
}
