import {
  type BorrowedBuffer,
  type BufferOwner,
  borrowTogether,
  copyParts,
} from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import { fairQueue } from "../../base/fair-queue.ts";
import { MemoryBudget } from "../../base/memory-budget.ts";
import { alignedBytes } from "../../machine/aligned-bytes.ts";
import { ShrinkingSlabs } from "../../machine/shrinking-slabs.ts";
import { Slabs } from "../../machine/slabs.ts";
import type { Address } from "../../store/extents.ts";
import { StoreError } from "../../store/store.ts";
import {
  bytesOnDisk,
  CHUNK_BYTES,
  checksumInAddress,
  checksumOf,
  chunkBytesOf,
  isOnlyChunk,
  STRIDE_BYTES,
} from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";

/** The most chunks in one read: a mebibyte, and the chunk it ends in. They fill a slab. */
const READ_CHUNKS_MAX = 17;
/** Slabs that one reader gets at a time, read by as many threads, while few are in use. */
const SLABS_AT_ONCE_MAX = 4;
const FEW_SLABS_MAX = 16;
/** Beyond this many borrowed slabs, reads are copied: aligned memory is never freed. */
const BORROWED_SLABS_MAX = 24;
const COPIED_CHUNKS_MAX = 8;
/** Slabs beyond those for reads that are copied, and release their slab before bytes are sent. */
const READING_SLABS_MAX = 8;

const slabs = new Slabs(READ_CHUNKS_MAX * STRIDE_BYTES, Number.POSITIVE_INFINITY, alignedBytes);
/** Each holds a copied chunk. Beyond `COPIES_MAX`, copies go to the heap. */
const IDLE_COPIES_MAX = 16;
const COPIES_MAX = 4_096;
const copySlabs = new ShrinkingSlabs(STRIDE_BYTES, IDLE_COPIES_MAX, COPIES_MAX);
/**
 * Reads wait for a slab in a fair queue, but never for a client: borrowed slabs stay below the
 * limit.
 */
const reads = new MemoryBudget((BORROWED_SLABS_MAX + READING_SLABS_MAX) * slabs.bytes);

/** The owner of a piece's bytes, read from the disk part by part. */
export class PieceOwner implements BufferOwner {
  readonly #file: ExtentFile;
  readonly #at: Address;
  readonly #until: number;
  readonly #isDirect: boolean;
  #from: number;

  constructor(file: ExtentFile, at: Address, from: number, length: number) {
    this.#file = file;
    this.#at = at;
    this.#from = from;
    this.#until = from + length;
    this.#isDirect = length > 0 && isBestDirect(file, at, from, length);
  }

  async borrow(bytes: number): Promise<BorrowedBuffer | null> {
    if (this.#from === this.#until) return null;
    const asked: Promise<BorrowedBuffer>[] = [];
    let chunks = Math.min(Math.max(Math.floor(bytes / CHUNK_BYTES), 1), chunksAtOnce());
    for (; chunks > 0 && this.#from < this.#until; chunks -= READ_CHUNKS_MAX) {
      asked.push(this.#read(Math.min(chunks, READ_CHUNKS_MAX)));
    }
    return borrowTogether(asked);
  }

  #read(chunks: number): Promise<BorrowedBuffer> {
    const [file, at, from, isDirect] = [this.#file, this.#at, this.#from, this.#isDirect];
    const end = startOfChunk(at, from) + chunks * chunkBytesOf(at.length);
    this.#from = Math.min(end, this.#until);
    return borrowChunks({ file, at, from, until: this.#from, isDirect });
  }
}

function isBestDirect(file: ExtentFile, at: Address, from: number, length: number): boolean {
  const first = startOfChunk(at, from);
  return file.isBestDirect(at.offset + first, from + length - first);
}

function chunksAtOnce(): number {
  if (slabs.taken < FEW_SLABS_MAX) return SLABS_AT_ONCE_MAX * READ_CHUNKS_MAX;
  return slabs.taken < BORROWED_SLABS_MAX ? READ_CHUNKS_MAX : COPIED_CHUNKS_MAX;
}

/** The start of the chunk that contains this byte of a piece. */
function startOfChunk({ length }: Address, byte: number): number {
  return byte - (byte % chunkBytesOf(length));
}

interface BorrowChunks {
  readonly file: ExtentFile;
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
  const { file, at, from, until, isDirect } = asked;
  const chunkBytes = chunkBytesOf(at.length);
  const first = startOfChunk(at, from);
  const last = startOfChunk(at, until - 1);
  const end = Math.min(last + chunkBytes, at.length);
  const strides = (last - first) / chunkBytes + 1;
  const wait = reads.take(slabs.bytes);
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
    return slabs.taken <= BORROWED_SLABS_MAX ? borrowed(slab, parts) : copied(slab, parts);
  } catch (error) {
    releaseSlab(slab);
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

function borrowed(slab: Bytes, parts: readonly Bytes[]): BorrowedBuffer {
  return { parts, mayOverwrite: true, release: () => releaseSlab(slab) };
}

/** Copies the bytes into smaller memory, which is returned to the system later. */
function copied(slab: Bytes, parts: readonly Bytes[]): BorrowedBuffer {
  const copies = parts.map(copyOf);
  releaseSlab(slab);
  const release = () => {
    for (const { memory } of copies) if (memory !== null) copySlabs.release(memory);
  };
  return { parts: copies.map(({ bytes }) => bytes), mayOverwrite: true, release };
}

function copyOf(part: Bytes): { readonly bytes: Bytes; readonly memory: Bytes | null } {
  const memory = copySlabs.take();
  const bytes = memory?.subarray(0, part.length) ?? Buffer.allocUnsafeSlow(part.length);
  copyParts([part], bytes);
  return { bytes, memory };
}

function releaseSlab(slab: Bytes): void {
  slabs.release(slab);
  reads.release(slabs.bytes);
}

function damaged({ file, at }: BorrowChunks, start: number): StoreError {
  const where = `${file.path}, piece at ${at.offset}, byte ${start}`;
  return new StoreError("damaged", `${where}: the bytes on disk are not those written`);
}
