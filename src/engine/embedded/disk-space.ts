import { open, statfs } from "node:fs/promises";
import { join } from "node:path";
import { MIB } from "../../base/limits.ts";
import type { ScarceSpace } from "../../store/extents.ts";
import { DATABASE_FILE } from "./database-file.ts";
import { freeBytes } from "./disk-full.ts";
import { type Meta, readMeta } from "./meta-pages.ts";
import { ReserveFile } from "./reserve-file.ts";

const RESERVE_FILE = "reserve";
/**
 * The most that LMDB needs for each byte of the WAL: a value just longer than half a page takes a
 * whole one, and a split leaf is half full.
 */
const DATABASE_BYTES_PER_WAL_BYTE = 2;
/** For the pages that LMDB copies before it frees the old ones, and for compaction. */
const COPIES_BYTES = 4 * MIB;
/** The running server never gives up this much: the next start needs it for its first files. */
const START_BYTES = MIB;
/** A start with less free space gives up part of the reserve. */
const START_FREE_BYTES = 2 * MIB;
const SLICE_BYTES_MIN = 4 * MIB;
const SLICE_PART = 4;
/** The share of LMDB's free pages that counts as space: a long value may not fit into gaps. */
const FREE_PAGES_PART = 0.5;
/** The share of a disk that must be free beside the reserve before the shortage ends. */
const FREE_PART = 1 / 16;
const FREE_BYTES_MIN = 2 * MIB;
const FREE_BYTES_MAX = 64 * MIB;
/** The most that a small write adds: a lease, a new pop receipt, a deletion mark. */
const SMALL_GROWTH_BYTES = 256;
/** The most that small writes may add together until the reserve is whole again. */
const SMALL_GROWTHS_BYTES = MIB;

/** How the space of a data folder is used. */
export interface SpaceFigures {
  readonly volumeBytes: number;
  /** Bytes that this process may still use. */
  readonly freeBytes: number;
  readonly reserveBytes: number;
  /** The size of LMDB's file, and what of it are free pages. */
  readonly databaseBytes: number;
  readonly databaseFreeBytes: number;
}

/** Called when a shortage of space begins and when it ends. */
export type OnSpace = (isShort: boolean) => void;

/**
 * Watches the disk space of a data folder and holds a reserve. While the reserve is whole, LMDB has
 * room for everything that the WAL may hold. When LMDB or the sweeper meets a full disk, they use
 * up the reserve in slices. Until it is whole again, writes that need more space than they free are
 * refused.
 */
export class DiskSpace implements ScarceSpace {
  readonly volumeBytes: number;
  readonly #folder: string;
  readonly #reserve: ReserveFile;
  #wantedBytes = 0;
  #isWhole = true;
  #isShort = false;
  #smallGrowths = 0;
  #onSpace: OnSpace = () => {};
  #work: Promise<unknown> = Promise.resolve();

  private constructor(folder: string, reserve: ReserveFile, volumeBytes: number) {
    this.#folder = folder;
    this.#reserve = reserve;
    this.volumeBytes = volumeBytes;
  }

  /** Opens the space of LMDB's folder. On a full disk, gives up part of the reserve. */
  static async open(folder: string): Promise<DiskSpace> {
    const reserve = await ReserveFile.open(join(folder, RESERVE_FILE));
    const { blocks, bsize } = await statfs(folder);
    const space = new DiskSpace(folder, reserve, blocks * bsize);
    const free = await freeBytes(folder);
    if (free < space.#enoughBytes) space.noteFull();
    if (free < START_FREE_BYTES) {
      await space.#shrinkTo(Math.max(0, reserve.bytes - SLICE_BYTES_MIN));
    }
    return space;
  }

  /** Whether writes that need more space than they free are admitted. */
  get mayGrow(): boolean {
    return this.#isWhole;
  }

  /** Whether space is short: from the first failed write until enough is free again. */
  get isShort(): boolean {
    return this.#isShort;
  }

  onSpace(tell: OnSpace): void {
    this.#onSpace = tell;
    if (this.#isShort) tell(true);
  }

  /** Whether a write that adds this many bytes is admitted while the reserve is not whole. */
  admits(growth: number): boolean {
    if (growth <= 0) return true;
    return growth <= SMALL_GROWTH_BYTES && this.#smallGrowths + growth <= SMALL_GROWTHS_BYTES;
  }

  /** Counts an admitted write. */
  spend(growth: number): void {
    this.#smallGrowths = Math.max(0, this.#smallGrowths + growth);
  }

  /** Call when a write has met a full disk. */
  noteFull(): void {
    if (this.#isShort) return;
    this.#isShort = true;
    this.#onSpace(true);
  }

  /** Reserves enough for a WAL of this size, now or as soon as there is space. */
  reserveForWal(walBytes: number): Promise<void> {
    this.#wantedBytes = Math.max(this.#wantedBytes, bytesForWal(walBytes));
    return this.look();
  }

  /** Reserves enough for a WAL of this size. False, and the WAL must not grow, without space. */
  mayGrowWal(walBytes: number): Promise<boolean> {
    return this.#want(bytesForWal(walBytes));
  }

  /** Reserves enough to move this many bytes of extents, if there is space. */
  async wantForMoves(bytes: number): Promise<void> {
    await this.#want(bytes + COPIES_BYTES);
  }

  /** Whether this many bytes can be moved on this disk, with the help of the reserve. */
  async hasRoomToMove(bytes: number): Promise<boolean> {
    const free = await freeBytes(this.#folder);
    return free + this.#reserve.bytes >= bytes + COPIES_BYTES;
  }

  /** Frees a slice of the reserve; false if none is left. */
  giveUp(): Promise<boolean> {
    return this.#exclusively(async () => {
      const { bytes } = this.#reserve;
      if (bytes <= START_BYTES) return false;
      const slice = Math.max(SLICE_BYTES_MIN, Math.ceil(this.#wantedBytes / SLICE_PART));
      await this.#shrinkTo(Math.max(START_BYTES, bytes - slice));
      return true;
    });
  }

  /** Looks again before a write is refused: whether the reserve is whole by now. */
  async hasSpaceAgain(): Promise<boolean> {
    await this.look();
    return this.#isWhole;
  }

  /** Looks how much space is free, and restores the reserve if it can. */
  look(): Promise<void> {
    return this.#exclusively(() => this.#look());
  }

  /** Enlarges the reserve. If there is no space, returns false, and the old size stays wanted. */
  #want(bytes: number): Promise<boolean> {
    return this.#exclusively(async () => {
      if (bytes <= this.#wantedBytes) return this.#isWhole;
      const before = this.#wantedBytes;
      this.#wantedBytes = bytes;
      await this.#look();
      if (this.#isWhole) return true;
      this.#wantedBytes = before;
      await this.#look();
      return false;
    });
  }

  async #look(): Promise<void> {
    await this.#reserve.lookAgain();
    const target = Math.max(START_BYTES, this.#wantedBytes - (await this.#freePagesBytes()));
    const missing = target - this.#reserve.bytes;
    const free = await freeBytes(this.#folder);
    if (missing > 0 && free >= missing) await this.#growTo(target);
    this.#isWhole = this.#reserve.bytes >= target;
    if (!this.#isWhole) {
      this.noteFull();
      return;
    }
    this.#smallGrowths = 0;
    if (!this.#isShort || (await freeBytes(this.#folder)) < this.#enoughBytes) return;
    this.#isShort = false;
    this.#onSpace(false);
  }

  get #enoughBytes(): number {
    return Math.min(FREE_BYTES_MAX, Math.max(FREE_BYTES_MIN, this.volumeBytes * FREE_PART));
  }

  /** Ignores errors: the reserve is then not whole, which the caller checks. */
  async #growTo(bytes: number): Promise<void> {
    await this.#reserve.growTo(bytes).catch(() => {});
  }

  async #shrinkTo(bytes: number): Promise<void> {
    this.#isWhole = false;
    this.noteFull();
    await this.#reserve.shrinkTo(bytes);
  }

  /** Looks how space is used now, for operators. Changes nothing. */
  async measure(): Promise<SpaceFigures> {
    const { blocks, bsize } = await statfs(this.#folder);
    const meta = await this.#meta();
    return {
      volumeBytes: blocks * bsize,
      freeBytes: await freeBytes(this.#folder),
      reserveBytes: this.#reserve.bytes,
      databaseBytes: meta === null ? 0 : (meta.lastPage + 1) * meta.pageBytes,
      databaseFreeBytes: meta === null ? 0 : freeBytesIn(meta),
    };
  }

  /** Usable bytes in LMDB's free pages, which LMDB fills before its file grows. */
  async #freePagesBytes(): Promise<number> {
    const meta = await this.#meta();
    return meta === null ? 0 : freeBytesIn(meta) * FREE_PAGES_PART;
  }

  async #meta(): Promise<Meta | null> {
    const file = await open(join(this.#folder, DATABASE_FILE), "r").catch(() => null);
    if (file === null) return null;
    try {
      return await readMeta(file);
    } finally {
      await file.close();
    }
  }

  /** Runs one change of the reserve at a time. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }
}

function freeBytesIn({ lastPage, usedPages, pageBytes }: Meta): number {
  return (lastPage + 1 - usedPages) * pageBytes;
}

function bytesForWal(walBytes: number): number {
  return DATABASE_BYTES_PER_WAL_BYTE * walBytes + COPIES_BYTES;
}

/** `most` on a large volume, and on a small one a part of the volume, in whole MiB. */
export function partOfVolume(volumeBytes: number, part: number, least: number, most: number) {
  // Some file systems report no size.
  if (volumeBytes === 0) return most;
  const bytes = Math.floor((volumeBytes * part) / MIB) * MIB;
  return Math.min(most, Math.max(least, bytes));
}
