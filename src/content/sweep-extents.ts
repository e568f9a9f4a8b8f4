import { borrowedBody } from "../base/borrowed-buffer.ts";
import type { Body } from "../base/bytes.ts";
import { fulfilled } from "../base/fulfilled.ts";
import {
  type Address,
  type ExtentInfo,
  type Extents,
  isSamePlace,
  type Written,
} from "../store/extents.ts";
import {
  isFullError,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../store/store.ts";
import { readAddresses, writeAddresses } from "./content-records.ts";
import { deleteUses, isUsedBy, listUses, writeUses } from "./content-uses.ts";

const EXTENTS_PER_ROUND = 8;
const USES_PER_READ = 1_000;
const MOVED_BYTES_PER_ROUND = 64 * 1024 * 1024;
/** Pieces that are copied at the same time, and then given their new place in one transaction. */
const MOVED_PIECES_MAX = 32;
const MOVED_BYTES_MAX = 8 * 1024 * 1024;
/** The living are moved out of an extent if they are less than this part of it. */
const ALIVE_PART = 0.5;
/** Where space is short, much has to be moved for little that comes free. */
const ALIVE_PART_WHERE_SHORT = 0.9;

/** Removes extents that nobody uses any more, and moves the living out of mostly dead ones. */
export class ExtentSweep {
  readonly #store: Store;
  readonly #extents: Extents;
  /** Extents in which something may have died since they were last looked at, and how much at most. */
  readonly #suspects = new Map<number, number>();
  /** How much could die, when they were last looked at, before they were mostly dead. */
  readonly #spares = new Map<number, number>();
  /** The highest extent when it was last asked whether space is kept in vain. */
  #lastExtent = -1;
  /** Whether the last round has left something to the next, which follows soon. */
  #isMore = false;
  /** Those out of which nothing can be moved before there is more room. */
  readonly #postponed = new Set<number>();
  /** Whether space was short when extents were last looked at. */
  #wasShort = false;

  constructor(store: Store, extents: Extents) {
    this.#store = store;
    this.#extents = extents;
  }

  lookAt(addresses: readonly Address[]): void {
    for (const { extent, bytesOnDisk } of addresses) this.#suspect(extent, bytesOnDisk);
  }

  lookAtAllFrom(first: number): void {
    for (const { extent } of this.#extents.list()) {
      if (extent >= first) this.#suspect(extent, Number.POSITIVE_INFINITY);
    }
  }

  /** Extents in use by an upload or a reader are passed over; they stay suspects. */
  async round(): Promise<boolean> {
    if (this.#isShort !== this.#wasShort) this.#beginAnew();
    if (this.#isShort) await this.#extents.trim();
    else if (!this.#isMore) await this.#trim();
    this.#isMore = await this.#lookAtSuspects();
    return this.#isMore;
  }

  /** Space has become short, or is not any more: where things are worth moving is another question. */
  #beginAnew(): void {
    this.#wasShort = this.#isShort;
    this.#spares.clear();
    this.#resumePostponed();
    if (this.#isShort) this.lookAtAllFrom(0);
  }

  /** Space that is kept is given back if nobody has needed it since the last rounds. */
  async #trim(): Promise<void> {
    const { lastExtent } = this.#extents;
    if (lastExtent === this.#lastExtent) await this.#extents.trim();
    this.#lastExtent = lastExtent;
  }

  async #lookAtSuspects(): Promise<boolean> {
    let looks = 0;
    for (const [extent, dead] of [...this.#suspects]) {
      const info = this.#infoOf(extent);
      if (info?.pinned) continue;
      if (info !== undefined && dead < (this.#spares.get(extent) ?? 0)) continue;
      if (looks++ === EXTENTS_PER_ROUND) return true;
      this.#suspects.delete(extent);
      this.#spares.delete(extent);
      if (info !== undefined && !(await this.#isDone(info))) return true;
    }
    return false;
  }

  /**
   * A round that costs next to nothing: removes extents in which nothing is alive, and leaves all
   * others for later, which is why there is always more to do.
   */
  async removeDead(): Promise<true> {
    for (const { extent, open, pinned } of this.#extents.list()) {
      if (open || pinned || !this.#suspects.has(extent)) continue;
      const [alive] = await this.#store.read((view) => listUses(view, extent, 0n, 1));
      if (alive !== undefined) continue;
      this.#suspects.delete(extent);
      this.#spares.delete(extent);
      await this.#remove(extent);
    }
    return true;
  }

  async #isDone(info: ExtentInfo): Promise<boolean> {
    try {
      if (await this.#look(info)) return true;
      this.#suspect(info.extent, Number.POSITIVE_INFINITY);
      return false;
    } catch (error) {
      // What is damaged stays as it is. Anything else may go better next time.
      const damaged = error instanceof StoreError && error.kind === "damaged";
      if (!damaged) this.#suspect(info.extent, Number.POSITIVE_INFINITY);
      throw error;
    }
  }

  /** False if it must be looked at again. */
  async #look({ extent, bytesOnDisk }: ExtentInfo): Promise<boolean> {
    const alive = await this.#bytesAlive(extent);
    const spare = alive - bytesOnDisk * (this.#isShort ? ALIVE_PART_WHERE_SHORT : ALIVE_PART);
    if (spare >= 0) {
      this.#spares.set(extent, spare);
      return true;
    }
    if (!(await this.#mayMove(alive))) {
      this.#postponed.add(extent);
      return true;
    }
    this.#extents.seal(extent);
    // From here on nothing new comes to life in it: nobody writes to it any more, and bytes that
    // were not named yet would be held.
    if (this.#infoOf(extent)?.pinned) return false;
    if (!(await this.#evacuate(extent))) return false;
    await this.#remove(extent);
    return true;
  }

  async #remove(extent: number): Promise<void> {
    await this.#extents.remove(extent);
    this.#resumePostponed();
  }

  #resumePostponed(): void {
    for (const extent of this.#postponed) this.#suspect(extent, Number.POSITIVE_INFINITY);
    this.#postponed.clear();
  }

  get #isShort(): boolean {
    return this.#extents.space?.isShort === true;
  }

  /** Nothing is begun that would end halfway: nothing is free before all are moved. */
  async #mayMove(bytes: number): Promise<boolean> {
    const { space } = this.#extents;
    return bytes === 0 || space === undefined || (await space.hasRoomToMove(bytes));
  }

  #suspect(extent: number, bytes: number): void {
    this.#suspects.set(extent, (this.#suspects.get(extent) ?? 0) + bytes);
  }

  async #bytesAlive(extent: number): Promise<number> {
    let alive = 0;
    for (let from = 0n; ; ) {
      const uses = await this.#store.read((view) => listUses(view, extent, from, USES_PER_READ));
      for (const use of uses) alive += use.bytesOnDisk;
      if (uses.length < USES_PER_READ) return alive;
      from = (uses.at(-1)?.content ?? 0n) + 1n;
    }
  }

  #infoOf(extent: number): ExtentInfo | undefined {
    return this.#extents.list().find((info) => info.extent === extent);
  }

  /** True once nothing alive is left in the extent. */
  async #evacuate(extent: number): Promise<boolean> {
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
        for (const { piece, written } of made) readdress(tx, piece, written.addresses);
      });
    } finally {
      this.#letGo(copies);
    }
  }

  /** Where there is no space left, in what is kept for this. */
  async #copyAll(pieces: readonly Piece[]): Promise<PromiseSettledResult<Copy>[]> {
    for (;;) {
      const copies = await Promise.allSettled(pieces.map((piece) => this.#copy(piece)));
      const isFull = copies.some((copy) => copy.status === "rejected" && isFullError(copy.reason));
      if (!isFull || !(await this.#extents.space?.giveUp())) return copies;
      this.#letGo(copies);
    }
  }

  async #copy(piece: Piece): Promise<Copy> {
    return { piece, written: await this.#extents.write(this.#bodyOf(piece.at)) };
  }

  /** A copy whose content was dropped meanwhile is dead from the start. */
  #letGo(copies: readonly PromiseSettledResult<Copy>[]): void {
    for (const copy of copies) {
      if (copy.status === "rejected") continue;
      const { written } = copy.value;
      written.release();
      this.lookAt(written.addresses);
    }
  }

  #bodyOf(at: Address): Body {
    return borrowedBody(at.length, this.#extents.owner(at, 0, at.length));
  }
}

/** Some bytes that are alive, and the content they belong to. */
interface Piece {
  readonly content: bigint;
  readonly at: Address;
}

interface Copy {
  readonly piece: Piece;
  readonly written: Written;
}

/** The next pieces to move out of an extent: one at least, if there is any. */
function firstPieces(view: View, extent: number): Piece[] {
  const pieces: Piece[] = [];
  let bytes = 0;
  for (const { content } of listUses(view, extent, 0n, MOVED_PIECES_MAX)) {
    const here = readAddresses(view, content).filter((at) => at.extent === extent);
    if (here.length === 0) {
      throw new StoreError("damaged", `content ${content} does not lie where its bytes are`);
    }
    for (const at of here) {
      if (pieces.length > 0 && bytes + at.bytesOnDisk > MOVED_BYTES_MAX) return pieces;
      bytes += at.bytesOnDisk;
      pieces.push({ content, at });
    }
  }
  return pieces;
}

/** Makes a content refer to the copy of a piece, unless the piece has been freed meanwhile. */
function readdress(tx: Transaction, { content, at }: Piece, copy: readonly Address[]): void {
  if (!isUsedBy(tx, at.extent, content)) return;
  const addresses = readAddresses(tx, content);
  const moved = addresses.flatMap((old) => (isSamePlace(old, at) ? copy : [old]));
  writeAddresses(tx, content, moved);
  deleteUses(tx, content, addresses);
  writeUses(tx, content, moved);
}
