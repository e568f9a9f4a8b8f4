import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import type { Address, Written } from "../../store/extents.ts";
import { bytesOnDisk, CHECKSUM_BYTES, CHUNK_BYTES } from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";

/** One batch is on its way to the file while the next one gathers: twice this in memory at most. */
const BATCH_BYTES = 1024 * 1024;
/** Bodies that come in crumbs are written before the list of crumbs gets long. */
const BATCH_PARTS_MAX = 512;
/** A long upload is synced as it goes, so that little is left to wait for at its end. */
const SYNC_AHEAD_BYTES = 16 * 1024 * 1024;

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

/** One body on its way into extents. The parts themselves are written, not copies of them. */
export class ExtentUpload implements Written {
  readonly addresses: Address[] = [];
  readonly #rooms: RoomFinder;
  readonly #files: ExtentFile[] = [];
  /** Bytes of the body for which there is no piece yet. */
  #bytesAhead: number;
  #piece: Piece | null = null;
  #batch: Bytes[] = [];
  #batchBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #unsyncedBytes = 0;

  constructor(rooms: RoomFinder, length: number) {
    this.#rooms = rooms;
    this.#bytesAhead = length;
  }

  /** Waits only where a batch is complete: most parts cost no turn of the event loop. */
  add(part: Bytes): void | Promise<void> {
    for (let rest = part; rest.length > 0; ) {
      const piece = this.#piece;
      if (piece === null) return this.#beginPiece().then(() => this.add(rest));
      rest = this.#gather(piece, rest);
      if (this.#batchComplete(piece)) return this.#writeBatch(piece).then(() => this.add(rest));
    }
  }

  /** Resolves once everything is durable. */
  async finish(): Promise<void> {
    if (this.#piece !== null || this.#bytesAhead > 0) throw new Error("a body ended too early");
    await this.#writing;
    await Promise.all(this.#files.map((file) => file.sync()));
  }

  /** Waits until nothing is written any more; the room taken stays unused. */
  async abandon(): Promise<void> {
    await this.#writing.catch(() => {});
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
    this.#piece = { file, position: offset, bytesLeft: length, chunkLeft: CHUNK_BYTES, crc: 0 };
  }

  /** Takes what belongs to the present chunk, and returns the rest. */
  #gather(piece: Piece, part: Bytes): Bytes {
    const take = part.subarray(0, Math.min(piece.chunkLeft, piece.bytesLeft));
    piece.crc = crc32(take, piece.crc);
    piece.chunkLeft -= take.length;
    piece.bytesLeft -= take.length;
    this.#push(take);
    if (piece.chunkLeft === 0 || piece.bytesLeft === 0) {
      const checksum = Buffer.allocUnsafe(CHECKSUM_BYTES);
      checksum.writeUInt32LE(piece.crc);
      this.#push(checksum);
      piece.chunkLeft = CHUNK_BYTES;
      piece.crc = 0;
    }
    return part.subarray(take.length);
  }

  #push(part: Bytes): void {
    this.#batch.push(part);
    this.#batchBytes += part.length;
  }

  #batchComplete(piece: Piece): boolean {
    if (piece.bytesLeft === 0) return true;
    return this.#batchBytes >= BATCH_BYTES || this.#batch.length >= BATCH_PARTS_MAX;
  }

  async #writeBatch(piece: Piece): Promise<void> {
    const [batch, bytes, position] = [this.#batch, this.#batchBytes, piece.position];
    this.#batch = [];
    this.#batchBytes = 0;
    piece.position += bytes;
    if (piece.bytesLeft === 0) this.#piece = null;
    await this.#writing;
    this.#writing = piece.file.write(batch, position);
    // A failure is met by whoever waits for this write next.
    this.#writing.catch(() => {});
    this.#syncAhead(piece.file, bytes);
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
  /** Bytes that the present chunk still takes, and the checksum of those it has. */
  chunkLeft: number;
  crc: number;
}
