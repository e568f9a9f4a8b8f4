import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { Slabs } from "../../base/slabs.ts";
import type { Address, Written } from "../../store/extents.ts";
import { bytesOnDisk, CHECKSUM_BYTES, CHUNK_BYTES } from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";

/**
 * Chunks, each with its checksum, that go to the file at one go. One batch is on its way while the
 * next one gathers: two of them are in memory at most.
 */
const BATCH_CHUNKS = 16;
const IDLE_BATCHES_MAX = 32;
/** A long upload is synced as it goes, so that little is left to wait for at its end. */
const SYNC_AHEAD_BYTES = 16 * 1024 * 1024;

const batches = new Slabs(BATCH_CHUNKS * (CHUNK_BYTES + CHECKSUM_BYTES), IDLE_BATCHES_MAX);

/** Room for a piece of a body, in a file that was held for it. */
export interface Room {
  readonly file: ExtentFile;
  readonly offset: number;
}

export interface RoomFinder {
  readonly pieceBytesMax: number;
  /** Finds room for a piece with so many bytes on disk, and holds its file. */
  reserve(bytesOnDisk: number): Promise<Room>;
}

/**
 * One body on its way into extents. Its parts are copied into batches: that costs less than many
 * small buffers that live until they are written.
 */
export class ExtentUpload implements Written {
  readonly addresses: Address[] = [];
  readonly #rooms: RoomFinder;
  readonly #files: ExtentFile[] = [];
  /** Bytes of the body for which there is no piece yet. */
  #bytesAhead: number;
  #piece: Piece | null = null;
  #batch: Bytes = batches.take();
  #batchBytes = 0;
  /** Is being written, or was. */
  #otherBatch: Bytes | null = null;
  #writing: Promise<void> = Promise.resolve();
  #unsyncedBytes = 0;

  constructor(rooms: RoomFinder, length: number) {
    this.#rooms = rooms;
    this.#bytesAhead = length;
  }

  /** Waits only where a batch is complete: most parts cost no turn of the event loop. */
  add(part: Bytes): void | Promise<void> {
    for (let at = 0; at < part.length; ) {
      const piece = this.#piece;
      if (piece === null) return this.#beginPiece().then(() => this.add(part.subarray(at)));
      at += this.#gather(piece, part, at);
      if (this.#isBatchComplete(piece)) {
        return this.#writeBatch(piece).then(() => this.add(part.subarray(at)));
      }
    }
  }

  /** Resolves once everything is durable. */
  async finish(): Promise<void> {
    if (this.#piece !== null || this.#bytesAhead > 0) throw new Error("a body ended too early");
    await this.#writing;
    this.#giveBatchesBack();
    await Promise.all(this.#files.map((file) => file.sync()));
  }

  /** Waits until nothing is written any more; the room taken stays unused. */
  async abandon(): Promise<void> {
    await this.#writing.catch(() => {});
    this.#giveBatchesBack();
    this.release();
  }

  release(): void {
    for (const file of this.#files.splice(0)) file.release();
  }

  async #beginPiece(): Promise<void> {
    if (this.#bytesAhead === 0) throw new Error("a body is longer than it said");
    const length = Math.min(this.#bytesAhead, this.#rooms.pieceBytesMax);
    const size = bytesOnDisk(length);
    const { file, offset } = await this.#rooms.reserve(size);
    this.#files.push(file);
    this.#bytesAhead -= length;
    this.addresses.push({ extent: file.extent, offset, length, bytesOnDisk: size });
    this.#piece = { file, position: offset, bytesLeft: length, chunkBytes: 0 };
  }

  /** Takes what the present chunk has room for, and tells how much that was. */
  #gather(piece: Piece, part: Bytes, from: number): number {
    const room = Math.min(CHUNK_BYTES - piece.chunkBytes, piece.bytesLeft);
    const taken = part.copy(this.#batch, this.#batchBytes, from, from + room);
    this.#batchBytes += taken;
    piece.chunkBytes += taken;
    piece.bytesLeft -= taken;
    if (piece.chunkBytes === CHUNK_BYTES || piece.bytesLeft === 0) this.#endChunk(piece);
    return taken;
  }

  #endChunk(piece: Piece): void {
    const end = this.#batchBytes;
    const checksum = crc32(this.#batch.subarray(end - piece.chunkBytes, end));
    this.#batchBytes = this.#batch.writeUInt32LE(checksum, end);
    piece.chunkBytes = 0;
  }

  #isBatchComplete(piece: Piece): boolean {
    return piece.bytesLeft === 0 || this.#batchBytes === this.#batch.length;
  }

  async #writeBatch(piece: Piece): Promise<void> {
    const written = this.#batch.subarray(0, this.#batchBytes);
    const position = piece.position;
    piece.position += written.length;
    if (piece.bytesLeft === 0) this.#piece = null;
    await this.#writing;
    [this.#batch, this.#otherBatch] = [this.#otherBatch ?? batches.take(), this.#batch];
    this.#batchBytes = 0;
    this.#writing = piece.file.write([written], position);
    // A failure is met by whoever waits for this write next.
    this.#writing.catch(() => {});
    this.#syncAhead(piece.file, written.length);
  }

  #giveBatchesBack(): void {
    batches.giveBack(this.#batch);
    if (this.#otherBatch !== null) batches.giveBack(this.#otherBatch);
  }

  #syncAhead(file: ExtentFile, bytes: number): void {
    this.#unsyncedBytes += bytes;
    if (this.#unsyncedBytes < SYNC_AHEAD_BYTES) return;
    this.#unsyncedBytes = 0;
    file.sync().catch(() => {});
  }
}

interface Piece {
  readonly file: ExtentFile;
  /** Where the present batch goes. */
  position: number;
  bytesLeft: number;
  /** What the present chunk has got so far. */
  chunkBytes: number;
}
