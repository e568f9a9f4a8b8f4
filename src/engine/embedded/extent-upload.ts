import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import { alignedBytes } from "../../machine/aligned-bytes.ts";
import { Crc64 } from "../../machine/crc64.ts";
import { Slabs } from "../../machine/slabs.ts";
import type { Address, Tap, Taps, Written } from "../../store/extents.ts";
import {
  bytesOnDisk,
  CHECKSUM_BYTES,
  checksumInAddress,
  chunkBytesOf,
  chunksIn,
  STRIDE_BYTES,
  sealChunks,
} from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";
import { type SumLook, sumThread } from "./sum-thread.ts";

/** Of one upload in memory: a batch gathers while others are written and looked at. */
const OWN_BYTES_MAX = 3 * MIB;
/** Up to this, of all uploads with batches of a size, one may have more: it need not wait for a disk. */
const SHARED_BYTES_MAX = 16 * MIB;
/** Of all uploads in batches of their own size. Those that find none left have to do with lean ones. */
const ALL_BYTES_MAX = 64 * MIB;
/** Of all uploads in lean batches: an upload has one at a time, and waits for it in a fair queue. */
const LEAN_BYTES_MAX = 64 * MIB;
/** A long upload is synced as it goes, so that little is left to wait for at its end. */
const SYNC_AHEAD_BYTES = 16 * MIB;

/** Batches go to the file at one go: a small body is one, and of a large one they cost less. */
const smallBatches = batchesOf(2);
/** Who looks at a body that is soon over begins soon, too. */
const mediumBatches = batchesOf(4);
const MEDIUM_BYTES_MAX = 16 * MIB;
const largeBatches = batchesOf(16);
/** A client that hardly sends holds no more than this, and fills it within minutes, or is cut. */
const leanBatches = batchesOf(1);
const leanMemory = new MemoryBudget(LEAN_BYTES_MAX);

/** Room for a piece of a body, in a file that was held for it. */
export interface Room {
  readonly file: ExtentFile;
  readonly offset: number;
}

export interface RoomFinder {
  readonly pieceBytesMax: number;
  /** Finds room for a piece with so many bytes on disk, and holds its file. */
  reserve(bytesOnDisk: number): Room | Promise<Room>;
}

/**
 * One body on its way into extents. Its bytes are copied once, into batches, or not at all: there they
 * get their checksums, are looked at by whoever wants to see them, and go to the disk, all in one place.
 */
export class ExtentUpload implements Written {
  readonly addresses: Address[] = [];
  readonly #rooms: RoomFinder;
  readonly #look: Taps;
  readonly #slabs: Slabs;
  readonly #files: ExtentFile[] = [];
  /** Those in which a piece of several batches lies. */
  #unsynced: Set<ExtentFile> | null = null;
  /** Bytes of the body for which there is no piece yet. */
  #bytesAhead: number;
  #piece: Piece | null = null;
  #batch: UploadBatch | null = null;
  /** In the order of the body. */
  readonly #sent: UploadBatch[] = [];
  /** Batches that are not written yet, and those that are not written or still looked at. */
  #unwritten = 0;
  #underWay = 0;
  #failure: { readonly error: unknown } | null = null;
  /** Whoever waits for any of them. */
  #onProgress: (() => void) | null = null;
  #unsyncedBytes = 0;

  constructor(rooms: RoomFinder, length: number, look: Taps) {
    this.#rooms = rooms;
    this.#bytesAhead = length;
    this.#look = look;
    this.#slabs = slabsFor(bytesOnDisk(length));
  }

  /** Once everything is durable. */
  get crc64(): Bytes | null {
    if (!this.#look.crc64) return null;
    const crc = new Crc64();
    for (const { remainder, length } of this.#sent) crc.append(remainder, length);
    return crc.digest();
  }

  /** Waits only for room, or for a batch: most parts cost no turn of the event loop. */
  add(part: Bytes, from = 0): void | Promise<void> {
    for (let at = from; at < part.length; ) {
      const wait = this.#batch === null ? this.#beginBatch() : undefined;
      if (wait !== undefined) return wait.then(() => this.add(part, at));
      at += this.#gather(this.#piece as Piece, this.#batch as UploadBatch, part, at);
    }
  }

  /**
   * All of the body at one go, where it lies: pages that are one chunk. Resolves once they are
   * durable; if that fails, nothing stays held.
   */
  writePages(pages: Bytes): Promise<this> {
    const wait = this.#beginPiece();
    return wait === undefined ? this.#sendPages(pages) : wait.then(() => this.#sendPages(pages));
  }

  #sendPages(pages: Bytes): Promise<this> {
    const piece = this.#piece as Piece;
    const batch = new UploadBatch(pages, null, piece);
    batch.length = piece.bytesLeft;
    piece.bytesLeft = 0;
    this.#send(piece, batch);
    return new Promise((resolve, reject) => {
      const proceed = () => {
        if (this.#underWay > 0) {
          this.#onProgress = proceed;
        } else if (this.#failure === null) {
          resolve(this);
        } else {
          this.release();
          reject(this.#failure.error);
        }
      };
      proceed();
    });
  }

  /** Resolves once everything is durable. */
  async finish(): Promise<void> {
    if (this.#piece !== null || this.#bytesAhead > 0) throw new Error("a body ended too early");
    while (this.#unwritten > 0) await this.#progress();
    // Who looks may take longer than the disk.
    const synced = this.#unsynced === null ? undefined : syncAll(this.#unsynced);
    synced?.catch(ignore);
    while (this.#underWay > 0) await this.#progress();
    if (this.#failure !== null) throw this.#failure.error;
    await synced;
  }

  /** Waits until nobody writes or looks any more; the room taken stays unused. */
  async abandon(): Promise<void> {
    while (this.#underWay > 0) await this.#progress();
    this.#batch?.release();
    this.#batch = null;
    this.release();
  }

  release(): void {
    for (const file of this.#files.splice(0)) file.release();
  }

  #beginBatch(): void | Promise<void> {
    if (this.#failure !== null) throw this.#failure.error;
    const wait = this.#piece === null ? this.#beginPiece() : undefined;
    if (wait !== undefined) return wait;
    if (this.#mayGather()) {
      this.#batch = new UploadBatch(this.#slabs.take(), this.#slabs, this.#piece as Piece);
      return;
    }
    return this.#underWay > 0 ? this.#progress() : this.#beginLeanBatch();
  }

  #beginLeanBatch(): void | Promise<void> {
    const begin = () => {
      this.#batch = new UploadBatch(leanBatches.take(), leanBatches, this.#piece as Piece);
    };
    const wait = leanMemory.take(leanBatches.bytes);
    if (wait !== undefined) return wait.then(begin);
    begin();
  }

  #mayGather(): boolean {
    const { bytes, taken } = this.#slabs;
    if (bytesGathered() + bytes > ALL_BYTES_MAX) return false;
    return (this.#underWay + 1) * bytes < OWN_BYTES_MAX || taken * bytes < SHARED_BYTES_MAX;
  }

  #beginPiece(): void | Promise<void> {
    if (this.#bytesAhead === 0) throw new Error("a body is longer than it said");
    const length = Math.min(this.#bytesAhead, this.#rooms.pieceBytesMax);
    const size = bytesOnDisk(length);
    const room = this.#rooms.reserve(size);
    const begin = ({ file, offset }: Room) => {
      this.#files.push(file);
      this.#bytesAhead -= length;
      const at = { extent: file.extent, offset, length, bytesOnDisk: size, checksum: 0 };
      this.addresses.push(at);
      const isOneBatch = size <= this.#slabs.bytes;
      if (!isOneBatch) this.#noteUnsynced(file);
      const chunkBytes = chunkBytesOf(length);
      this.#piece = { at, file, position: offset, bytesLeft: length, chunkBytes, isOneBatch };
    };
    if (room instanceof Promise) return room.then(begin);
    begin(room);
  }

  /** Takes what the present chunk has room for, and tells how much that was. */
  #gather(piece: Piece, batch: UploadBatch, part: Bytes, from: number): number {
    const taken = batch.gather(part, from, piece.bytesLeft);
    piece.bytesLeft -= taken;
    if (piece.bytesLeft === 0 || batch.isFull) this.#send(piece, batch);
    return taken;
  }

  #send(piece: Piece, batch: UploadBatch): void {
    const { file, position, isOneBatch } = piece;
    const pages = batch.seal(file.extent);
    batch.look(pages, this.#look.crc64);
    piece.position += pages.length;
    if (piece.bytesLeft === 0) this.#piece = null;
    this.#batch = null;
    this.#sent.push(batch);
    this.#unwritten++;
    this.#underWay++;
    const { tap } = this.#look;
    file.write(pages, position, isOneBatch, {
      written: () => this.#written(batch),
      failed: (error) => {
        this.#failure ??= { error };
        this.#written(batch);
      },
    });
    if (tap !== null) this.#show(batch, tap);
    if (!isOneBatch) this.#syncAhead(file, pages.length);
  }

  #written(batch: UploadBatch): void {
    batch.endLook();
    this.#unwritten--;
    this.#leave(batch);
  }

  /** The memory is used again only when it is both written and looked at. */
  #leave(batch: UploadBatch): void {
    batch.users--;
    if (batch.users === 0) {
      batch.release();
      this.#underWay--;
    }
    const wake = this.#onProgress;
    this.#onProgress = null;
    wake?.();
  }

  async #show(batch: UploadBatch, tap: Tap): Promise<void> {
    batch.users++;
    try {
      await tap(batch.chunks());
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#leave(batch);
  }

  #progress(): Promise<void> {
    return new Promise((resolve) => {
      this.#onProgress = resolve;
    });
  }

  #noteUnsynced(file: ExtentFile): void {
    this.#unsynced ??= new Set();
    this.#unsynced.add(file);
  }

  #syncAhead(file: ExtentFile, bytes: number): void {
    this.#unsyncedBytes += bytes;
    if (this.#unsyncedBytes < SYNC_AHEAD_BYTES) return;
    this.#unsyncedBytes = 0;
    file.sync().catch(ignore);
  }
}

/** Memory that is filled, written and looked at. */
class UploadBatch {
  readonly #slab: Bytes;
  readonly #slabs: Slabs | null;
  readonly #piece: Piece;
  #end = 0;
  #look: SumLook | null = null;
  /** Counts the body's bytes. */
  length = 0;
  /** What they leave for a CRC-64, once they are written. */
  remainder = 0n;
  /** Those who need it. */
  users = 1;

  /** Of a piece. The memory goes back to where it came from, unless it is the sender's. */
  constructor(slab: Bytes, slabs: Slabs | null, piece: Piece) {
    this.#slab = slab;
    this.#slabs = slabs;
    this.#piece = piece;
  }

  release(): void {
    this.#slabs?.release(this.#slab);
    if (this.#slabs === leanBatches) leanMemory.release(leanBatches.bytes);
  }

  /** Tells what is to be written. Right after they came, its bytes are in the processor's cache. */
  seal(extent: number): Bytes {
    const { chunkBytes } = this.#piece;
    const bytes = bytesOnDisk(this.length, chunkBytes);
    const pages = this.#slab.length === bytes ? this.#slab : this.#slab.subarray(0, bytes);
    sealChunks(pages, this.length, chunkBytes, extent);
    return pages;
  }

  /** Goes through the bytes. If that is for their CRC-64, too, then while the disk takes them. */
  look(pages: Bytes, crc64: boolean): void {
    const { at, chunkBytes } = this.#piece;
    if (crc64) this.#look = sumThread.look(pages, this.length, chunkBytes);
    else at.checksum = checksumInAddress(pages, this.length, chunkBytes);
  }

  endLook(): void {
    if (this.#look === null) return;
    const { remainder, checksum } = this.#look.sums();
    this.remainder = remainder;
    this.#piece.at.checksum = checksum;
  }

  get isFull(): boolean {
    return this.#end === this.#slab.length;
  }

  /** Takes what the present chunk has room for, `most` at most, and tells how much that was. */
  gather(part: Bytes, from: number, most: number): number {
    const room = this.#piece.chunkBytes - (this.#end % STRIDE_BYTES);
    const taken = Math.min(room, most, part.length - from);
    // Copies, too, and three times as fast as `copy`, which goes word by word where memory is shared.
    this.#slab.fill(part.subarray(from, from + taken), this.#end, this.#end + taken);
    this.length += taken;
    this.#end += taken;
    if (taken === room) this.#end += CHECKSUM_BYTES;
    return taken;
  }

  /** The body's bytes, between their checksums. */
  chunks(): Bytes[] {
    return chunksIn(this.#slab, this.length, this.#piece.chunkBytes);
  }
}

async function syncAll(files: Iterable<ExtentFile>): Promise<void> {
  await Promise.all([...files].map((file) => file.sync()));
}

function ignore(): void {}

function batchesOf(strides: number): Slabs {
  return new Slabs(strides * STRIDE_BYTES, Number.POSITIVE_INFINITY, alignedBytes);
}

function bytesGathered(): number {
  let sum = 0;
  for (const { bytes, taken } of [smallBatches, mediumBatches, largeBatches]) sum += bytes * taken;
  return sum;
}

function slabsFor(bytes: number): Slabs {
  if (bytes <= smallBatches.bytes) return smallBatches;
  return bytes <= MEDIUM_BYTES_MAX ? mediumBatches : largeBatches;
}

interface Piece {
  readonly at: OpenAddress;
  readonly file: ExtentFile;
  /** Where the present batch goes. */
  position: number;
  bytesLeft: number;
  readonly chunkBytes: number;
  /** Then it is written and synced in one call. */
  readonly isOneBatch: boolean;
}

/** Of a piece whose checksum may not be known yet. */
type OpenAddress = { -readonly [K in keyof Address]: Address[K] };
