import { crc32 } from "node:zlib";
import type { Bytes } from "../../base/bytes.ts";
import { Slabs } from "../../base/slabs.ts";
import type { Address } from "../../store/extents.ts";
import { StoreError } from "../../store/store.ts";
import { type ExtentFile, PIECE_ALIGNMENT_BYTES } from "./extent-file.ts";

/**
 * In a file, a piece is a row of chunks, each with the CRC-32 of its bytes behind it. All chunks but
 * the last are full. Whoever wants a byte reads its chunk, so that damage never goes unseen.
 */
export const CHUNK_BYTES = 64 * 1024;
export const CHECKSUM_BYTES = 4;

/** Read, and checked, at one go. A slow reader keeps two such parts in memory. */
const READ_CHUNKS = 8;
const IDLE_SLABS_MAX = 64;

/** What a piece takes in its file, the gap up to the next piece included. */
export function bytesOnDisk(length: number): number {
  const bytes = length + Math.ceil(length / CHUNK_BYTES) * CHECKSUM_BYTES;
  return Math.ceil(bytes / PIECE_ALIGNMENT_BYTES) * PIECE_ALIGNMENT_BYTES;
}

const slabs = new Slabs(READ_CHUNKS * CHUNK_BYTES, IDLE_SLABS_MAX);

/** The bytes of a piece from `from` on, in parts; the file is read ahead by one part. */
export async function* readPiece(
  file: ExtentFile,
  at: Address,
  from: number,
  length: number,
): AsyncGenerator<Bytes> {
  const until = from + length;
  const stride = READ_CHUNKS * CHUNK_BYTES;
  let start = Math.floor(from / CHUNK_BYTES) * CHUNK_BYTES;
  // One slab is with the taker, and the next part is read into the other.
  let slab = slabs.take();
  let other: Bytes | null = null;
  let ahead = length > 0 ? readChunks(file, at, start, until, slab) : null;
  try {
    while (ahead !== null) {
      const bytes = await ahead;
      const next = start + stride;
      if (next < until) {
        other ??= slabs.take();
        ahead = readChunks(file, at, next, until, other);
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

/** Reads whole chunks from `start` on, as many as are wanted, and checks each of them. */
async function readChunks(
  file: ExtentFile,
  at: Address,
  start: number,
  until: number,
  slab: Bytes,
): Promise<Bytes> {
  const chunks = Math.min(READ_CHUNKS, Math.ceil((until - start) / CHUNK_BYTES));
  const bytes = slab.subarray(0, Math.min(chunks * CHUNK_BYTES, at.length - start));
  const checksums = Buffer.allocUnsafe(chunks * CHECKSUM_BYTES);
  const into: Bytes[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    into.push(chunkOf(bytes, chunk));
    into.push(checksums.subarray(chunk * CHECKSUM_BYTES, (chunk + 1) * CHECKSUM_BYTES));
  }
  const position = at.offset + start + (start / CHUNK_BYTES) * CHECKSUM_BYTES;
  const complete = await file.read(into, position);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const expected = checksums.readUInt32LE(chunk * CHECKSUM_BYTES);
    if (!complete || crc32(chunkOf(bytes, chunk)) !== expected) {
      const where = `${file.path}, piece at ${at.offset}, byte ${start + chunk * CHUNK_BYTES}`;
      throw new StoreError("damaged", `${where}: the bytes on disk are not those written`);
    }
  }
  return bytes;
}

function chunkOf(bytes: Bytes, chunk: number): Bytes {
  return bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES);
}
