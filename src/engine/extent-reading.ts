import { type BorrowedBuffer, type BufferOwner, borrowTogether } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import { fairQueue } from "../base/fair-queue.ts";
import type { Address } from "../store/extents.ts";
import { StoreError } from "../store/store.ts";
import {
  bytesOnDisk,
  CHUNK_BYTES,
  checksumInAddress,
  checksumOf,
  chunkBytesOf,
  isOnlyChunk,
  STRIDE_BYTES,
} from "./extent-chunks.ts";
import type { ReadableExtent } from "./extent-io.ts";
import { READ_CHUNKS_MAX, type ReadSlabs } from "./read-slabs.ts";

/** The owner of a piece's bytes, read from the disk part by part. */
export class PieceOwner implements BufferOwner {
  readonly #slabs: ReadSlabs;
  readonly #file: ReadableExtent;
  readonly #at: Address;
  readonly #until: number;
  readonly #isDirect: boolean;
  #from: number;

  constructor(slabs: ReadSlabs, file: ReadableExtent, at: Address, from: number, length: number) {
    this.#slabs = slabs;
    this.#file = file;
    this.#at = at;
    this.#from = from;
    this.#until = from + length;
    this.#isDirect = length > 0 && isBestDirect(file, at, from, length);
  }

  async borrow(bytes: number): Promise<BorrowedBuffer | null> {
    if (this.#from === this.#until) return null;
    const asked: Promise<BorrowedBuffer>[] = [];
    let chunks = Math.min(Math.max(Math.floor(bytes / CHUNK_BYTES), 1), this.#slabs.chunksAtOnce);
    for (; chunks > 0 && this.#from < this.#until; chunks -= READ_CHUNKS_MAX) {
      asked.push(this.#read(Math.min(chunks, READ_CHUNKS_MAX)));
    }
    return borrowTogether(asked);
  }

  #read(chunks: number): Promise<BorrowedBuffer> {
    const [slabs, file, at, from] = [this.#slabs, this.#file, this.#at, this.#from];
    const end = startOfChunk(at, from) + chunks * chunkBytesOf(at.length);
    this.#from = Math.min(end, this.#until);
    const isDirect = this.#isDirect;
    return borrowChunks({ slabs, file, at, from, until: this.#from, isDirect });
  }
}

function isBestDirect(file: ReadableExtent, at: Address, from: number, length: number): boolean {
  const first = startOfChunk(at, from);
  return file.isBestDirect(at.offset + first, from + length - first);
}

/** The start of the chunk that contains this byte of a piece. */
function startOfChunk({ length }: Address, byte: number): number {
  return byte - (byte % chunkBytesOf(length));
}

interface BorrowChunks {
  readonly slabs: ReadSlabs;
  readonly file: ReadableExtent;
  readonly at: Address;
  readonly from: number;
  readonly until: number;
  readonly isDirect: boolean;
}

/**
 * Reads the chunks that contain the wanted bytes, in whole pages, checks each chunk, and returns
 * the wanted bytes without the checksums between them.
 */
async function borrowChunks(asked: BorrowChunks): Promise<BorrowedBuffer> {
  const { slabs, file, at, from, until, isDirect } = asked;
  const chunkBytes = chunkBytesOf(at.length);
  const first = startOfChunk(at, from);
  const last = startOfChunk(at, until - 1);
  const end = Math.min(last + chunkBytes, at.length);
  const strides = (last - first) / chunkBytes + 1;
  const wait = slabs.whenFree();
  if (wait !== undefined) await wait;
  const slab = slabs.take();
  try {
    const pages = slab.subarray(0, bytesOnDisk(end - first, chunkBytes));
    const position = at.offset + (first / chunkBytes) * STRIDE_BYTES;
    if (!(await file.read(pages, position, isDirect))) throw damaged(asked, first);
    // Threads read faster than this one checks: yield, because many reads may complete at once.
    await fairQueue.next();
    const parts: Bytes[] = [];
    for (let stride = 0; stride < strides; stride++) {
      const start = first + stride * chunkBytes;
      const chunkAt = stride * STRIDE_BYTES;
      const chunk = pages.subarray(chunkAt, chunkAt + Math.min(chunkBytes, end - start));
      if (!isSound(at, pages, chunkAt, chunk)) throw damaged(asked, start);
      const isWhole = from <= start && start + chunk.length <= until;
      parts.push(isWhole ? chunk : chunk.subarray(Math.max(from - start, 0), until - start));
    }
    return slabs.borrow(slab, parts);
  } catch (error) {
    slabs.release(slab);
    throw error;
  }
}

/** Whether a chunk matches its checksum, which is in its address or right behind it. */
function isSound(at: Address, pages: Bytes, chunkAt: number, chunk: Bytes): boolean {
  const chunkBytes = chunkBytesOf(at.length);
  if (isOnlyChunk(chunkBytes)) {
    return checksumInAddress(pages, chunk.length, chunkBytes) === at.checksum;
  }
  return checksumOf(chunk, at.extent) === pages.readUInt32LE(chunkAt + chunk.length);
}

function damaged({ file, at }: BorrowChunks, start: number): StoreError {
  const where = `${file.path}, piece at ${at.offset}, byte ${start}`;
  return new StoreError("damaged", `${where}: the stored bytes are not those written`);
}
