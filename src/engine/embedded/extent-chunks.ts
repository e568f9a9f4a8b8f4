import type { Bytes } from "../../base/bytes.ts";
import { PAGE_BYTES, placeInAlignedMemory } from "../../machine/aligned-bytes.ts";
import { clearMemory } from "../../machine/clear-memory.ts";
import { crc64Remainder } from "../../machine/crc64.ts";
import { xxh64Low, xxh64LowAt } from "../../machine/xxh64.ts";
import type { Sums } from "./sum-queue.ts";

/**
 * In a file, a long piece is a row of strides: a chunk of its bytes, and their checksum behind it. All
 * but the last are full, so that every stride begins on a page. Whoever wants a byte reads its whole
 * chunk, so that damage never goes unseen.
 *
 * Pieces begin on a page, too: no disk sector is shared by two of them, and a power cut while one is
 * written cannot damage another that was acknowledged before.
 */
export const STRIDE_BYTES = 64 * 1024;
export const CHECKSUM_BYTES = 4;
export const CHUNK_BYTES = STRIDE_BYTES - CHECKSUM_BYTES;

/**
 * Up to this size a piece is one chunk, and nothing but its bytes lies in the file: blocks of 64 KiB
 * are common, and so they can be written from where they were read to. Their checksum is part of the
 * address, and need not be known before they are on the disk.
 */
export const ONE_CHUNK_BYTES_MAX = 64 * 1024;

/** How long the chunks of such a piece are, but for the last one. */
export function chunkBytesOf(length: number): number {
  return length <= ONE_CHUNK_BYTES_MAX ? ONE_CHUNK_BYTES_MAX : CHUNK_BYTES;
}

/** Whether a piece with chunks of this length has but one. */
export function isOnlyChunk(chunkBytes: number): boolean {
  return chunkBytes === ONE_CHUNK_BYTES_MAX;
}

/**
 * Of the bytes, with the extent's number as the seed: a file may have been that of another extent, and
 * what a disk has failed to write over must not pass for what should be there.
 */
export function checksumOf(chunk: Bytes, extent: number): number {
  return xxh64Low(chunk, extent);
}

/** The chunks of a batch, in the order of its bytes. */
export function chunksIn(pages: Bytes, length: number, chunkBytes: number): Bytes[] {
  const chunks: Bytes[] = [];
  for (let left = length, at = 0; left > 0; left -= chunkBytes, at += chunkBytes + CHECKSUM_BYTES) {
    chunks.push(pages.subarray(at, at + Math.min(left, chunkBytes)));
  }
  return chunks;
}

/** Puts the checksums of a batch behind its chunks, if they go there, and zeros behind the last one. */
export function sealChunks(pages: Bytes, length: number, chunkBytes: number, extent: number): void {
  const place = placeInAlignedMemory(pages) as number;
  let at = isOnlyChunk(chunkBytes) ? length : 0;
  for (let left = length - at; left > 0; left -= chunkBytes) {
    const end = at + Math.min(left, chunkBytes);
    at = pages.writeUInt32LE(xxh64LowAt(place + at, place + end, extent), end);
  }
  clearMemory(place + at, place + pages.length);
}

/** What an address says of the only chunk of its piece; 0 for any other. */
export function checksumInAddress(pages: Bytes, length: number, chunkBytes: number): number {
  const place = placeInAlignedMemory(pages) as number;
  return isOnlyChunk(chunkBytes) ? xxh64LowAt(place, place + length, 0) : 0;
}

export function sumsOf(pages: Bytes, length: number, chunkBytes: number): Sums {
  let remainder = 0n;
  for (const chunk of chunksIn(pages, length, chunkBytes)) {
    remainder = crc64Remainder(chunk, remainder);
  }
  return { remainder, checksum: checksumInAddress(pages, length, chunkBytes) };
}

/** What a piece takes in its file, the gap up to the next piece included; or a batch of a piece. */
export function bytesOnDisk(length: number, chunkBytes = chunkBytesOf(length)): number {
  const checksums = isOnlyChunk(chunkBytes) ? 0 : Math.ceil(length / chunkBytes);
  return upToPage(length + checksums * CHECKSUM_BYTES);
}

/** How long a piece may be that takes no more than so much in its file. */
export function lengthWithin(bytesOnDisk: number): number {
  const strides = Math.floor(bytesOnDisk / STRIDE_BYTES);
  const rest = bytesOnDisk - strides * STRIDE_BYTES;
  return strides * CHUNK_BYTES + Math.max(rest - CHECKSUM_BYTES, 0);
}

export function upToPage(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
}
