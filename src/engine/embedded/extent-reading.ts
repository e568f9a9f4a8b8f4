import { crc32 } from "node:zlib";
import { alignedBytes } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { Slabs } from "../../base/slabs.ts";
import type { Address } from "../../store/extents.ts";
import { StoreError } from "../../store/store.ts";
import { CHECKSUM_BYTES, CHUNK_BYTES, STRIDE_BYTES, upToPage } from "./extent-chunks.ts";
import type { ExtentFile } from "./extent-file.ts";

/** Read, and checked, at one go. A slow reader keeps two such parts in memory. */
const READ_CHUNKS = 8;
const PART_BYTES = READ_CHUNKS * CHUNK_BYTES;
const IDLE_SLABS_MAX = 64;

const slabs = new Slabs(PART_BYTES, IDLE_SLABS_MAX);
/** Nobody outside sees these, and each is back as soon as its bytes are read. */
const alignedSlabs = new Slabs(READ_CHUNKS * STRIDE_BYTES, Number.POSITIVE_INFINITY, alignedBytes);

/** The bytes of a piece from `from` on, in parts; the file is read ahead by one part. */
export async function* readPiece(
  file: ExtentFile,
  at: Address,
  from: number,
  length: number,
): AsyncGenerator<Bytes> {
  const until = from + length;
  let start = Math.floor(from / CHUNK_BYTES) * CHUNK_BYTES;
  const isDirect = length > 0 && file.isFirstReading(at.offset + start, until - start);
  const read = (next: number, slab: Bytes) =>
    readChunks({ file, at, start: next, until, slab, isDirect });
  // One slab is with the taker, and the next part is read into the other.
  let slab = slabs.take();
  let other: Bytes | null = null;
  let ahead = length > 0 ? read(start, slab) : null;
  try {
    while (ahead !== null) {
      const bytes = await ahead;
      const next = start + PART_BYTES;
      if (next < until) {
        other ??= slabs.take();
        ahead = read(next, other);
        [slab, other] = [other, slab];
      } else {
        ahead = null;
      }
      yield bytes.subarray(Math.max(from - start, 0), until - start);
      start = next;
    }
    // Only who asks for more behind the last part is done with it: other slabs are left alone.
    slabs.giveBack(slab);
    if (other !== null) slabs.giveBack(other);
  } finally {
    ahead?.catch(() => {});
  }
}

interface ReadChunks {
  readonly file: ExtentFile;
  readonly at: Address;
  readonly start: number;
  readonly until: number;
  readonly slab: Bytes;
  readonly isDirect: boolean;
}

/** Reads whole chunks from `start` on, as many as are wanted, and checks each of them. */
async function readChunks(asked: ReadChunks): Promise<Bytes> {
  const { file, at, start, until, slab, isDirect } = asked;
  const chunks = Math.min(READ_CHUNKS, Math.ceil((until - start) / CHUNK_BYTES));
  const bytes = slab.subarray(0, Math.min(chunks * CHUNK_BYTES, at.length - start));
  const checksums = Buffer.allocUnsafe(chunks * CHECKSUM_BYTES);
  const position = at.offset + (start / CHUNK_BYTES) * STRIDE_BYTES;
  const complete = isDirect
    ? await readPastCache(file, bytes, checksums, position)
    : await readThroughCache(file, bytes, checksums, position);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const expected = checksums.readUInt32LE(chunk * CHECKSUM_BYTES);
    if (!complete || crc32(chunkOf(bytes, chunk)) !== expected) {
      const where = `${file.path}, piece at ${at.offset}, byte ${start + chunk * CHUNK_BYTES}`;
      throw new StoreError("damaged", `${where}: the bytes on disk are not those written`);
    }
  }
  return bytes;
}

/** Puts every chunk and every checksum in its place at once. */
function readThroughCache(
  file: ExtentFile,
  bytes: Bytes,
  checksums: Bytes,
  position: number,
): Promise<boolean> {
  const into: Bytes[] = [];
  for (let chunk = 0; chunk * CHUNK_BYTES < bytes.length; chunk++) {
    into.push(chunkOf(bytes, chunk), checksumOf(checksums, chunk));
  }
  return file.read(into, position);
}

/** Reads whole pages, so what is wanted is copied from between the checksums. */
async function readPastCache(
  file: ExtentFile,
  bytes: Bytes,
  checksums: Bytes,
  position: number,
): Promise<boolean> {
  const slab = alignedSlabs.take();
  try {
    const pages = slab.subarray(0, upToPage(bytes.length + checksums.length));
    if (!(await file.readPages(pages, position))) return false;
    for (let chunk = 0; chunk * CHUNK_BYTES < bytes.length; chunk++) {
      const to = chunkOf(bytes, chunk);
      const end = chunk * STRIDE_BYTES + to.length;
      // As in an upload: from shared memory, too, `copy` would go word by word.
      to.fill(pages.subarray(chunk * STRIDE_BYTES, end));
      pages.copy(checksumOf(checksums, chunk), 0, end, end + CHECKSUM_BYTES);
    }
    return true;
  } finally {
    alignedSlabs.giveBack(slab);
  }
}

function chunkOf(bytes: Bytes, chunk: number): Bytes {
  return bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES);
}

function checksumOf(checksums: Bytes, chunk: number): Bytes {
  return checksums.subarray(chunk * CHECKSUM_BYTES, (chunk + 1) * CHECKSUM_BYTES);
}
