import type { Body, Bytes } from "../base/bytes.ts";
import { MIB } from "../base/limits.ts";
import { Crc64 } from "../machine/crc64.ts";
import type { Slabs } from "../machine/slabs.ts";
import type { Address, Tap, Taps, Written } from "../store/extents.ts";
import {
  bytesOnDisk,
  CHECKSUM_BYTES,
  checksumInAddress,
  chunkBytesOf,
  chunksIn,
  STRIDE_BYTES,
  sealChunks,
} from "./extent-chunks.ts";
import type { WritableExtent } from "./extent-io.ts";
import type { PendingSums, SumThread } from "./sum-thread.ts";
import type { UploadMemory } from "./upload-memory.ts";

/** A long upload is synced each time it has written this much, so that the last sync is short. */
const SYNC_AHEAD_BYTES = 16 * MIB;

/** Room for a piece of a body, in a file that is pinned for it. */
export interface Room {
  readonly file: WritableExtent;
  readonly offset: number;
}

/** Finds room for the pieces of uploads. */
export interface RoomFinder {
  readonly pieceBytesMax: number;
  /** Finds room for a piece that takes this many bytes on disk, and pins its file. */
  reserve(bytesOnDisk: number): Room | Promise<Room>;
}

/**
 * One body on its way into extents. Its bytes are copied once, into batches, or not at all. A batch
 * gets its checksums, is seen by taps, and is written, all in the same memory.
 */
export class ExtentUpload implements Written {
  readonly addresses: Address[] = [];
  readonly #rooms: RoomFinder;
  readonly #memory: UploadMemory;
  readonly #taps: Taps;
  readonly #slabs: Slabs;
  readonly #files: WritableExtent[] = [];
  /** Files with a piece of several batches, which need a sync at the end. */
  #unsynced: Set<WritableExtent> | null = null;
  /** Bytes of the body that no piece covers yet. */
  #bytesAhead: number;
  #piece: Piece | null = null;
  #batch: UploadBatch | null = null;
  /** Batches in the order of the body. */
  readonly #sent: UploadBatch[] = [];
  /** Batches that are not written yet. */
  #unwritten = 0;
  /** Batches that are not written yet, or still seen by a tap. */
  #underWay = 0;
  #failure: { readonly error: unknown } | null = null;
  /** Wakes a caller that waits for any of them. */
  #onProgress: (() => void) | null = null;
  #unsyncedBytes = 0;

  constructor(rooms: RoomFinder, memory: UploadMemory, length: number, taps: Taps) {
    this.#rooms = rooms;
    this.#memory = memory;
    this.#bytesAhead = length;
    this.#taps = taps;
    this.#slabs = memory.batchesFor(bytesOnDisk(length));
  }

  /** The CRC-64 of the body, once everything is durable; null if it was not wanted. */
  get crc64(): Bytes | null {
    if (!this.#taps.crc64) return null;
    const crc = new Crc64();
    for (const { remainder, length } of this.#sent) crc.append(remainder, length);
    return crc.digest();
  }

  /** Adds a part of the body. Returns a promise only if it must wait for room or for a batch. */
  add(part: Bytes, from = 0): void | Promise<void> {
    for (let at = from; at < part.length; ) {
      const wait = this.#batch === null ? this.#beginBatch() : undefined;
      if (wait !== undefined) return wait.then(() => this.add(part, at));
      at += this.#gather(this.#piece as Piece, this.#batch as UploadBatch, part, at);
    }
  }

  /**
   * Writes a whole body, one chunk in aligned pages, without a copy. Resolves once it is durable;
   * if that fails, nothing stays pinned.
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
    // Sync while taps are still busy: they may take longer than the disk.
    const synced = this.#unsynced === null ? undefined : syncAll(this.#unsynced);
    synced?.catch(ignore);
    while (this.#underWay > 0) await this.#progress();
    if (this.#failure !== null) throw this.#failure.error;
    await synced;
  }

  /** Waits for running writes and taps, then releases everything. The room stays unused. */
  async abandon(): Promise<void> {
    while (this.#underWay > 0) await this.#progress();
    this.#batch?.release(this.#memory);
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
    if (this.#memory.mayTake(this.#slabs, this.#underWay)) {
      this.#takeBatch(this.#slabs);
      return;
    }
    return this.#underWay > 0 ? this.#progress() : this.#beginLeanBatch();
  }

  #beginLeanBatch(): void | Promise<void> {
    const wait = this.#memory.whenLean();
    if (wait !== undefined) return wait.then(() => this.#takeBatch(this.#memory.lean));
    this.#takeBatch(this.#memory.lean);
  }

  #takeBatch(slabs: Slabs): void {
    this.#batch = new UploadBatch(slabs.take(), slabs, this.#piece as Piece);
  }

  #beginPiece(): void | Promise<void> {
    if (this.#bytesAhead === 0) throw new Error("a body is longer than announced");
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

  /** Copies as much of `part` as the current chunk has room for, and returns how much. */
  #gather(piece: Piece, batch: UploadBatch, part: Bytes, from: number): number {
    const taken = batch.gather(part, from, piece.bytesLeft);
    piece.bytesLeft -= taken;
    if (piece.bytesLeft === 0 || batch.isFull) this.#send(piece, batch);
    return taken;
  }

  #send(piece: Piece, batch: UploadBatch): void {
    const { file, position, isOneBatch } = piece;
    const pages = batch.seal(file.extent);
    batch.beginSums(pages, this.#taps.crc64 ? this.#memory.sums : null);
    piece.position += pages.length;
    if (piece.bytesLeft === 0) this.#piece = null;
    this.#batch = null;
    this.#sent.push(batch);
    this.#unwritten++;
    this.#underWay++;
    const { tap } = this.#taps;
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
    batch.endSums();
    this.#unwritten--;
    this.#leave(batch);
  }

  /** Releases the batch's memory once it is written and its tap is done. */
  #leave(batch: UploadBatch): void {
    batch.users--;
    if (batch.users === 0) {
      batch.release(this.#memory);
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

  #noteUnsynced(file: WritableExtent): void {
    this.#unsynced ??= new Set();
    this.#unsynced.add(file);
  }

  #syncAhead(file: WritableExtent, bytes: number): void {
    this.#unsyncedBytes += bytes;
    if (this.#unsyncedBytes < SYNC_AHEAD_BYTES) return;
    this.#unsyncedBytes = 0;
    file.sync().catch(ignore);
  }
}

/** Writes a body, part by part as it arrives. If that fails, nothing stays pinned. */
export async function writeBody(upload: ExtentUpload, body: Body): Promise<Written> {
  try {
    await body.drain((part) => upload.add(part));
    await upload.finish();
  } catch (error) {
    await upload.abandon();
    throw error;
  }
  return upload;
}

/** Memory that is filled with body bytes, written, and seen by taps. */
class UploadBatch {
  readonly #slab: Bytes;
  readonly #slabs: Slabs | null;
  readonly #piece: Piece;
  #end = 0;
  #sums: PendingSums | null = null;
  /** Bytes of the body, without checksums. */
  length = 0;
  /** The CRC-64 remainder of the bytes, once they are written. */
  remainder = 0n;
  /** Writes and taps that still use the memory. */
  users = 1;

  /** `slabs` is null if the memory is the sender's. */
  constructor(slab: Bytes, slabs: Slabs | null, piece: Piece) {
    this.#slab = slab;
    this.#slabs = slabs;
    this.#piece = piece;
  }

  release(memory: UploadMemory): void {
    if (this.#slabs !== null) memory.release(this.#slabs, this.#slab);
  }

  /** Adds checksums, while the bytes are in the CPU's cache, and returns the pages to write. */
  seal(extent: number): Bytes {
    const { chunkBytes } = this.#piece;
    const bytes = bytesOnDisk(this.length, chunkBytes);
    const pages = this.#slab.length === bytes ? this.#slab : this.#slab.subarray(0, bytes);
    sealChunks(pages, this.length, chunkBytes, extent);
    return pages;
  }

  /** Computes the sums; on the thread, during the write, if a CRC-64 is wanted, too. */
  beginSums(pages: Bytes, thread: SumThread | null): void {
    const { at, chunkBytes } = this.#piece;
    if (thread !== null) this.#sums = thread.begin(pages, this.length, chunkBytes);
    else at.checksum = checksumInAddress(pages, this.length, chunkBytes);
  }

  endSums(): void {
    if (this.#sums === null) return;
    const { remainder, checksum } = this.#sums.sums();
    this.remainder = remainder;
    this.#piece.at.checksum = checksum;
  }

  get isFull(): boolean {
    return this.#end === this.#slab.length;
  }

  /** Copies what the current chunk has room for, at most `most` bytes, and returns how much. */
  gather(part: Bytes, from: number, most: number): number {
    const room = this.#piece.chunkBytes - (this.#end % STRIDE_BYTES);
    const taken = Math.min(room, most, part.length - from);
    // `fill` is three times as fast as `copy`, which copies word by word into shared memory.
    this.#slab.fill(part.subarray(from, from + taken), this.#end, this.#end + taken);
    this.length += taken;
    this.#end += taken;
    if (taken === room) this.#end += CHECKSUM_BYTES;
    return taken;
  }

  /** The body's bytes, without the checksums. */
  chunks(): Bytes[] {
    return chunksIn(this.#slab, this.length, this.#piece.chunkBytes);
  }
}

async function syncAll(files: Iterable<WritableExtent>): Promise<void> {
  await Promise.all([...files].map((file) => file.sync()));
}

function ignore(): void {}

interface Piece {
  readonly at: OpenAddress;
  readonly file: WritableExtent;
  /** Where the current batch goes in the file. */
  position: number;
  bytesLeft: number;
  readonly chunkBytes: number;
  /** If true, the piece is written and synced in one call. */
  readonly isOneBatch: boolean;
}

/** The address of a piece whose checksum may not be known yet. */
type OpenAddress = { -readonly [K in keyof Address]: Address[K] };
