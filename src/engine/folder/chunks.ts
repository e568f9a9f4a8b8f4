import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { BorrowedBuffer, BufferOwner } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { StoreError } from "../../store/store.ts";

/** Bytes that have a checksum of their own, so that a part of a file can be verified. */
const CHUNK_BYTES = 65_532;
const SUM_BYTES = 4;
const STORED_BYTES = CHUNK_BYTES + SUM_BYTES;
/** Chunks that are read at once. */
const CHUNKS_PER_READ = 16;

/** Writes a file of chunks, each followed by its checksum. */
export class ChunkWriting {
  readonly length: number;
  readonly #file: FileHandle;
  /** The current chunk. */
  readonly #chunk = Buffer.allocUnsafe(STORED_BYTES);
  #filled = 0;
  #added = 0;

  constructor(file: FileHandle, length: number) {
    this.#file = file;
    this.length = length;
  }

  get bytesOnDisk(): number {
    return this.length + SUM_BYTES * Math.ceil(this.length / CHUNK_BYTES);
  }

  get isComplete(): boolean {
    return this.#added === this.length;
  }

  /** Takes as many bytes as fit into the current chunk. Resolves to their number. */
  async add(bytes: Bytes): Promise<number> {
    const room = Math.min(CHUNK_BYTES - this.#filled, this.length - this.#added);
    const taken = bytes.copy(this.#chunk, this.#filled, 0, room);
    this.#filled += taken;
    this.#added += taken;
    if (this.#filled === CHUNK_BYTES || this.isComplete) await this.#writeChunk();
    return taken;
  }

  /** Resolves once the bytes are durable. */
  async finish(): Promise<void> {
    try {
      await this.#file.datasync();
    } finally {
      await this.#file.close();
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #writeChunk(): Promise<void> {
    const end = this.#filled;
    this.#chunk.writeUInt32BE(crc32(this.#chunk.subarray(0, end)), end);
    this.#filled = 0;
    await this.#file.writeFile(this.#chunk.subarray(0, end + SUM_BYTES));
  }
}

/** Reads a part of such a file, and verifies the chunks in which it lies. */
export class ChunkReading implements BufferOwner {
  readonly #path: string;
  readonly #fileLength: number;
  readonly #until: number;
  #at: number;

  constructor(path: string, fileLength: number, from: number, length: number) {
    this.#path = path;
    this.#fileLength = fileLength;
    this.#at = from;
    this.#until = from + length;
  }

  async borrow(): Promise<BorrowedBuffer | null> {
    if (this.#at >= this.#until) return null;
    const first = Math.floor(this.#at / CHUNK_BYTES);
    const end = Math.min((first + CHUNKS_PER_READ) * CHUNK_BYTES, this.#fileLength);
    const stored = await this.#read(first * STORED_BYTES, storedBytes(end - first * CHUNK_BYTES));
    const parts: Bytes[] = [];
    for (let at = 0; at < stored.length && this.#at < this.#until; at += STORED_BYTES) {
      const chunk = this.#verified(stored.subarray(at, at + STORED_BYTES));
      const offset = this.#at % CHUNK_BYTES;
      const part = chunk.subarray(offset, Math.min(chunk.length, offset + this.#until - this.#at));
      parts.push(part);
      this.#at += part.length;
    }
    return { parts, mayOverwrite: true, release: () => {} };
  }

  async #read(position: number, length: number): Promise<Bytes> {
    const file = await open(this.#path, "r").catch((error) => {
      throw new StoreError("damaged", `${this.#path} cannot be read`, { cause: error });
    });
    try {
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(length),
        0,
        length,
        position,
      );
      if (bytesRead < length) throw this.#damage();
      return buffer;
    } finally {
      await file.close();
    }
  }

  #verified(stored: Bytes): Bytes {
    const chunk = stored.subarray(0, stored.length - SUM_BYTES);
    if (crc32(chunk) !== stored.readUInt32BE(chunk.length)) throw this.#damage();
    return chunk;
  }

  #damage(): StoreError {
    return new StoreError("damaged", `${this.#path} is damaged: restore it from a backup`);
  }
}

function storedBytes(length: number): number {
  return length + SUM_BYTES * Math.ceil(length / CHUNK_BYTES);
}
