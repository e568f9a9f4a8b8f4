import { borrowedBody } from "../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../base/bytes.ts";
import { fulfilled } from "../base/fulfilled.ts";
import { prefetch } from "../store/accelerated.ts";
import {
  type Address,
  type ExtentInfo,
  type Extents,
  isSamePlace,
  type Written,
} from "../store/extents.ts";
import {
  isDamageError,
  isFullError,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../store/store.ts";
import { keysToOpen, readAddresses, readLeaf, writeLeaf } from "./content-records.ts";
import { deleteUses, isUsedBy, keyOfUse, listUses, writeUses } from "./content-uses.ts";

const EXTENTS_PER_ROUND = 8;
const USES_PER_READ = 1_000;
const MOVED_BYTES_PER_ROUND = 64 * 1024 * 1024;
/** Pieces that are copied concurrently, and whose addresses change in one transaction. */
const MOVED_PIECES_MAX = 32;
const MOVED_BYTES_MAX = 8 * 1024 * 1024;
/** An extent is compacted if less than this part of it is in use. */
const USED_PART_MAX = 0.5;
/** The same limit while space is short: compaction then moves much to free little. */
const USED_PART_MAX_WHEN_SHORT = 0.9;
/** Extents of which the sweeper knows how many bytes may die before it checks them again. */
const SPARE_NOTES_MAX = 100_000;

/** Removes dead extents, and compacts mostly dead ones by moving the bytes in use elsewhere. */
export class ExtentSweep {
  readonly #store: Store;
  readonly #extents: Extents;
  /** Extents that may have new dead bytes, and how many at most. */
  readonly #suspects = new Map<number, number>();
  /** How many bytes of an extent may die before it has to be checked again. */
  readonly #spareBytes = new Map<number, number>();
  /** The highest extent at the last round that considered trimming. */
  #lastExtent = -1;
  /** Whether the last round left work for the next one, which follows soon. */
  #hasMore = false;
  /** Extents to compact once there is room for the copies. */
  readonly #postponed = new Set<number>();
  /** Whether space was short in the last round. */
  #wasShort = false;

  constructor(store: Store, extents: Extents) {
    this.#store = store;
    this.#extents = extents;
  }

  /** Notes that bytes at these addresses may be dead. */
  suspect(addresses: readonly Address[]): void {
    for (const { extent, bytesOnDisk } of addresses) this.#addSuspect(extent, bytesOnDisk);
  }

  /** Notes that any bytes of this extent may be dead. */
  suspectExtent(extent: number): void {
    this.#addSuspect(extent, Number.POSITIVE_INFINITY);
  }

  /** Notes that this extent and all later ones may have dead bytes. */
  suspectAllFrom(first: number): void {
    for (const { extent } of this.#extents.list()) {
      if (extent >= first) this.suspectExtent(extent);
    }
  }

  /** Checks some suspects. Pinned extents are skipped and stay suspects. */
  async round(): Promise<boolean> {
    if (this.#isShort !== this.#wasShort) this.#recheckAll();
    if (this.#isShort) await this.#extents.trim();
    else if (!this.#hasMore) await this.#trimIfIdle();
    this.#hasMore = await this.#checkSuspects();
    return this.#hasMore;
  }

  /** Forgets earlier checks, because the limit for compaction has changed. */
  #recheckAll(): void {
    this.#wasShort = this.#isShort;
    this.#spareBytes.clear();
    this.#resumePostponed();
    if (this.#isShort) this.suspectAllFrom(0);
  }

  /** Frees retained space if no extent was added since the last round that had nothing to do. */
  async #trimIfIdle(): Promise<void> {
    const { lastExtent } = this.#extents;
    if (lastExtent === this.#lastExtent) await this.#extents.trim();
    this.#lastExtent = lastExtent;
  }

  async #checkSuspects(): Promise<boolean> {
    let checks = 0;
    for (const [extent, dead] of [...this.#suspects]) {
      if (dead < (this.#spareBytes.get(extent) ?? 0)) continue;
      if (checks === EXTENTS_PER_ROUND) return true;
      const info = await this.#extents.find(extent);
      if (info?.pinned) continue;
      this.#suspects.delete(extent);
      this.#spareBytes.delete(extent);
      // Removed, or none of ours: other processes may make very many of them.
      if (info === undefined) continue;
      checks++;
      if (!(await this.#isDone(info))) return true;
    }
    return false;
  }

  /**
   * A cheap round: removes suspects without bytes in use, and leaves all others for later. Always
   * returns true, since there may be more to do.
   */
  async removeDead(): Promise<true> {
    for (const { extent, open, pinned } of this.#extents.list()) {
      if (open || pinned || !this.#suspects.has(extent)) continue;
      const [use] = await this.#store.read((view) => listUses(view, extent, 0n, 1));
      if (use !== undefined) continue;
      this.#suspects.delete(extent);
      this.#spareBytes.delete(extent);
      await this.#remove(extent);
    }
    return true;
  }

  /** Checks an extent; if that returns false, it stays a suspect. */
  async #isDone(info: ExtentInfo): Promise<boolean> {
    try {
      if (await this.#check(info)) return true;
      this.#addSuspect(info.extent, Number.POSITIVE_INFINITY);
      return false;
    } catch (error) {
      // A damaged extent stays as it is. After any other error the next round tries again.
      if (!isDamageError(error)) this.#addSuspect(info.extent, Number.POSITIVE_INFINITY);
      throw error;
    }
  }

  /** Compacts and removes an extent if it is mostly dead. False if it must be checked again. */
  async #check({ extent, bytesOnDisk }: ExtentInfo): Promise<boolean> {
    const used = await this.#bytesInUse(extent);
    const usedPartMax = this.#isShort ? USED_PART_MAX_WHEN_SHORT : USED_PART_MAX;
    const spare = used - bytesOnDisk * usedPartMax;
    if (spare >= 0) {
      this.#noteSpare(extent, spare);
      return true;
    }
    if (!(await this.#hasRoomToMove(used))) {
      this.#postponed.add(extent);
      return true;
    }
    this.#extents.seal(extent);
    // A sealed extent without pins gets no new uses: no body is written to it, and an upload that
    // is not kept yet would pin it.
    if ((await this.#extents.find(extent))?.pinned) return false;
    if (!(await this.#moveUsed(extent))) return false;
    await this.#remove(extent);
    return true;
  }

  /** Forgets the oldest note where there are too many: that extent is only checked sooner. */
  #noteSpare(extent: number, bytes: number): void {
    this.#spareBytes.set(extent, bytes);
    if (this.#spareBytes.size <= SPARE_NOTES_MAX) return;
    for (const oldest of this.#spareBytes.keys()) {
      this.#spareBytes.delete(oldest);
      return;
    }
  }

  async #remove(extent: number): Promise<void> {
    await this.#extents.remove(extent);
    this.#resumePostponed();
  }

  #resumePostponed(): void {
    for (const extent of this.#postponed) this.#addSuspect(extent, Number.POSITIVE_INFINITY);
    this.#postponed.clear();
  }

  get #isShort(): boolean {
    return this.#extents.space?.isShort === true;
  }

  /** Whether all of the bytes can be moved: moving only a part frees nothing. */
  async #hasRoomToMove(bytes: number): Promise<boolean> {
    const { space } = this.#extents;
    return bytes === 0 || space === undefined || (await space.hasRoomToMove(bytes));
  }

  #addSuspect(extent: number, bytes: number): void {
    this.#suspects.set(extent, (this.#suspects.get(extent) ?? 0) + bytes);
  }

  async #bytesInUse(extent: number): Promise<number> {
    let used = 0;
    for (let from = 0n; ; ) {
      const uses = await this.#store.read((view) => listUses(view, extent, from, USES_PER_READ));
      for (const use of uses) used += use.bytesOnDisk;
      if (uses.length < USES_PER_READ) return used;
      from = (uses.at(-1)?.content ?? 0n) + 1n;
    }
  }

  /** Moves bytes in use out of an extent; true once none are left. */
  async #moveUsed(extent: number): Promise<boolean> {
    const pin = this.#extents.pin([extent]);
    try {
      for (let moved = 0; moved < MOVED_BYTES_PER_ROUND; ) {
        const pieces = await this.#store.read((view) => firstPieces(view, extent));
        if (pieces.length === 0) return true;
        await this.#move(pieces);
        for (const { at } of pieces) moved += at.bytesOnDisk;
      }
      return false;
    } finally {
      pin.release();
    }
  }

  async #move(pieces: readonly Piece[]): Promise<void> {
    const copies = await this.#copyAll(pieces);
    try {
      const made = copies.map(fulfilled);
      await this.#store.transact((tx) => {
        prefetch(tx, () => made.flatMap(({ piece }) => keysToMove(piece)));
        for (const { piece, written } of made) readdress(tx, piece, written.addresses);
      });
    } finally {
      this.#releaseCopies(copies);
    }
  }

  /** Copies pieces. If the disk is full, takes space from the reserve and tries again. */
  async #copyAll(pieces: readonly Piece[]): Promise<PromiseSettledResult<Copy>[]> {
    for (;;) {
      const copies = await Promise.allSettled(pieces.map((piece) => this.#copy(piece)));
      const isFull = copies.some((copy) => copy.status === "rejected" && isFullError(copy.reason));
      if (!isFull || !(await this.#extents.space?.giveUp())) return copies;
      this.#releaseCopies(copies);
    }
  }

  async #copy(piece: Piece): Promise<Copy> {
    return { piece, written: await this.#extents.write(this.#bodyOf(piece.at)) };
  }

  /** Unpins copies. A copy is dead if its content was dropped meanwhile. */
  #releaseCopies(copies: readonly PromiseSettledResult<Copy>[]): void {
    for (const copy of copies) {
      if (copy.status === "rejected") continue;
      const { written } = copy.value;
      written.release();
      this.suspect(written.addresses);
    }
  }

  #bodyOf(at: Address): Body {
    return borrowedBody(at.length, this.#extents.read(at, 0, at.length));
  }
}

/** Bytes in use, and the content they belong to. */
interface Piece {
  readonly content: bigint;
  readonly at: Address;
}

interface Copy {
  readonly piece: Piece;
  readonly written: Written;
}

/** The next pieces to move out of an extent; empty if none are left. */
function firstPieces(view: View, extent: number): Piece[] {
  const pieces: Piece[] = [];
  let bytes = 0;
  const uses = listUses(view, extent, 0n, MOVED_PIECES_MAX);
  prefetch(view, () => keysToOpen(uses.map(({ content: id }) => ({ id }))));
  for (const { content } of uses) {
    const here = readAddresses(view, content).filter((at) => at.extent === extent);
    if (here.length === 0) {
      throw new StoreError("damaged", `content ${content} has no bytes in extent ${extent}`);
    }
    for (const at of here) {
      if (pieces.length > 0 && bytes + at.bytesOnDisk > MOVED_BYTES_MAX) return pieces;
      bytes += at.bytesOnDisk;
      pieces.push({ content, at });
    }
  }
  return pieces;
}

function keysToMove({ content, at }: Piece): Bytes[] {
  return [keyOfUse(at.extent, content), ...keysToOpen([{ id: content }])];
}

/** Makes a content refer to the copy of a piece, unless the piece has been freed meanwhile. */
function readdress(tx: Transaction, { content, at }: Piece, copy: readonly Address[]): void {
  if (!isUsedBy(tx, at.extent, content)) return;
  const { addresses, nonce } = readLeaf(tx, content);
  const moved = addresses.flatMap((old) => (isSamePlace(old, at) ? copy : [old]));
  writeLeaf(tx, content, { addresses: moved, nonce });
  deleteUses(tx, content, addresses);
  writeUses(tx, content, moved);
}
