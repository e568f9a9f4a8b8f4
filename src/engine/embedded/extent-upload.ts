import { alignedBytes, PAGE_BYTES } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { Slabs } from "../../base/slabs.ts";
import type { Address, Onlooker, Written } from "../../store/extents.ts";
import { bytesOnDisk, CHUNK_BYTES, checksumOf, STRIDE_BYTES, upToPage } from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";

/** Of one upload in memory: a batch gathers while others are written and looked at. */
const OWN_BYTES_MAX = 3 * MIB;
/** Up to this, of all uploads with batches of a size, one may have more: it need not wait for a disk. */
const SHARED_BYTES_MAX = 16 * MIB;
/** A long upload is synced as it goes, so that little is left to wait for at its end. */
const SYNC_AHEAD_BYTES = 16 * MIB;

/** Batches go to the file at one go: a small body is one, and of a large one they cost less. */
const smallBatches = batchesOf(2);
/** Who looks at a body that is soon over begins soon, too. */
const mediumBatches = batchesOf(4);
const MEDIUM_BYTES_MAX = 16 * MIB;
const largeBatches = batchesOf(16);

/** What lies behind a piece, up to the next page. */
const NO_PAGE = Buffer.alloc(PAGE_BYTES);

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
 * One body on its way into extents. Its bytes are copied once, into batches: there they get their
 * checksums, are looked at by whoever wants to see them, and go to the disk, all in one place.
 */
export class ExtentUpload implements Written {
  readonly addresses: Address[] = [];
  readonly #rooms: RoomFinder;
  readonly #onlooker: Onlooker | null;
  readonly #slabs: Slabs;
  readonly #files: ExtentFile[] = [];
  /** Those in which a piece of several batches lies. */
  readonly #unsynced = new Set<ExtentFile>();
  /** Bytes of the body for which there is no piece yet. */
  #bytesAhead: number;
  #piece: Piece | null = null;
  #batch: Batch | null = null;
  /** Batches that are written or looked at, oldest first, and those where that failed. */
  readonly #underWay = new Set<UnderWay>();
  #unsyncedBytes = 0;

  constructor(rooms: RoomFinder, length: number, onlooker: Onlooker | null) {
    this.#rooms = rooms;
    this.#bytesAhead = length;
    this.#onlooker = onlooker;
    this.#slabs = slabsFor(bytesOnDisk(length));
  }

  /** Waits only for room, or for a batch: most parts cost no turn of the event loop. */
  add(part: Bytes, from = 0): void | Promise<void> {
    for (let at = from; at < part.length; ) {
      const wait = this.#batch === null ? this.#beginBatch() : undefined;
      if (wait !== undefined) return wait.then(() => this.add(part, at));
      at += this.#gather(this.#piece as Piece, this.#batch as Batch, part, at);
    }
  }

  /** Resolves once everything is durable. */
  async finish(): Promise<void> {
    if (this.#piece !== null || this.#bytesAhead > 0) throw new Error("a body ended too early");
    // Who looks may take longer than the disk.
    const synced = this.#unsynced.size > 0 ? this.#syncAll() : undefined;
    synced?.catch(ignore);
    for (const { done } of this.#underWay) await done;
    await synced;
  }

  /** Waits until nobody writes or looks any more; the room taken stays unused. */
  async abandon(): Promise<void> {
    await Promise.allSettled(Array.from(this.#underWay, ({ done }) => done));
    if (this.#batch !== null) this.#slabs.giveBack(this.#batch.slab);
    this.#batch = null;
    this.release();
  }

  release(): void {
    for (const file of this.#files.splice(0)) file.release();
  }

  #beginBatch(): void | Promise<void> {
    const piece = this.#piece;
    if (piece === null) return this.#beginPiece();
    if (this.#mayGather()) {
      this.#batch = { slab: this.#slabs.take(), chunks: [], chunkAt: 0, end: 0 };
      return;
    }
    const [oldest] = this.#underWay;
    return oldest?.done;
  }

  #mayGather(): boolean {
    const { bytes, taken } = this.#slabs;
    return (this.#underWay.size + 1) * bytes < OWN_BYTES_MAX || taken * bytes < SHARED_BYTES_MAX;
  }

  #beginPiece(): void | Promise<void> {
    if (this.#bytesAhead === 0) throw new Error("a body is longer than it said");
    const length = Math.min(this.#bytesAhead, this.#rooms.pieceBytesMax);
    const size = bytesOnDisk(length);
    const room = this.#rooms.reserve(size);
    const begin = ({ file, offset }: Room) => {
      this.#files.push(file);
      this.#bytesAhead -= length;
      this.addresses.push({ extent: file.extent, offset, length, bytesOnDisk: size });
      const isOneBatch = size <= this.#slabs.bytes;
      if (!isOneBatch) this.#unsynced.add(file);
      this.#piece = { file, position: offset, bytesLeft: length, isOneBatch };
    };
    if (room instanceof Promise) return room.then(begin);
    begin(room);
    return this.#beginBatch();
  }

  /** Takes what the present chunk has room for, and tells how much that was. */
  #gather(piece: Piece, batch: Batch, part: Bytes, from: number): number {
    const room = Math.min(batch.chunkAt + CHUNK_BYTES - batch.end, piece.bytesLeft);
    const taken = Math.min(room, part.length - from);
    // Copies, too, and three times as fast as `copy`, which goes word by word where memory is shared.
    batch.slab.fill(part.subarray(from, from + taken), batch.end, batch.end + taken);
    batch.end += taken;
    piece.bytesLeft -= taken;
    if (taken === room) this.#endChunk(piece, batch);
    return taken;
  }

  #endChunk(piece: Piece, batch: Batch): void {
    const chunk = batch.slab.subarray(batch.chunkAt, batch.end);
    batch.chunks.push(chunk);
    batch.end = batch.slab.writeUInt32LE(checksumOf(chunk, piece.file.extent), batch.end);
    batch.chunkAt = batch.end;
    if (piece.bytesLeft === 0 || batch.end === batch.slab.length) this.#send(piece, batch);
  }

  #send(piece: Piece, batch: Batch): void {
    const pages = batch.slab.subarray(0, upToPage(batch.end));
    pages.fill(NO_PAGE, batch.end);
    const { file, position, isOneBatch } = piece;
    piece.position += pages.length;
    if (piece.bytesLeft === 0) this.#piece = null;
    this.#batch = null;
    const written = file.write(pages, position, isOneBatch);
    const done = this.#finishBatch(batch.slab, written, this.#show(batch.chunks));
    const underWay = { written, done };
    this.#underWay.add(underWay);
    // A failure is met by whoever waits for this batch next.
    done.then(() => this.#underWay.delete(underWay), ignore);
    if (!isOneBatch) this.#syncAhead(file, pages.length);
  }

  #show(chunks: readonly Bytes[]): void | Promise<void> {
    try {
      return this.#onlooker?.(chunks);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The memory is used again only when it is both written and looked at. */
  async #finishBatch(
    slab: Bytes,
    written: Promise<void>,
    seen: void | Promise<void>,
  ): Promise<void> {
    try {
      if (seen !== undefined) await Promise.allSettled([written, seen]);
      await written;
      if (seen !== undefined) await seen;
    } finally {
      this.#slabs.giveBack(slab);
    }
  }

  async #syncAll(): Promise<void> {
    for (const { written } of [...this.#underWay]) await written;
    await Promise.all([...this.#unsynced].map((file) => file.sync()));
  }

  #syncAhead(file: ExtentFile, bytes: number): void {
    this.#unsyncedBytes += bytes;
    if (this.#unsyncedBytes < SYNC_AHEAD_BYTES) return;
    this.#unsyncedBytes = 0;
    file.sync().catch(ignore);
  }
}

function ignore(): void {}

function batchesOf(strides: number): Slabs {
  return new Slabs(strides * STRIDE_BYTES, Number.POSITIVE_INFINITY, alignedBytes);
}

function slabsFor(bytes: number): Slabs {
  if (bytes <= smallBatches.bytes) return smallBatches;
  return bytes <= MEDIUM_BYTES_MAX ? mediumBatches : largeBatches;
}

interface Piece {
  readonly file: ExtentFile;
  /** Where the present batch goes. */
  position: number;
  bytesLeft: number;
  /** Then it is written and synced in one call. */
  readonly isOneBatch: boolean;
}

interface UnderWay {
  readonly written: Promise<void>;
  /** Written and looked at. */
  readonly done: Promise<void>;
}

interface Batch {
  readonly slab: Bytes;
  /** The body's bytes, between their checksums. */
  readonly chunks: Bytes[];
  /** Where the present chunk begins. */
  chunkAt: number;
  /** How far it is filled. */
  end: number;
}
