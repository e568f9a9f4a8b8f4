import { alignedBytes } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { Slabs } from "../../base/slabs.ts";
import { xxh64Low } from "../../base/xxh64.ts";
import type { Address } from "../../store/extents.ts";
import { StoreError } from "../../store/store.ts";
import { CHECKSUM_BYTES, CHUNK_BYTES, STRIDE_BYTES, upToPage } from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";

/** Read, and checked, at one go. A slow reader keeps two such parts in memory. */
const PART_CHUNKS = 8;
const PART_BYTES = PART_CHUNKS * CHUNK_BYTES;
/** Read at one go into memory that is there already: a mebibyte, and the chunk it ends in. */
const FILLED_CHUNKS = 17;
const IDLE_SLABS_MAX = 64;

const slabs = new Slabs(PART_BYTES, IDLE_SLABS_MAX);
/** Nobody outside sees these, and each is back as soon as its bytes are read. */
const alignedSlabs = new Slabs(
  FILLED_CHUNKS * STRIDE_BYTES,
  Number.POSITIVE_INFINITY,
  alignedBytes,
);

/** The bytes of a piece from `from` on, in parts; the file is read ahead by one part. */
export async function* readPiece(
  file: ExtentFile,
  at: Address,
  from: number,
  length: number,
): AsyncGenerator<Bytes> {
  if (length === 0) return;
  const until = from + length;
  const isDirect = isFirstReading(file, at, from, length);
  const read = async (start: number, slab: Bytes): Promise<Bytes> => {
    const into = slab.subarray(0, endOfRead(start, until, PART_CHUNKS) - start);
    await readChunks({ file, at, from: start, into, isDirect });
    return into;
  };
  // One slab is with the taker, and the next part is read into the other.
  let slab = slabs.take();
  let other: Bytes | null = null;
  let start = from;
  let ahead: Promise<Bytes> | null = read(start, slab);
  try {
    while (ahead !== null) {
      const bytes: Bytes = await ahead;
      start += bytes.length;
      if (start < until) {
        other ??= slabs.take();
        ahead = read(start, other);
        [slab, other] = [other, slab];
      } else {
        ahead = null;
      }
      yield bytes;
    }
    // Only who asks for more behind the last part is done with it: other slabs are left alone.
    slabs.giveBack(slab);
    if (other !== null) slabs.giveBack(other);
  } finally {
    ahead?.catch(() => {});
  }
}

/** Fills memory with the bytes of a piece from `from` on. */
export async function fillFromPiece(
  file: ExtentFile,
  at: Address,
  from: number,
  into: Bytes,
): Promise<void> {
  if (into.length === 0) return;
  const until = from + into.length;
  const isDirect = isFirstReading(file, at, from, into.length);
  for (let start = from; start < until; ) {
    const end = endOfRead(start, until, FILLED_CHUNKS);
    const part = into.subarray(start - from, end - from);
    await readChunks({ file, at, from: start, into: part, isDirect });
    start = end;
  }
}

function isFirstReading(file: ExtentFile, at: Address, from: number, length: number): boolean {
  const first = startOfChunk(from);
  return file.isFirstReading(at.offset + first, from + length - first);
}

/** Where so many chunks end, counted from that of `from` on, unless no more is wanted before. */
function endOfRead(from: number, until: number, chunks: number): number {
  return Math.min(startOfChunk(from) + chunks * CHUNK_BYTES, until);
}

function startOfChunk(at: number): number {
  return Math.floor(at / CHUNK_BYTES) * CHUNK_BYTES;
}

interface ReadChunks {
  readonly file: ExtentFile;
  readonly at: Address;
  readonly from: number;
  readonly into: Bytes;
  readonly isDirect: boolean;
}

/**
 * Reads all of the chunks that the wanted bytes lie in, in whole pages; checks each of them, and
 * copies what is wanted from between the checksums while the processor has it at hand.
 */
async function readChunks(asked: ReadChunks): Promise<void> {
  const { file, at, from, into, isDirect } = asked;
  const first = startOfChunk(from);
  const last = startOfChunk(from + into.length - 1);
  const end = Math.min(last + CHUNK_BYTES, at.length);
  const slab = alignedSlabs.take();
  try {
    const strides = (last - first) / CHUNK_BYTES + 1;
    const pages = slab.subarray(0, upToPage(end - first + strides * CHECKSUM_BYTES));
    const position = at.offset + (first / CHUNK_BYTES) * STRIDE_BYTES;
    if (!(await file.read(pages, position, isDirect))) throw damaged(asked, first);
    for (let stride = 0; stride < strides; stride++) {
      const start = first + stride * CHUNK_BYTES;
      const chunkAt = stride * STRIDE_BYTES;
      const chunk = pages.subarray(chunkAt, chunkAt + Math.min(CHUNK_BYTES, end - start));
      const checksum = pages.readUInt32LE(chunkAt + chunk.length);
      if (xxh64Low(chunk) !== checksum) throw damaged(asked, start);
      putInPlace(asked, start, chunk);
    }
  } finally {
    alignedSlabs.giveBack(slab);
  }
}

/** Copies what is wanted of a chunk that begins at `start`. */
function putInPlace({ from, into }: ReadChunks, start: number, chunk: Bytes): void {
  const wanted = chunk.subarray(Math.max(from - start, 0), from + into.length - start);
  const at = Math.max(start - from, 0);
  // As in an upload: from shared memory, too, `copy` would go word by word.
  into.subarray(at, at + wanted.length).fill(wanted);
}

function damaged({ file, at }: ReadChunks, start: number): StoreError {
  const where = `${file.path}, piece at ${at.offset}, byte ${start}`;
  return new StoreError("damaged", `${where}: the bytes on disk are not those written`);
}
