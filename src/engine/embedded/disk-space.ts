import { open, statfs } from "node:fs/promises";
import { join } from "node:path";
import { MIB } from "../../base/limits.ts";
import type { ScarceSpace } from "../../store/extents.ts";
import { DATABASE_FILE } from "./database-file.ts";
import { freeBytes } from "./disk-full.ts";
import { readMeta } from "./meta-pages.ts";
import { ReserveFile } from "./reserve-file.ts";

const RESERVE_FILE = "reserve";
/**
 * LMDB needs at most this much for each byte of the WAL: a value just longer than half a page takes
 * a whole one, and a leaf that is split is half full.
 */
const DATABASE_BYTES_PER_LOG_BYTE = 2;
/** For the pages that LMDB copies before it frees the old ones, and for moving what is alive. */
const COPIES_BYTES = 4 * MIB;
/** The running server keeps this much, so that the next start has room for its first files. */
const START_BYTES = MIB;
/** What a start wants to find. */
const START_FREE_BYTES = 2 * MIB;
const SLICE_BYTES_MIN = 4 * MIB;
const SLICE_PART = 4;
/** Free pages of LMDB may lie where a long value does not fit: so much of them counts. */
const FREE_PAGES_PART = 0.5;
/** A disk has space again when so much of it is free beside the reserve. */
const FREE_PART = 1 / 16;
const FREE_BYTES_MIN = 2 * MIB;
const FREE_BYTES_MAX = 64 * MIB;
/** A write that adds no more than this hardly grows: a lease, a new pop receipt, a deleted mark. */
const SMALL_GROWTH_BYTES = 256;
/** What such writes may add in all until the reserve is whole again. */
const SMALL_GROWTHS_BYTES = MIB;

/** Called when the disk becomes full, and when it has space again. */
export type OnSpace = (isShort: boolean) => void;

/**
 * The space on the disk of a data folder, of which a reserve is kept. While the reserve is whole,
 * LMDB has room for everything that the WAL may hold. When LMDB or the sweeper meets a full disk,
 * the reserve is given up to them bit by bit, and until it is whole again nothing is taken that
 * needs more space than it frees.
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

  /** For the folder in which LMDB's files are, or will be. On a full disk part of the reserve is given up. */
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

  /** Whether what needs more space than it frees is taken. */
  get mayGrow(): boolean {
    return this.#isWhole;
  }

  /** From the first time that space was missing until there is some again. */
  get isShort(): boolean {
    return this.#isShort;
  }

  onSpace(tell: OnSpace): void {
    this.#onSpace = tell;
    if (this.#isShort) tell(true);
  }

  /** Whether a write that adds so many bytes is taken while the reserve is not whole. */
  admits(growth: number): boolean {
    if (growth <= 0) return true;
    return growth <= SMALL_GROWTH_BYTES && this.#smallGrowths + growth <= SMALL_GROWTHS_BYTES;
  }

  /** A write that was admitted has been made. */
  spend(growth: number): void {
    this.#smallGrowths = Math.max(0, this.#smallGrowths + growth);
  }

  /** Somebody met a full disk. */
  noteFull(): void {
    if (this.#isShort) return;
    this.#isShort = true;
    this.#onSpace(true);
  }

  /** Keeps enough for a WAL of this size, from now on or as soon as there is space. */
  keepForLog(walBytes: number): Promise<void> {
    this.#wantedBytes = Math.max(this.#wantedBytes, bytesForLog(walBytes));
    return this.look();
  }

  /** Keeps enough for a WAL of this size. False, and it must not grow, if there is no space. */
  mayGrowWal(walBytes: number): Promise<boolean> {
    return this.#want(bytesForLog(walBytes));
  }

  /** Keeps enough to move so many bytes of extents, if there is space. */
  async wantForMoves(bytes: number): Promise<void> {
    await this.#want(bytes + COPIES_BYTES);
  }

  /** Whether so many bytes can be moved on this disk, with the help of the reserve. */
  async hasRoomToMove(bytes: number): Promise<boolean> {
    const free = await freeBytes(this.#folder);
    return free + this.#reserve.bytes >= bytes + COPIES_BYTES;
  }

  /** Makes some space of the reserve; false if there is none left. */
  giveUp(): Promise<boolean> {
    return this.#inTurn(async () => {
      const { bytes } = this.#reserve;
      if (bytes <= START_BYTES) return false;
      const slice = Math.max(SLICE_BYTES_MIN, Math.ceil(this.#wantedBytes / SLICE_PART));
      await this.#shrinkTo(Math.max(START_BYTES, bytes - slice));
      return true;
    });
  }

  /** Before something is refused: whether there is space by now for what needs it. */
  async hasSpaceAgain(): Promise<boolean> {
    await this.look();
    return this.#isWhole;
  }

  /** Looks how much space there is, and takes the reserve back if it can. */
  look(): Promise<void> {
    return this.#inTurn(() => this.#look());
  }

  /** False if there is no space for a larger reserve; the caller does without, and the old size stays wanted. */
  #want(bytes: number): Promise<boolean> {
    return this.#inTurn(async () => {
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

  /** What goes wrong here takes nothing from anybody: the reserve is not whole then. */
  async #growTo(bytes: number): Promise<void> {
    await this.#reserve.growTo(bytes).catch(() => {});
  }

  async #shrinkTo(bytes: number): Promise<void> {
    this.#isWhole = false;
    this.noteFull();
    await this.#reserve.shrinkTo(bytes);
  }

  /** LMDB's file never shrinks, but uses its free pages before it grows. */
  async #freePagesBytes(): Promise<number> {
    const file = await open(join(this.#folder, DATABASE_FILE), "r").catch(() => null);
    if (file === null) return 0;
    try {
      const meta = await readMeta(file);
      if (meta === null) return 0;
      return (meta.lastPage + 1 - meta.usedPages) * meta.pageBytes * FREE_PAGES_PART;
    } finally {
      await file.close();
    }
  }

  /** One change of the reserve at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }
}

function bytesForLog(walBytes: number): number {
  return DATABASE_BYTES_PER_LOG_BYTE * walBytes + COPIES_BYTES;
}

/** `most` on large volumes, and on small ones a part of the volume, in whole MiB. */
export function partOfVolume(volumeBytes: number, part: number, least: number, most: number) {
  // Some file systems do not tell their size.
  if (volumeBytes === 0) return most;
  const bytes = Math.floor((volumeBytes * part) / MIB) * MIB;
  return Math.min(most, Math.max(least, bytes));
}
